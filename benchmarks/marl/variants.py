"""The trainings of MARL: the system itself, the single agent, and ablations, which differ in one thing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

FIVE, TWO = (1, 2, 3, 4, 5), (1, 2)
LEARNT, MEASURED, BLIND = "interference.yaml", "measured.yaml", "blind.yaml"
"""What is known of interference: what was learnt from logged placements, what was measured in them and no more, or
nothing.
"""


@dataclass(frozen=True)
class Variant:
    """A way to train."""

    name: str
    """Of its directories, NAME-SEED."""
    label: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of ``train marl --set``."""
    knows: str | None = LEARNT
    """The file by which it forecasts, in training and in use; None: the truth."""
    trainings: tuple[int, ...] = TWO
    decisions: int = 40_960
    """That it learns from. Four times as many gained no more (``docs/papers/marl.md`` §5)."""
    divided: bool = True
    """Whether several schedulers share the cluster, in training and in use."""
    order: str = "sjf"
    """Of jobs, in training."""

    def scorer(self, seed: int) -> str:
        """The training of the scorer whose choices it mends."""
        return f"{SCORER_OF['fifo' if self.order == 'fifo' else 'sjf']}-{seed}"


SCORER_OF: Final = {"sjf": "scorer", "fifo": "scorer-fifo"}
"""By the order of jobs, under what name the scorer is trained in it."""
MARL: Final = Variant("marl", "marl", trainings=FIVE)
FIFO: Final = Variant("fifo", "marl, fifo", trainings=FIVE, order="fifo")
MIXED: Final = Variant("mixed", "marl, trained in both orders", trainings=FIVE, order="mixed")
AS_IN_THE_PAPER: Final = {"marl.learner": "actor-critic", "practice.jobs": "800", "practice.patience": "1"}
AS_LONG: Final = 235_520
"""Decisions of actors that take as long as those that `MARL` tries."""
ACTORS: Final = Variant("actors", "actor-critic", AS_IN_THE_PAPER, trainings=FIVE, decisions=AS_LONG)
ALONE: Final = {"practice.schedulers": "1", "marl.graph": "false"}
SINGLE: Final = Variant("single", "single agent, fifo", ALONE, trainings=FIVE, divided=False, order="fifo")
"""Harmony-like: one scheduler, and nodes judged by their own features alone."""
FROM_NOTHING: Final = {"marl.weights": "1,1,1,1,1,1", "marl.caution": "0", "practice.patience": "1"}
ABLATIONS: Final = (
    Variant("no-graph", "no graph", {"marl.graph": "false"}, order="fifo"),
    Variant("no-patience", "scorer without waiting", {"practice.patience": "0"}, order="fifo"),
    Variant("blind", "no interference model", knows=BLIND, order="fifo"),
    Variant("measured", "measured combinations only", knows=MEASURED, order="fifo"),
    Variant("truth", "true interference", knows=None, order="fifo"),
    Variant("from-nothing", "no trained scorer, no caution", FROM_NOTHING, order="fifo"),
)
"""They differ from `FIFO` in one thing."""
SILENT, NO_GRAPH = AS_IN_THE_PAPER | {"marl.message": "0"}, AS_IN_THE_PAPER | {"marl.graph": "false"}
OF_ACTORS: Final = (
    Variant("actors-silent", "actor-critic, nothing sent", SILENT, trainings=(1,), decisions=AS_LONG),
    Variant("actors-no-graph", "actor-critic, no graph", NO_GRAPH, trainings=(1,), decisions=AS_LONG),
)
"""They differ from `ACTORS` in one thing."""
