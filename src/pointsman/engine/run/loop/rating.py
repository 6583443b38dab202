"""Jobs get their rates, and their next events, at the end of an instant."""

import numpy as np

from pointsman.engine.actions.running import settle
from pointsman.engine.actions.verbs import delay_of_start
from pointsman.engine.index.event_heap import heap_remove, heap_set
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.rate_models.felt_factors import feel_factors
from pointsman.engine.rate_models.rates import iteration_s, rate_at, waiting_share
from pointsman.engine.run.loop.event_kinds import FINISH, LEVEL, RESIZED, START_FAILED, STARTED, STEP, STOPPED, TIMER
from pointsman.engine.run.loop.hooks import tell_rate
from pointsman.engine.state.codes import RUNNING, STARTING, STOPPING
from pointsman.engine.state.due_times import NEVER, after
from pointsman.engine.state.records import DIRTY, OFF_RATE, SHARE, TURN, Int, State, World
from pointsman.engine.state.state_pointer import call_apart, open_state


@core
def _will_fail(W: World, row: Int, attempt: Int) -> bool:
    """Whether this start fails: a hash of seed, row and attempt against the failure rate."""
    h = (row * 2654435761 + attempt * 40503 + W.clock[0].seed * 97) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    return (h ^ (h >> 16)) < W.clock[0].fail_rate * 4294967296.0


@core
def note_off_rate(S: State, j: Int) -> None:
    """Job `j` runs at a rate other than 1 from now on."""
    S.jobs[j].off_rate = S.g[0].off_rate
    S.lists[OFF_RATE, S.g[0].off_rate] = j
    S.g[0].off_rate += 1


@core
def forget_off_rate(S: State, j: Int) -> None:
    """Job `j` runs at rate 1 from now on, or not at all."""
    J = S.jobs[j]
    if J.off_rate >= 0:
        last = S.lists[OFF_RATE, S.g[0].off_rate - 1]
        S.lists[OFF_RATE, J.off_rate] = last
        S.jobs[last].off_rate = J.off_rate
        J.off_rate = -1
        S.g[0].off_rate -= 1


@cold
def _write_speed(address: Int, j: Int) -> None:
    S = open_state(address)
    J = S.jobs[j]
    L = S.speed_log[S.g[0].speeds_logged]
    L.time = S.g[0].now
    L.row = J.row
    L.rate = J.rate
    L.slow = J.slow
    L.slow_computing = J.slow_computing
    S.g[0].speeds_logged += 1


@core
def log_speed(S: State, j: Int) -> None:
    """Job `j` has another speed from now on."""
    if S.g[0].log_speeds:
        _write_speed(S.g[0].address, j)


@core
def set_rate(S: State, W: World, j: Int) -> None:
    """Give job `j` the rate of its placement, and its finish, if it has another rate now."""
    J = S.jobs[j]
    if S.g[0].counts_iterations:  # who counts iterations itself
        if J.off_rate < 0:
            note_off_rate(S, j)
            tell_rate(S.g[0].address, j)
        return
    feel_factors(S, j)
    time_s = iteration_s(S, j)
    rate = rate_at(S, j, time_s * J.slow)
    if rate == J.rate:
        return
    settle(S, j)
    J.rate = rate
    J.waits = waiting_share(S, j, time_s)
    J.done_when_rated = J.done
    J.rated = S.g[0].now
    W.truth[j].finish = after(S.g[0].now, W.truth[j].work - J.done, rate)
    if S.g[0].stages > 0:
        call_apart(S.g[0].staging, S.g[0].address, TURN, j)
    if rate == 1.0:
        forget_off_rate(S, j)
    elif J.off_rate < 0:
        note_off_rate(S, j)
    log_speed(S, j)
    tell_rate(S.g[0].address, j)


@core
def _transition(S: State, W: World, j: Int, kind: Int, delay: float) -> None:
    """A start or a stop that takes time ends with an event of `kind`."""
    if W.truth[j].due < 0:
        W.truth[j].due = S.g[0].now + delay
    heap_set(W, j, W.truth[j].due, kind, S.jobs[j].row)


@cold
def schedule(S: State, W: World, j: Int) -> None:
    """Put the next event of job `j` into the heap."""
    J = S.jobs[j]
    g = S.g[0]
    if J.state == RUNNING:
        finish = W.truth[j].finish
        step = W.truth[j].due if W.truth[j].due >= 0 else W.truth[j].turn
        if step < min(finish, J.alarm):
            heap_set(W, j, step, STEP, J.row)
        elif finish <= J.alarm:
            heap_set(W, j, finish, FINISH, J.row)
        else:
            heap_set(W, j, J.alarm, LEVEL, J.row)
    elif g.outside and (J.state == STARTING or J.state == STOPPING):
        heap_remove(W, j)
    elif J.state == STARTING:
        if J.pause > 0:
            _transition(S, W, j, np.int64(RESIZED), J.pause)
        else:
            kind = START_FAILED if _will_fail(W, J.row, J.attempt) else STARTED
            _transition(S, W, j, kind, delay_of_start(S, j))
    elif J.state == STOPPING:
        _transition(S, W, j, STOPPED, g.stop_ms)
    elif J.alarm < NEVER:
        heap_set(W, j, J.alarm, TIMER, J.row)
    else:
        heap_remove(W, j)


@core
def _slow_chain(S: State, j: Int) -> None:
    """Job `j`, which counts its iterations itself, is slowed by the factors."""
    J = S.jobs[j]
    before, begins = J.slow * J.slow_computing, J.off_rate < 0
    feel_factors(S, j)
    if begins or J.slow * J.slow_computing != before:
        log_speed(S, j)


@core
def commit(S: State, W: World) -> None:
    """Carry out the pass: every job it touched, or whose share of a link it changed, gets its rate and next event."""
    if S.g[0].counts_iterations:
        for k in range(S.g[0].dirty):
            if S.jobs[S.lists[DIRTY, k]].state == RUNNING:
                _slow_chain(S, S.lists[DIRTY, k])
    if S.g[0].network != 0:
        call_apart(S.g[0].network, S.g[0].address, SHARE, np.int64(0))
    i = np.int64(0)
    while i < S.g[0].dirty:
        j = S.lists[DIRTY, i]
        if S.jobs[j].state == RUNNING:
            set_rate(S, W, j)
        else:
            forget_off_rate(S, j)
        schedule(S, W, j)
        S.jobs[j].dirty = 0
        i += 1
    S.g[0].dirty = 0
