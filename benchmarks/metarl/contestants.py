"""The policies that are compared: `metarl` as it comes, without one of its parts, and its rivals."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from benchmarks.marl import variants
from benchmarks.metarl.cells import BASE, CHANGED, DEEP, LOGGED, Cell
from benchmarks.placement.cell import BLIND
from benchmarks.placement.contestants import FIVE, MARL, METARL, TWO, trained
from benchmarks.results.contestant import Contestant

LEARNT: Final = MARL / variants.LEARNT
"""From logged placements, where no pair of models slowed each other more than others do."""
STEPS: Final = 3
EXPLORING: Final = {"explore": 0.05, "directed": False, "bound": 1.0, "budget": 1.0}
"""As in the trainings of `learn.meta.actor_critic`."""
ITSELF, FROZEN, BY_SUBMISSION = "metarl", "metarl, frozen", "metarl, fifo"
SOURCES: Final[Mapping[str, Mapping[str, Any]]] = {
    "true model": {},
    "demands known": {"interference": "table"},
    "learnt file": {"interference": str(LEARNT)},
}
"""Of interference, for `scorer`."""
CEILING: Final = "scorer, true model"
CEILING_FIFO: Final = f"{CEILING}, fifo"
LIF, PACKED, FIFO, SJF = "lif, demands known", "packed", "fifo-backfill", "sjf-backfill"
UNTRAINED: Final = (
    *(Contestant(name, name) for name in BLIND[:2]),
    Contestant(LIF, "lif", SOURCES["demands known"]),
    *(Contestant(name, name) for name in (PACKED, FIFO, SJF)),
    Contestant(CEILING_FIFO, "scorer", {"order": "fifo"}),
    *(Contestant(f"scorer, {source}", "scorer", params) for source, params in SOURCES.items()),
)


def _metarl(label: str, kind: str, trainings: Sequence[int], **params: Any) -> tuple[Contestant, ...]:
    return trained(label, "metarl", [METARL / f"{kind}-{k}" for k in trainings], params)


NOTHING: Final = Contestant("metarl, nothing meta-learnt", "metarl:none")
IN_FULL: Final = (
    *_metarl(ITSELF, "no-network", FIVE),
    *_metarl(FROZEN, "no-network", FIVE, learn=False),
    *_metarl(BY_SUBMISSION, "no-network", FIVE, order="fifo"),
    NOTHING,
)
UNEXPLORED, ANYWHERE = "metarl, no exploration", "metarl, exploring anywhere"
ALWAYS, PLAIN, HARMONY = "metarl, network always", "metarl, plainly trained network", "Harmony-like"
PARTS: Final = (
    *_metarl(UNEXPLORED, "no-network", TWO, explore=0.0),
    *_metarl(ANYWHERE, "no-network", TWO, directed=False),
    *_metarl(ALWAYS, "metarl", TWO, reviewed=False),
    *_metarl(PLAIN, "plain", TWO, directed=False, reviewed=False),
    *_metarl(HARMONY, "actor-critic", (1,), reviewed=False, **EXPLORING),
)
"""Networks beside the scorer. Plainly trained: as long, without meta-learning; each run goes on from the weights of the
last. Harmony-like: an actor and a critic, trained as long by policy gradients, which explore at random. All correct
their model too.
"""
NETWORK, ADAPTING = "metarl, network while it is better", "metarl, adapting network"
SLOW: Final = (*_metarl(NETWORK, "metarl", TWO), *_metarl(ADAPTING, "metarl", TWO, steps=STEPS))
"""They rehearse, which takes longer than the run."""


def contestants(cell: Cell) -> tuple[Contestant, ...]:
    """All that are run there."""
    parts = (*PARTS, *SLOW) if cell in DEEP else PARTS if cell in (*BASE, *CHANGED, *LOGGED) else ()
    estimate = None if cell.estimate == Cell.estimate else cell.estimate
    return tuple(replace(one, estimate=estimate) for one in (*UNTRAINED, *IN_FULL, *parts))
