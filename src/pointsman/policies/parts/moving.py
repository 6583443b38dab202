"""Moving running jobs that their place slows down to a tighter level, if it pays."""

import numpy as np

from pointsman.policies.parts.levels import NETWORK, RACK, best_level, looser, rate_at
from pointsman.policies.sdk import (
    OK,
    TIGHTEST,
    Int,
    Reason,
    State,
    cold,
    core,
    first_below,
    fits,
    may_preempt,
    next_below,
    open_state,
    place,
    preempt,
    preempt_released,
    release_tentatively,
    running_index,
    start_placed,
    take_back,
    unplace,
    wake_at,
    work_done,
)

MIGRATED = int(Reason.Migrated)


@core
def misplaced(S: State, j: Int) -> bool:
    """Whether running job `j` would run faster at its best level."""
    return S.jobs[j].locality > best_level(S, j) and rate_at(S, j, best_level(S, j)) > S.jobs[j].rate


@core
def _is_worth_it(S: State, v: Int, level: Int) -> bool:
    """Whether running job `v` would win more at `level` than the move costs; what is left of it is its estimate, or as
    much as it has done.
    """
    V = S.jobs[v]
    g = S.g[0]
    done = work_done(S, v)
    left = done if np.isnan(V.estimate) else V.estimate - done
    better = rate_at(S, v, level)
    return left / V.rate - left / better > g.stop_ms + g.start_ms + g.restore_ms + g.lost_ms / better


@cold
def _has_room(S: State, c: Int, level: Int) -> bool:
    """Whether a gang of class `c` has a place at `level` or tighter; only the placement TIGHTEST looks at levels."""
    if not fits(S, c):
        return False
    if S.g[0].placement == TIGHTEST:
        return True
    place(S, c)
    within = S.g[0].placed == 1 or level >= RACK
    for i in range(1, S.g[0].placed):
        within = within and S.nodes[S.place[i].node].rack == S.nodes[S.place[0].node].rack
    unplace(S)
    return bool(within)


@core
def _move(S: State, v: Int) -> None:
    """Move running job `v` to a tighter level if there is room and it pays."""
    V = S.jobs[v]
    level = best_level(S, v)
    while level < V.locality and level < NETWORK and may_preempt(S, v) and _is_worth_it(S, v, level):
        S.g[0].within = level
        release_tentatively(S, v)
        if _has_room(S, V.cls, level):
            if S.g[0].stop_ms > 0:
                take_back(S, v)
                preempt(S, v, MIGRATED)
            else:
                place(S, V.cls)
                preempt_released(S, v, MIGRATED)
                start_placed(S, v, OK)
            return
        take_back(S, v)
        level = looser(level)


@core
def _may_improve(S: State, memory: Int) -> bool:
    """Whether some job is slowed by its place, and something changed since moves were last looked for."""
    if first_below(S, running_index(S), 0.0) < 0:
        return False
    return bool(S.memory[memory] != S.g[0].freed)


@cold
def _look_for_moves(address: int, memory: Int) -> None:
    S = open_state(address)
    S.memory[memory] = S.g[0].freed
    v = first_below(S, running_index(S), 0.0)
    while v >= 0:
        following = next_below(S, v, 0.0)
        _move(S, v)
        v = following
    S.g[0].within = NETWORK


@core
def improve_places(S: State, every_ms: Int, memory: Int) -> None:
    """At the next multiple of `every_ms` after GPUs came free, running jobs slowed by their place are moved to better
    ones, in the order of the running index; there they have aux 0, and others infinity. State.memory[memory] is ours.
    """
    now = S.g[0].now
    if now % every_ms == 0 and _may_improve(S, memory):
        _look_for_moves(S.g[0].address, memory)
    if _may_improve(S, memory):
        wake_at(S, now - now % every_ms + every_ms)
