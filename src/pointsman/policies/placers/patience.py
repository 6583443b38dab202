"""A job waits a while for a *compact* place: one on the fewest nodes that could hold it, in one rack if a rack could.

How long it waits is a share of its own duration, counted from its submission. The end of its patience is its `aux`.
"""

from typing import Any

import numpy as np

from pointsman.policies.parts.levels import NETWORK, best_level
from pointsman.policies.placers.filling import clear_scores, note_compact
from pointsman.policies.placers.placer import Placer, alternative_of
from pointsman.policies.sdk import (
    ACTIVE,
    PENDING,
    Delay,
    Int,
    Locality,
    State,
    before,
    block,
    blocked,
    core,
    enqueue,
    first_below,
    fits,
    set_alarm,
)


class PatientPlacer(Placer):
    """A placer whose jobs wait a while for a compact place."""

    def delay_of(self, job: Any) -> Delay | None:
        """Until its patience ends a job takes no GPUs beyond one node, or rack, if one could hold it."""
        return None if job["s0"] >= NETWORK else Delay(Locality(int(job["s0"])), int(job["aux"]))


@core
def is_patient(S: State, j: Int) -> bool:
    """Whether waiting job `j` takes compact places only."""
    return bool(S.jobs[j].aux > S.g[0].now)


@core
def wait_patiently(S: State, j: Int, share: float) -> None:
    """Job `j`, if it waits, joins its class; its patience lasts `share` of its duration, none if that is not known.
    While it lasts, s0 is the level of a compact place.
    """
    J = S.jobs[j]
    if J.state == PENDING:
        if J.bucket < 0:
            lasts = np.ceil(share * J.estimate) if J.estimate > 0.0 else 0.0
            enqueue(S, j, 0.0, J.submit + lasts)
            if J.aux > S.g[0].now:
                set_alarm(S, j, np.int64(J.aux))
        J.s0 = np.float64(best_level(S, j) if is_patient(S, j) else NETWORK)


@core
def _willing(S: State, c: Int) -> Int:
    """The first job of class `c`, whose jobs fit, that takes what is free; -1 if each waits for a compact place."""
    j = S.buckets[c].first
    clear_scores(S)
    if note_compact(S, alternative_of(S, j), S.classes[c].gpus):
        return j
    return first_below(S, c, np.float64(S.g[0].now))


@core
def next_willing(S: State) -> Int:
    """The first waiting job, in order, that can be placed and takes what is free; -1 if there is none."""
    best = np.int64(-1)
    if S.g[0].free == 0:
        return best
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if not blocked(S, c):
            if not fits(S, c):
                block(S, c)
            else:
                j = _willing(S, c)
                if j >= 0 and (best < 0 or before(S, j, best)):
                    best = j
    return best
