"""Environments in which a policy rehearses: jobs like those that came, slowed as it expects."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from pointsman.cluster.cluster import Cluster
from pointsman.learn.environments.place_gang import PlaceGangVectorEnv
from pointsman.learn.environments.workloads import Listed
from pointsman.speed.interference.learned.file import learned_yaml
from pointsman.workload import Workload

if TYPE_CHECKING:
    from pointsman.speed.interference.learned.file import LearnedSpec

CONTENTION: Final = "duty-cycle"
"""What it is on the cluster the policy cannot know."""


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
    """A file of it, while several sets of simulations are made: reading one takes longer than the rest."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "expected.yaml"
        path.write_text(learned_yaml(path.stem, spec.source, list(spec.servers)), encoding="utf-8")
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
    """So many jobs drawn from those that `came` (submit_s, gpus, duration_s, model), at gaps drawn from theirs."""
    gaps = came["submit_s"].diff().drop_nulls().to_numpy()
    submits = np.cumsum(draw.choice(gaps, jobs)) if len(gaps) else np.zeros(jobs)
    drawn = came[draw.integers(came.height, size=jobs).tolist()]
    return Workload.of(
        drawn.select("gpus", "duration_s", "model").with_columns(
            job_id=pl.Series([str(k) for k in range(jobs)]), submit_s=pl.Series(submits - submits[0])
        )
    )
