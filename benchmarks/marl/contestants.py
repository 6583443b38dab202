"""The policies that are compared, with the options that each has in a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from benchmarks.marl import variants
from benchmarks.marl.cells import ABLATED, EIGHT, STUDIED, Cell
from benchmarks.marl.variants import FIVE, LEARNT, Variant
from benchmarks.placement.cell import BLIND
from benchmarks.placement.contestants import MARL as TRAINED
from benchmarks.placement.contestants import trained
from benchmarks.results.contestant import Contestant

SCORER, MARL, ACTORS = "scorer", variants.MARL.label, variants.ACTORS.label
"""They try the shortest job first."""
SCORER_FIFO, MARL_FIFO, SINGLE = "scorer, fifo", variants.FIFO.label, variants.SINGLE.label
"""They try jobs in the order of their submission."""
PACKED, FIFO, SJF = "packed", "fifo-backfill", "sjf-backfill"
UNTRAINED: Final = tuple(Contestant(name, name) for name in (*BLIND, PACKED, FIFO, SJF))
"""Placers that learn nothing, with the true interference, and what operators have."""
ALONE: Final = "scorer, one scheduler"
HISTORY: Final = ", history"
"""Behind that of who is told no durations but those that the run learns from earlier jobs."""


def contestants(cell: Cell) -> tuple[Contestant, ...]:
    """All that are run there."""
    also = (studies(cell) if cell in STUDIED else ()) + (ablations(cell) if cell in ABLATED else ())
    return everyone(cell) + also + (forwarding(cell) if cell in (*ABLATED, *EIGHT) else ())


def everyone(cell: Cell) -> tuple[Contestant, ...]:
    """Those that are run in all cells."""
    scorers = _scorer(SCORER_FIFO, cell, order="fifo") + _scorer(SCORER, cell)
    learnt = (one for variant in (variants.FIFO, variants.MARL, variants.ACTORS) for one in _marl(variant, cell))
    return (*UNTRAINED, *scorers, *learnt)


def studies(cell: Cell) -> tuple[Contestant, ...]:
    """Who is told durations that the run learns, who was trained in both orders, and the single agent."""
    told = (UNTRAINED[-1], *_scorer(SCORER, cell), *_marl(variants.MARL, cell))
    mixed = _marl(variants.MIXED, cell) + _marl(variants.MIXED, cell, f"{variants.MIXED.label}, fifo", order="fifo")
    return (*map(without_durations, told), *mixed, *_marl(variants.SINGLE, cell))


def without_durations(who: Contestant) -> Contestant:
    """The same with those that the run learns."""
    name, *training = who.label.split(", training ")
    return replace(who, label=", training ".join([name + HISTORY, *training]), estimate="history")


def ablations(cell: Cell) -> tuple[Contestant, ...]:
    """What differs in one thing from the scorer or from MARL, in the order of submission, or from the actors."""
    return (
        *_scorer(f"{SCORER_FIFO}, no waiting", cell, order="fifo", patience=0.0),
        *_scorer(f"{SCORER_FIFO}, true interference", cell, None, order="fifo"),
        *(one for variant in (*variants.ABLATIONS, *variants.OF_ACTORS) for one in _marl(variant, cell)),
    )


def forwarding(cell: Cell) -> tuple[Contestant, ...]:
    """What forwarding is worth, and what dividing the cluster costs."""
    return (
        *_scorer(ALONE, replace(cell, schedulers=1)),
        *_scorer(f"{SCORER}, no forwarding", cell, forward=False),
        *_marl(variants.MARL, cell, f"{MARL}, no forwarding", forward=False),
        *_marl(variants.ACTORS, cell, f"{ACTORS}, no forwarding", forward=False),
    )


def _scorer(label: str, cell: Cell, knows: str | None = LEARNT, **params: Any) -> tuple[Contestant, ...]:
    name = variants.SCORER_OF[params.get("order", "sjf")]
    return trained(label, "scorer", _places(name, FIVE), _shared(cell) | params | _knowing(cell, knows))


def _marl(variant: Variant, cell: Cell, label: str = "", **params: Any) -> tuple[Contestant, ...]:
    given = _shared(cell) if variant.divided else {}
    given |= {"order": "fifo"} if variant.order == "fifo" else {}
    places = _places(variant.name, variant.trainings)
    return trained(label or variant.label, "marl", places, given | params | _knowing(cell, variant.knows))


def _places(name: str, trainings: Sequence[int]) -> list[Any]:
    return [TRAINED / f"{name}-{k}" for k in trainings]


def _shared(cell: Cell) -> dict[str, Any]:
    """Schedulers, which forward jobs."""
    return {"schedulers": cell.schedulers, "forward": True}


def _knowing(cell: Cell, file: str | None = LEARNT) -> Mapping[str, Any]:
    """The file by which interference is forecast; the truth without one."""
    return {"interference": str(TRAINED / (cell.learnt if file == LEARNT else file))} if file else {}
