"""A compiled policy of one's own: the widest gang first, whoever fits starts. Its hooks are this file's functions."""

from typing import ClassVar

import numpy as np

from pointsman.engine.compile import core
from pointsman.engine.contract import CompiledPolicy, parameter
from pointsman.engine.placing import fits
from pointsman.engine.queueing import block, close_queue, enqueue, first_waiting
from pointsman.engine.verbs import OK, PENDING, QUOTA, start
from pointsman.types import Knowledge

WIDEST = 0  # where `parameters` puts it


class WidestFirst(CompiledPolicy):
    """Gangs start widest first; those wider than `widest` GPUs count as that wide."""

    name: ClassVar[str] = "widest-first"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = __file__

    widest: int = parameter(64, "gangs beyond this are all alike", unit="GPUs", ge=1)

    def parameters(self) -> list[float]:
        return [float(self.widest)]


@core
def on_event(S, kind, j):
    """A job that waits joins the index of its class: lower keys go first, then lower rows."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, -min(np.float64(S.jobs[j].asked), S.params[WIDEST]), np.inf)


@core
def on_run(S, j):
    """Running jobs are of no interest here."""


@core
def decide(S):
    """Start waiting jobs in order; a class that does not fit is passed over for the rest of the pass."""
    while True:
        j = first_waiting(S)
        if j < 0:
            return
        if not fits(S, S.jobs[j].cls):
            block(S, S.jobs[j].cls)
        elif start(S, j, OK) == QUOTA:
            close_queue(S, j)
