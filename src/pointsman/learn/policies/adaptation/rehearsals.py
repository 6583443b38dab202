"""Environments in which a policy rehearses: jobs like those that came, slowed as it expects."""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.cluster import Cluster
from pointsman.learn.environments.place_gang import PlaceGangVectorEnv
from pointsman.learn.environments.workloads import Listed
from pointsman.speed.interference.learned.file import learned_document
from pointsman.workload import Workload

if TYPE_CHECKING:
    from pointsman.speed.interference.learned.file import LearnedSpec

CONTENTION: Final = "duty-cycle"
"""What it is on the cluster the policy cannot know."""
BLOCK: Final = 20
"""Jobs that are drawn together, in a row."""


def rehearsals(
    many: int,
    cluster: Cluster | str,
    workloads: Sequence[Workload],
    spec: "LearnedSpec",
    patience: float,
    order: str,
    profiles: Sequence[str | Path] = (),
    gamma: float = 1.0,
) -> PlaceGangVectorEnv:
    """So many simulations in step, of one scheduler, in which `spec` is the truth; `profiles` as of a run; `order` and
    `gamma` as of an environment.
    """
    with written(spec) as expected:
        return rehearsals_by(expected, many, cluster, workloads, patience, order, profiles, gamma)


@contextmanager
def written(spec: "LearnedSpec") -> Generator[Path]:
    """A file of it, while several sets of simulations are made: reading one takes longer than the rest. It is JSON,
    which is YAML, and is written in no time.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "expected.yaml"
        path.write_text(json.dumps(learned_document(path.stem, spec.source, list(spec.servers))), encoding="utf-8")
        yield path


def rehearsals_by(
    expected: Path,
    many: int,
    cluster: Cluster | str,
    workloads: Sequence[Workload],
    patience: float,
    order: str,
    profiles: Sequence[str | Path] = (),
    gamma: float = 1.0,
) -> PlaceGangVectorEnv:
    """As `rehearsals`, by a file."""
    return PlaceGangVectorEnv(
        many, cluster=cluster, workload=Listed(workloads), episodes=len(workloads), patience=patience,
        order=order, rate_model="rates", contention=CONTENTION, factors={"node_interference": str(expected)},
        horizon_s=None, gamma=gamma, profiles=profiles,
    )  # fmt: skip


def like(came: pl.DataFrame, jobs: int, draw: np.random.Generator) -> Workload:
    """So many jobs drawn from those that `came` (submit_s, gpus, duration_s, model): blocks of jobs in a row with the
    gaps between them, so that bursts stay bursts (Künsch, 1989), stretched so that the load stays, too.
    """
    many = min(BLOCK, came.height)
    first = draw.integers(came.height - many + 1, size=-(-jobs // many))
    rows = (first[:, None] + np.arange(many)).ravel()[:jobs]
    gaps = came["submit_s"].diff().fill_null(strategy="mean").fill_null(0.0).to_numpy()
    submits = np.cumsum(gaps[rows]) - gaps[rows[0]]
    drawn = came[rows.tolist()]
    load, load_drawn = _load(came, came["submit_s"].to_numpy()), _load(drawn, submits)
    stretch = load_drawn / load if 0 < load < np.inf and 0 < load_drawn < np.inf else 1.0
    return as_they_came(drawn.with_columns(submit_s=pl.Series(submits * stretch)))


def as_they_came(came: pl.DataFrame) -> Workload:
    """These very jobs, from the first submission on."""
    return Workload.of(
        came.select("gpus", "duration_s", "model", pl.col("submit_s") - pl.col("submit_s").first()).with_columns(
            job_id=pl.Series([str(k) for k in range(came.height)])
        )
    )


def _load(jobs: pl.DataFrame, submits_s: NDArray[np.float64]) -> float:
    """GPUs that jobs which come at these times keep busy, on average."""
    span_s = float(submits_s[-1] - submits_s[0])
    return float((jobs["gpus"] * jobs["duration_s"]).sum()) / span_s if span_s > 0 else np.inf
