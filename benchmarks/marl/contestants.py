"""The policies that are compared, with the options that each has in a cell."""

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.marl import variants
from benchmarks.marl.cells import Cell
from benchmarks.marl.variants import FIVE, LEARNT, Variant
from benchmarks.placement.cell import BLIND
from benchmarks.placement.contestants import MARL as TRAINED
from benchmarks.placement.contestants import trained
from benchmarks.results.contestant import Contestant

SCORER, MARL, SINGLE = "scorer", variants.MARL.label, variants.SINGLE.label
DIVIDED: Final = f"{SCORER}, divided"
UNTRAINED: Final = tuple(
    Contestant(name, name)
    for name in (*BLIND, "random-place", "packed", "packed-lif", "packed-patience", "fifo-backfill", "sjf-backfill")
)
"""Placers that learn nothing, with the true interference, and what operators have."""


def everybody(cell: Cell) -> tuple[Contestant, ...]:
    """All but ablations."""
    return (
        *UNTRAINED,
        *_scorer(SCORER, _knowing(cell)),
        *_scorer(DIVIDED, _shared(cell) | _knowing(cell)),
        *_marl(variants.SINGLE, cell),
        *_marl(variants.MARL, cell),
    )


def ablations(cell: Cell) -> tuple[Contestant, ...]:
    """What differs in one thing from the scorer, divided, or from MARL."""
    alone, shared = _knowing(cell), _shared(cell)
    return (
        *_scorer(f"{SCORER}, no waiting", {"patience": 0.0} | shared | alone),
        *_scorer(f"{SCORER}, no forwarding", shared | {"forward": False} | alone),
        *_scorer(f"{SCORER}, true interference", shared),
        *_marl(variants.MARL, cell, f"{MARL}, no forwarding", forward=False),
        *(one for variant in variants.ABLATIONS for one in _marl(variant, cell)),
    )


def _scorer(label: str, params: Mapping[str, Any]) -> tuple[Contestant, ...]:
    return trained(label, "scorer", [TRAINED / f"scorer-{k}" for k in FIVE], params)


def _marl(variant: Variant, cell: Cell, label: str = "", forward: bool = True) -> tuple[Contestant, ...]:
    places = [TRAINED / f"{variant.name}-{k}" for k in variant.trainings]
    shared = _shared(cell) | {"forward": forward} if variant.divided else {}
    return trained(label or variant.label, "marl", places, shared | _knowing(cell, variant.knows))


def _shared(cell: Cell) -> dict[str, Any]:
    """Schedulers, which forward jobs."""
    return {"schedulers": cell.schedulers, "forward": True}


def _knowing(cell: Cell, file: str | None = LEARNT) -> dict[str, Any]:
    """The file by which interference is forecast; the truth without one."""
    return {"interference": str(TRAINED / (cell.learnt if file == LEARNT else file))} if file else {}
