"""`gittins` against policies that require no durations, and what hints of durations are worth to it: suite v1, three
logs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from benchmarks.classical.cases import cases_by_name
from benchmarks.gittins.blocks import BLOCKS
from benchmarks.gittins.contestants import COSTLY, DEEP, FREE, KEEPING, PERIODIC, RULES, SLOW
from benchmarks.gittins.figures import BY_DAY
from benchmarks.gittins.picture import draw
from benchmarks.results.contestant import Contestant, Setting, counted
from benchmarks.results.trials import Trial
from pointsman.report.result import Result
from pointsman.workload.generator.profile import DAY_S

__all__ = ["BLOCKS", "draw", "setting", "trials"]


@dataclass(frozen=True)
class Cell:
    """One workload at one load."""

    workload: str
    load: float
    models: bool = True
    overheads: str = "realistic"


DEEP_LOADS: Final[Mapping[str, tuple[float, ...]]] = {
    "suite itp": (0.95,), "suite helios": (0.95,), "Philly": (1.0,), "ITP cluster04": (0.85, 1.0),
    "ITP cluster08": (0.85, 1.0),
}  # fmt: skip
"""Where hints, forbidden preemption, ageing and estimates from history are looked at, with models."""
DEEP_WITHOUT_MODELS: Final = "ITP cluster04"
SMALL: Final = ("suite itp", "ITP cluster04", "ITP cluster08")
"""Where slow policies run too: clusters of 80 and 584 GPUs."""
DRAWS: Final = range(0, 20_000, 1000)
"""Seeds of a log: it has one set of jobs, for which hints are drawn several times."""


def contestants(cell: Cell) -> tuple[Contestant, ...]:
    """Which are compared in a cell."""
    deep = cell.load in DEEP_LOADS.get(cell.workload, ()) and (cell.models or cell.workload == DEEP_WITHOUT_MODELS)
    return (*FREE, *DEEP, *(SLOW if cell.workload in SMALL else ())) if deep else FREE


def trials(data: Path) -> Iterator[Trial]:
    """All workloads at all loads, with models and without."""
    for case in cases_by_name(data / "traces").values():
        for cell in (Cell(case.name, load, models) for models in (True, False) for load in case.loads):
            yield from (Trial(cell, seed, contestants(cell)) for seed in case.seeds)
            if case.is_log and (drawn := tuple(who for who in contestants(cell) if who.hint)):
                yield from (Trial(cell, seed, drawn) for seed in DRAWS[1:])
        hardest = Cell(case.name, max(case.loads))
        also = tuple(who for who in (*RULES, KEEPING) if who not in contestants(hardest))
        yield from (Trial(hardest, seed, also) for seed in case.seeds)
        yield from (Trial(replace(hardest, overheads=PERIODIC), seed, COSTLY) for seed in case.seeds)


SPEEDS: Final = tuple(
    Trial(Cell("suite itp", load), 0, tuple(who for who in FREE if who.label in ("las", "dally", "gittins")))
    for load in (0.7, 0.85, 0.95)
)


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """The jobs of a seed, or of a log, and realistic overheads."""
    case = cases_by_name(data / "traces")[cell.workload]
    options = {"assign_models": 0 if cell.models else None, "oversized": "drop", "overheads": cell.overheads}
    jobs = case.workload(cell.load, 0 if case.is_log else seed)
    by_day = partial(_by_day, case.warmup_ratio) if case.is_log else None
    return Setting(jobs, case.cluster, options, case.warmup_ratio, by_day, digits=6)


def _by_day(warmup: float, result: Result) -> Mapping[str, str]:
    """Sums of JCTs by day of submission, from which intervals are drawn."""
    days = counted(result, warmup).group_by(pl.col("submit_s") // DAY_S).agg(pl.col("jct_s").sum())
    return {BY_DAY: " ".join(f"{total:.6g}" for total in days.sort("submit_s")["jct_s"])}
