"""TopDRL as it ships against the baselines of its paper, and against policies that any site has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.trials import Trial
from benchmarks.topdrl import contestants, sentences
from benchmarks.topdrl.picture import draw as draw
from pointsman.cluster import load_cluster
from pointsman.learn.training_setup import PracticeConfig, horizon_s, sampler
from pointsman.report import summarise
from pointsman.report.metrics.holdings import horizon_s as whole_s
from pointsman.report.result import Result
from pointsman.speed.profiles.assign import assign_models

SEEDS, FEW_SEEDS = range(10), range(5)
OWN: Final = "TopDRL's"
LOGS: Final = {"ITP": "ms_itp_2021.csv.gz", "Philly": "philly_2017.csv.gz"}
CLUSTERS: Final = {32: "8x4/rack=4", 64: "16x4/rack=4", 256: "32x8/rack=8"}
"""By GPUs; the first is the authors'."""
SIZES: Final = ((OWN, 32), *((log, gpus) for log in LOGS for gpus in (64, 256)))


@dataclass(frozen=True)
class Cell:
    """Jobs on a cluster."""

    what: str
    """What is measured: throughput, completion, batch or waiting."""
    workload: str
    gpus: int
    submitted: int
    load: float | None
    """None: all jobs at once."""
    horizon_share: float | None = None
    """Of the time in which the cluster, fully used, could do them all; None: until all have ended."""
    overheads: str = "realistic"

    @property
    def practice(self) -> PracticeConfig:
        """Whose held-out jobs are run, all but the log's folder."""
        return PracticeConfig(
            cluster=CLUSTERS[self.gpus], workload="topdrl", jobs=self.submitted, load=self.load, horizon_s=None,
            horizon_share=self.horizon_share,
        )  # fmt: skip


def trials(data: Path) -> Iterator[Trial]:
    """Throughput and completion with and without overheads; batches; a bound on waiting."""
    most = contestants.ALL
    learned = (*contestants.TOPDRLS[1:], *contestants.DEEPRMS, *contestants.PROXIMITIES)
    more = (*most, *learned, *contestants.MISLED)
    busy = [Cell("throughput", name, gpus, 1000, None if name == OWN else 1.5, 0.6) for name, gpus in SIZES]
    late = [Cell("completion", name, gpus, 500, 1.0) for name, gpus in SIZES]
    for cell in busy:
        misled = contestants.DEEPRMS_MISLED if cell.gpus < max(CLUSTERS) else ()
        yield from _seeds(cell, (*more, *contestants.ELSEWHERE, *misled))
    yield from (trial for cell in late for trial in _seeds(cell, more))
    free = [replace(cell, overheads="none") for cell in (*busy, *late)]
    at_once = [Cell("batch", name, gpus, 200, None) for name, gpus in SIZES]
    yield from (trial for cell in (*free, *at_once) for trial in _seeds(cell, most, FEW_SEEDS))
    patient = (contestants.SHIPPED, contestants.PATIENT)
    overloaded = [Cell("waiting", name, gpus, 500, 3.0) for name, gpus in SIZES if gpus < max(CLUSTERS)]
    yield from (trial for cell in overloaded for trial in _seeds(cell, patient, FEW_SEEDS))


def _seeds(cell: Cell, who: tuple[Contestant, ...], seeds: range = SEEDS) -> Iterator[Trial]:
    return (Trial(cell, seed, who) for seed in seeds)


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """Jobs that no agent was trained on, with typical models; speeds follow the tree of racks and nodes."""
    name = "topdrl" if cell.workload == OWN else str(data / "traces" / LOGS[cell.workload])
    practice = cell.practice.model_copy(update={"workload": name})
    jobs = sampler(practice, "held-out")(seed, cell.gpus)
    until_s = _until_s(practice)

    def work_done(result: Result) -> Mapping[str, float]:
        span_s = until_s or whole_s(result)
        return {"throughput": summarise(result)["gpu_hours_productive"] * 3600 / span_s / cell.gpus}

    options = {"rate_model": "tree", "overheads": cell.overheads, "until_s": until_s}
    jobs = replace(jobs, jobs=assign_models(jobs.jobs, seed, mix="typical"))
    return Setting(jobs, load_cluster(practice.cluster), options, 0.0, work_done)


@cache
def _until_s(practice: PracticeConfig) -> float | None:
    return horizon_s(practice)


def is_slow(who: Contestant) -> bool:
    """No run takes more than seconds here."""
    return False


BLOCKS = sentences.BLOCKS
