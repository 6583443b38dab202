"""The policies that are compared: `metarl` as it was trained, without one of its parts, and its rivals."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from benchmarks.marl import variants
from benchmarks.metarl.cells import BASE, CHANGED, SEEDS, SHORT, Cell
from benchmarks.placement.cell import BLIND
from benchmarks.placement.contestants import FIVE, MARL, METARL, TWO, trained
from benchmarks.results.contestant import Contestant

LEARNT: Final = MARL / variants.LEARNT
"""From logged placements, where no pair of models slowed each other more than others do."""
STEPS: Final = 3
EXPLORING: Final = {"explore": 0.05, "directed": False, "bound": 1.0, "budget": 1.0}
"""As in the trainings of `learn.meta.actor_critic`."""
CEILING, ITSELF, FROZEN = "scorer, true model", "metarl", "metarl, frozen"
SOURCES: Final[Mapping[str, Mapping[str, Any]]] = {
    "true model": {},
    "demands known": {"interference": "table"},
    "learnt file": {"interference": str(LEARNT)},
}
"""Of interference, for `lif` and `scorer`."""
BY_SUBMISSION: Final = {"order": "fifo"}
"""The order of jobs on the page."""
UNTRAINED: Final = (
    *(Contestant(name, name) for name in BLIND[:2]),
    *(Contestant(f"lif, {source}", "lif", params) for source, params in SOURCES.items()),
    Contestant("packed", "packed"),
    Contestant("packed-patience", "packed-patience"),
    *(Contestant(f"scorer, {source}", "scorer", BY_SUBMISSION | params) for source, params in SOURCES.items()),
)
SINGLE: Final = trained(
    "single agent, learnt file", "marl", [MARL / f"{variants.SINGLE.name}-{k}" for k in TWO],
    {"schedulers": 1, "interference": str(LEARNT), **BY_SUBMISSION},
)  # fmt: skip
"""One scheduler, whose network was trained on a model that is not corrected, as in Harmony."""


def _metarl(label: str, kind: str, trainings: Sequence[int], **params: Any) -> tuple[Contestant, ...]:
    always = BY_SUBMISSION | {"reviewed": False}
    return trained(label, "metarl", [METARL / f"{kind}-{k}" for k in trainings], always | params)


IN_FULL: Final = (*_metarl(ITSELF, "metarl", FIVE), *_metarl(FROZEN, "metarl", FIVE, learn=False))
NOTHING: Final = Contestant("metarl, nothing meta-learnt", "metarl:none", BY_SUBMISSION)
PARTS: Final = (
    *_metarl("metarl, no exploration", "metarl", TWO, explore=0.0),
    *_metarl("metarl, exploring anywhere", "metarl", TWO, directed=False),
    *_metarl("metarl, plain training", "plain", TWO, directed=False),
    *_metarl("Harmony-like", "actor-critic", TWO, **EXPLORING),
    *_metarl("metarl, no network", "no-network", TWO),
)
"""Plain training: as long, without meta-learning; each run goes on from the weights of the last. Harmony-like: an actor
and a critic, trained as long by policy gradients, which explore at random. Both correct their model too.
"""
ADAPTING: Final = (
    *_metarl("metarl, adapting", "metarl", TWO, steps=STEPS),
    *_metarl("metarl, adapting from scratch", "no-network", TWO, steps=STEPS),
)
"""They take minutes a run."""
FEW: Final = 5
"""Workloads, of what is not measured in full."""


def contestants(cell: Cell, seed: int) -> tuple[Contestant, ...]:
    """All in the base cell and after changes; elsewhere none that adapt. The first workloads have more."""
    adapting = ADAPTING if cell in (*BASE, *CHANGED) else ()
    full, few = (*UNTRAINED, *IN_FULL, NOTHING), (*SINGLE, *PARTS, *adapting)
    if cell not in (*BASE, *CHANGED, *SHORT):
        full, few = (), (*UNTRAINED, *_first_two(IN_FULL), NOTHING, *few)
    found = (*full, *few) if seed in SEEDS[:FEW] else full
    return tuple(replace(one, estimate=_estimate(cell)) for one in found)


def _first_two(who: Sequence[Contestant]) -> list[Contestant]:
    return [one for one in who if int(one.label[-1]) <= len(TWO)]


def _estimate(cell: Cell) -> str | None:
    return None if cell.estimate == Cell.estimate else cell.estimate
