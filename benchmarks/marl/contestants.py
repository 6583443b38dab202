"""The policies that are compared, with the options that each has in a cell."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from benchmarks.marl import variants
from benchmarks.marl.cells import Cell
from benchmarks.marl.variants import FIVE, LEARNT, Variant
from benchmarks.placement.cell import BLIND
from benchmarks.placement.contestants import MARL as TRAINED
from benchmarks.placement.contestants import TRAINING, trained
from benchmarks.results.contestant import Contestant

SCORER, MARL, SINGLE = "scorer, fifo", variants.FIFO.label, variants.SINGLE.label
"""With the order of jobs, where it is that of their submission; the others try the shortest first."""
DIVIDED: Final = f"{SCORER}, divided"
UNTRAINED: Final = tuple(
    Contestant(name, name)
    for name in (*BLIND, "random-place", "packed", "packed-lif", "packed-patience", "fifo-backfill", "sjf-backfill")
)
"""Placers that learn nothing, with the true interference, and what operators have."""
SJF: Final = UNTRAINED[-1]
HISTORY: Final = ", history"
"""Behind that of who is told no durations but those that the run learns from earlier jobs."""


def everybody(cell: Cell) -> tuple[Contestant, ...]:
    """All but ablations; jobs in the order of their submission."""
    return (
        *UNTRAINED,
        *_scorer(SCORER, _knowing(cell)),
        *_scorer(DIVIDED, _shared(cell) | _knowing(cell)),
        *_marl(variants.SINGLE, cell),
        *_marl(variants.FIFO, cell),
    )


def shortest_first(cell: Cell) -> tuple[Contestant, ...]:
    """The same with the shortest job first, and who learns as in the paper."""
    return (
        Contestant("packed, sjf", "packed", {"order": "sjf"}),
        *_scorer("scorer", _knowing(cell), "sjf"),
        *_scorer("scorer, divided", _shared(cell) | _knowing(cell), "sjf"),
        *_marl(variants.MARL, cell),
        *_marl(variants.ACTORS, cell),
    )


def without_durations(cell: Cell) -> tuple[Contestant, ...]:
    """Who uses durations, told those that the run learns; and MARL that was trained in both orders."""
    told = (*_scorer("scorer, divided", _shared(cell) | _knowing(cell), "sjf"), *_marl(variants.MARL, cell))
    blind = (
        replace(one, label=re.sub(f"({TRAINING})", rf"{HISTORY}\1", one.label), estimate="history") for one in told
    )
    return (*blind, replace(SJF, label=f"{SJF.label}{HISTORY}", estimate="history"), *_marl(variants.MIXED, cell))


def ablations(cell: Cell) -> tuple[Contestant, ...]:
    """What differs in one thing from the scorer, divided, or from MARL."""
    alone, shared = _knowing(cell), _shared(cell)
    return (
        *_scorer(f"{SCORER}, no waiting", {"patience": 0.0} | shared | alone),
        *_scorer(f"{SCORER}, no forwarding", shared | {"forward": False} | alone),
        *_scorer(f"{SCORER}, true interference", shared),
        *_marl(variants.FIFO, cell, f"{MARL}, no forwarding", forward=False),
        *(one for variant in variants.ABLATIONS for one in _marl(variant, cell)),
    )


def of_actors(cell: Cell) -> tuple[Contestant, ...]:
    """What differs in one thing from who learns as in the paper."""
    return tuple(one for variant in variants.OF_ACTORS for one in _marl(variant, cell))


def _scorer(label: str, params: Mapping[str, Any], order: str = "fifo") -> tuple[Contestant, ...]:
    places = [TRAINED / f"{variants.SCORER_OF[order]}-{k}" for k in FIVE]
    return trained(label, "scorer", places, {"order": order, **params})


def _marl(variant: Variant, cell: Cell, label: str = "", forward: bool = True) -> tuple[Contestant, ...]:
    places = [TRAINED / f"{variant.name}-{k}" for k in variant.trainings]
    shared = _shared(cell) | {"forward": forward} if variant.divided else {}
    shared |= {"order": "fifo"} if variant.order == "fifo" else {}
    return trained(label or variant.label, "marl", places, shared | _knowing(cell, variant.knows))


def _shared(cell: Cell) -> dict[str, Any]:
    """Schedulers, which forward jobs."""
    return {"schedulers": cell.schedulers, "forward": True}


def _knowing(cell: Cell, file: str | None = LEARNT) -> dict[str, Any]:
    """The file by which interference is forecast; the truth without one."""
    return {"interference": str(TRAINED / (cell.learnt if file == LEARNT else file))} if file else {}
