"""The bookkeeping under policies written in Python that place gangs as the environment PlaceGang does: jobs wait in the
order of the placers, and those that have waited too long get reservations.
"""

import numpy as np

from pointsman.policies.parts.reserving.overdue_heads import follow, predict_end, serves_overdue
from pointsman.policies.placers.waiting.patience import turn_of
from pointsman.policies.sdk import PENDING, Int, State, core, enqueue
from pointsman.policies.sdk import on_run as note_running


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j < 0:
        return
    follow(S, kind, j)
    if S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, turn_of(S, j), np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """A job that runs joins the running ones."""
    if serves_overdue(S):
        predict_end(S, j, np.int64(0))
    else:
        note_running(S, j)


@core
def decide(S: State) -> None:
    """The network decides."""
