"""The classical policies and placements, on suite v1 and on three logs, with typical models and realistic overheads."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.classical.cases import cases_by_name
from benchmarks.gittins.contestants import LADDER_GPU_S
from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.pages._classical import BLOCKS, PLACES, QUEUED
from benchmarks.results.pages._classical_picture import draw
from benchmarks.results.trials import Trial

__all__ = ["BLOCKS", "draw", "setting", "trials"]

ASSIGNMENTS = range(5)
"""A log has one set of jobs: its seeds assign models, and draw errors of estimates."""


@dataclass(frozen=True)
class Cell:
    """One workload at one load."""

    workload: str
    load: float
    models: bool = True
    """Whether jobs have models (the typical mix), which are slower on several nodes."""
    overheads: str = "realistic"


def both(label: str, policy: str, params: dict[str, str] | None = None) -> tuple[Contestant, Contestant]:
    """With true durations and with errors."""
    return (
        Contestant(label, policy, params or {}, estimate="oracle"),
        Contestant(f"{label}, σ = 1", policy, params or {}, estimate="lognormal:1"),
    )


PLAIN: Final = (
    Contestant("fifo", "fifo"),
    Contestant("fifo-backfill", "fifo-backfill"),
    Contestant("las", "las"),
    Contestant("las, 20 thresholds", "las", {"thresholds_gpu_s": LADDER_GPU_S}),
    Contestant("tiresias", "tiresias"),
    Contestant("gittins", "gittins"),
)
NEEDING: Final = (
    *(who for name in ("sjf", "sjf-backfill", "easy") for who in both(name, name)),
    *both("multifactor", "multifactor", {"backfill": "conservative"}),
    *both("multifactor, easy", "multifactor", {"backfill": "easy"}),
    *both("srtf", "srtf"),
)


def placed(who: Contestant, place: str) -> Contestant:
    """The same, placed otherwise."""
    return replace(who, label=f"{who.label}, {place}", placement=place)


PLACED: Final = (
    *(placed(who, place) for who in (PLAIN[1], NEEDING[-2]) for place in PLACES),
    *(placed(who, "spread") for who in (PLAIN[0], NEEDING[4], PLAIN[2])),
    placed(PLAIN[3], "tightest"),
)
KUEUE: Final = Contestant("kueue", "kueue")
ALL: Final = (*PLAIN, *NEEDING, *PLACED)
FREE: Final = tuple(who for who in ALL if who.label in ("fifo", "fifo-backfill", "las", "tiresias", "srtf"))
UNMODELLED: Final = (*FREE, *(who for who in PLACED if who.placement == "spread"))


def trials(data: Path) -> Iterator[Trial]:
    """All policies; some without overheads, and without models."""
    for case in cases_by_name(data / "traces").values():
        seeds = tuple(ASSIGNMENTS) if case.is_log else case.seeds
        here = (*ALL, KUEUE) if case.name in QUEUED else ALL
        for load in case.loads:
            yield from (Trial(Cell(case.name, load), seed, here) for seed in seeds)
            yield from (Trial(Cell(case.name, load, overheads="none"), seed, FREE) for seed in seeds)
            yield from (Trial(Cell(case.name, load, models=False), seed, UNMODELLED) for seed in case.seeds)


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """The jobs of a seed; of a log, the same with other models."""
    case = cases_by_name(data / "traces")[cell.workload]
    assigned = (seed if case.is_log else 0) if cell.models else None
    options = {"assign_models": assigned, "oversized": "drop", "overheads": cell.overheads}
    return Setting(case.workload(cell.load, 0 if case.is_log else seed), case.cluster, options, case.warmup_ratio)
