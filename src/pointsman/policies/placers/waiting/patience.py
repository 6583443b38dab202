"""A job may wait a while for a *compact* place: one on the fewest nodes that could hold it, in one rack if a rack
could.

How long it waits is a share of its own duration, counted from its submission. The end of its patience is its `aux`.
"""

import numpy as np

from pointsman.policies.parts.backfill import has_room
from pointsman.policies.parts.levels import NETWORK, best_level
from pointsman.policies.placers.declared import SJF, Placer, WhileRunning, WhileWaiting
from pointsman.policies.placers.filling import clear_scores, note_compact
from pointsman.policies.sdk import (
    PENDING,
    Int,
    State,
    alternative_with_room,
    core,
    dequeue,
    enqueue,
    set_alarm,
    view_of,
)

params = view_of(Placer)
waiting, running = view_of(WhileWaiting), view_of(WhileRunning)


@core
def turn_of(S: State, j: Int) -> float:
    """By what job `j` stands in order among those of equal priority; equal ones go by submission, and so do all
    without an estimate.
    """
    estimate = S.jobs[j].estimate
    return estimate if params(S).order == SJF and estimate >= 0.0 else 0.0


@core
def end_of_patience(S: State, j: Int) -> float:
    """Until when job `j` is patient, ms; 0: not at all, for its duration is not known, it has a shape, or it has
    waited too long.
    """
    J = S.jobs[j]
    if S.classes[J.cls].per_node > 0 or J.overdue:
        return 0.0
    lasts = np.ceil(params(S).patient_share * J.estimate) if J.estimate > 0.0 else 0.0
    return J.submit + lasts if lasts > 0.0 else 0.0


@core
def is_patient(S: State, j: Int) -> bool:
    """Whether waiting job `j` takes compact places only."""
    return bool(end_of_patience(S, j) > S.g[0].now)


@core
def wait_patiently(S: State, j: Int) -> None:
    """Job `j`, if it waits, joins its class; it is not patient if its duration is not known. While its patience
    lasts, its level is that of a compact place.
    """
    J, W = S.jobs[j], waiting(S, j)
    if J.state == PENDING:
        if J.bucket < 0:
            W.again_ms = W.had_choice = 0
            enqueue(S, j, turn_of(S, j), end_of_patience(S, j))
        elif J.overdue and J.aux > 0.0:
            dequeue(S, j)
            enqueue(S, j, turn_of(S, j), 0.0)
        if J.aux > S.g[0].now and J.aux < J.alarm:
            set_alarm(S, j, np.int64(J.aux))
        W.level = best_level(S, j) if is_patient(S, j) else NETWORK


@core
def begin_to_run(S: State, j: Int) -> None:
    """Job `j` has been started: nothing is left of what was kept of it while it waited."""
    K = running(S, j)
    K.beside = K.before = 0.0
    K.listed = 0


@core
def takes_what_is_free(S: State, j: Int, c: Int) -> bool:
    """Whether waiting job `j`, were it of class `c`, would be placed now."""
    if not has_room(S, c):
        return False
    if not is_patient(S, j):
        return True
    clear_scores(S)
    return note_compact(S, alternative_with_room(S, c), S.classes[c].gpus)
