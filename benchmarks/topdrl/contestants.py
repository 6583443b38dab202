"""The policies of the page: TopDRL, the baselines of its paper, and those that any site has."""

from pathlib import Path
from typing import Final

from benchmarks.results.contestant import Contestant

TRAINED: Final = Path("benchmarks/topdrl/trained")
TRAININGS: Final = range(1, 6)
TOPDRL, DEEPRM, PROXIMITY = "topdrl", "DeepRM + first", "FCFS + Proximity-DRL"
FIVE: Final = f"{TOPDRL}, five trainings"
"""The mean of the shipped weights and four more."""
MISLEADING: Final = "σ = 1"
SIGMAS: Final = (0.5, 1.0)
CHOICES: Final = ("anchor", "first-available", "load-balance", "random")
PATIENCE: Final = 100


def _pick(label: str, gpus: str, picker: str | None = None) -> Contestant:
    """A job picker and a GPU picker; the job picker is SJF by default."""
    if picker:
        return Contestant(label, "pick-place", {"gpus": gpus, "picker": picker})
    return Contestant(label, "pick-place-sjf", {"gpus": gpus}, estimate="oracle")


SHIPPED: Final = Contestant(TOPDRL, "topdrl", estimate="oracle")
OF_THE_PAPER: Final = (
    _pick("FCFS + first", "first-available", "fcfs"),
    _pick("SJF + balance", "load-balance"),
    _pick("Tetris + first", "first-available", "tetris"),
    _pick("DRF + balance", "load-balance", "drf"),
)
"""Of the six baselines those that learn nothing (docs/papers/topdrl.md §7)."""


def _trained(label: str, agent: str, trainings: range) -> tuple[Contestant, ...]:
    return tuple(
        Contestant(f"{label}, training {k}", f"{agent}:{TRAINED / f'{agent}-{k}'}", estimate="oracle")
        for k in trainings
    )


TOPDRLS: Final = (SHIPPED, *_trained(TOPDRL, "topdrl", range(1, 5)))
DEEPRMS: Final = _trained(DEEPRM, "deeprm", TRAININGS)
PROXIMITIES: Final = _trained(PROXIMITY, "proximity-drl", TRAININGS)
DEEPRMS_MISLED: Final = tuple(
    Contestant(f"{who.label}, {MISLEADING}", who.policy, estimate="lognormal:1") for who in DEEPRMS
)
NEAREST: Final = (
    _pick("FCFS + nearest", "nearest", "fcfs"),
    _pick("SJF + nearest", "nearest"),
    _pick("Tetris + nearest", "nearest", "tetris"),
    _pick("DRF + nearest", "nearest", "drf"),
)
"""The same job pickers with TopDRL's choice of GPUs."""
FIFO, FIFO_RACKS, LAS, LAS_RACKS = "fifo-backfill", "fifo-backfill, few racks", "las", "las, few racks"
AT_ANY_SITE: Final = (
    Contestant(FIFO, "fifo-backfill", placement="consolidated"),
    Contestant(FIFO_RACKS, "fifo-backfill", placement="few-racks"),
    Contestant(LAS, "las", placement="consolidated"),
    Contestant(LAS_RACKS, "las", placement="few-racks"),
    Contestant("dally", "dally"),
    Contestant("gittins", "gittins"),
)
ALL: Final = (SHIPPED, *OF_THE_PAPER, *NEAREST, *AT_ANY_SITE)
MISLED: Final = tuple(
    Contestant(f"{label}, σ = {sigma:g}", policy, params, estimate=f"lognormal:{sigma:g}")
    for label, policy, params in ((TOPDRL, "topdrl", {}), ("SJF + nearest", "pick-place-sjf", {"gpus": "nearest"}))
    for sigma in SIGMAS
)
"""Durations are wrong by a log-normal factor."""
ELSEWHERE: Final = tuple(
    Contestant(f"{TOPDRL}, GPUs: {how}", "topdrl", {"gpus": how}, estimate="oracle") for how in CHOICES
)
"""The network as it ships, with other choices of GPUs."""
PATIENT: Final = Contestant(
    f"{TOPDRL}, patience {PATIENCE}", "topdrl", {"patience_durations": PATIENCE}, estimate="oracle"
)
