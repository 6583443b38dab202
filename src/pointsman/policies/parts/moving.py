"""Moving running jobs that their place slows down to a tighter level, if it pays."""

import numpy as np

from pointsman.policies.parts.levels import NETWORK, best_level, looser, rate_at
from pointsman.policies.sdk import (
    OK,
    Int,
    Record,
    State,
    cold,
    core,
    first_below,
    may_preempt,
    move,
    next_below,
    running_index,
    since_checkpoint,
    wake_at,
    whole,
    work_done,
)


class Moves(Record):
    """What is kept about moves to better places."""

    changes = whole("State.g.changes when they were last looked for")


@core
def misplaced(S: State, j: Int) -> bool:
    """Whether running job `j` would run faster at its best level."""
    return S.jobs[j].locality > best_level(S, j) and rate_at(S, j, best_level(S, j)) > S.jobs[j].rate


@core
def _is_worth_it(S: State, v: Int, level: Int, by_estimate: bool) -> bool:
    """Whether running job `v` would win more at `level` than the move costs; what is left of it is its estimate, or as
    much as it has done.
    """
    V = S.jobs[v]
    g = S.g[0]
    done = work_done(S, v)
    left = done if not by_estimate or np.isnan(V.estimate) else V.estimate - done
    better = rate_at(S, v, level)
    lost = g.lost_ms + (since_checkpoint(S, v, done) if g.loses_since_checkpoint else 0.0)
    return left / V.rate - left / better > g.stop_ms + g.start_ms + g.restore_ms + lost / better


@core
def _move(S: State, v: Int, by_estimate: bool) -> None:
    """Move running job `v` to a tighter level if there is room and it pays."""
    level = best_level(S, v)
    while level < min(S.jobs[v].locality, NETWORK) and may_preempt(S, v) and _is_worth_it(S, v, level, by_estimate):
        if move(S, v, level) == OK:
            return
        level = looser(level)


@core
def _may_improve(S: State, moves: Moves) -> bool:
    """Whether some job is slowed by its place, and something changed since moves were last looked for."""
    if first_below(S, running_index(S), 0.0) < 0:
        return False
    return bool(moves.changes != S.g[0].changes)


@cold
def _look_for_moves(S: State, moves: Moves, by_estimate: bool) -> None:
    moves.changes = S.g[0].changes
    v = first_below(S, running_index(S), 0.0)
    while v >= 0:
        following = next_below(S, v, 0.0)
        _move(S, v, by_estimate)
        v = following
    S.g[0].within = NETWORK


@core
def improve_places(S: State, every_ms: Int, moves: Moves, by_estimate: bool) -> None:
    """At the next multiple of `every_ms` after GPUs came free, running jobs slowed by their place are moved to better
    ones, in the order of the running index; there they have aux 0, and others infinity. What is left of a job is, but
    `by_estimate`, as much as it has done.
    """
    now = S.g[0].now
    if now % every_ms == 0 and _may_improve(S, moves):
        _look_for_moves(S, moves, by_estimate)
    if _may_improve(S, moves):
        wake_at(S, now - now % every_ms + every_ms)
