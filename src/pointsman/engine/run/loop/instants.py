"""From one instant to the next: all its events are applied in order."""

import numpy as np

from pointsman.engine.actions.claims import review_claims
from pointsman.engine.index.event_heap import TOP, top_kind, top_slot
from pointsman.engine.jit.compile import core, exported
from pointsman.engine.run.loop.event_kinds import STEP, TIMER
from pointsman.engine.run.loop.hooks import tell
from pointsman.engine.run.loop.job_events import apply, submit
from pointsman.engine.run.loop.rating import commit
from pointsman.engine.run.stops import DONE, INBOX_FULL, LOG_FULL, WRONG_FACTOR
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import Int, State, World
from pointsman.engine.state.state_pointer import call_apart, open_world

COMMIT, ADVANCE, REVIEW_CLAIMS = 0, 1, 2
"""What `instant` is asked for: all that happens at an instant but the decision, compiled once for all loops."""


@core
def next_time(S: State, W: World) -> Int:
    """When the next event is due; NEVER if there is none."""
    C = W.clock[0]
    t = S.g[0].wake
    if C.arrived < C.jobs and W.trace[C.arrived & S.g[0].row_mask].submit < t:
        t = W.trace[C.arrived & S.g[0].row_mask].submit
    if W.heap[TOP].time < t:
        t = W.heap[TOP].time
    if C.scripted < C.script and W.script[C.scripted].time < t:
        t = W.script[C.scripted].time
    return t


@core
def _script_is_next(W: World, t: Int) -> bool:
    """Whether a scripted event of instant `t` comes before the top of the heap."""
    C = W.clock[0]
    if C.scripted >= C.script or W.script[C.scripted].time > t:
        return False
    return W.heap[TOP].time > t or top_kind(W) > W.script[C.scripted].kind


@core
def _may_overflow(S: State, rows: Int, room: Int) -> bool:
    """Whether the rows of one instant might not fit behind `rows` rows, where there is `room`."""
    return rows + 8 * S.g[0].jobs_per_gpu * S.gpus.shape[0] + 1024 > room


@core
def log_is_full(S: State) -> bool:
    """Whether a log might not hold another instant."""
    if S.g[0].log_speeds and _may_overflow(S, S.g[0].speeds_logged, np.int64(S.speed_log.shape[0])):
        return True
    return S.g[0].log_on and _may_overflow(S, S.g[0].logged, np.int64(S.log.shape[0]))


@core
def _inbox_is_full(S: State) -> bool:
    """Whether the inbox of a hosted policy might not hold one more node's worth of events."""
    return S.g[0].inbox_on and S.g[0].inbox + S.g[0].jobs_per_gpu * S.gpus.shape[0] + 2 > S.inbox.shape[0]


@core
def _inbox_is_short(S: State) -> bool:
    """Whether an inbox that holds events of earlier instants might not hold those of another."""
    return S.g[0].inbox + 2 * S.g[0].jobs_per_gpu * S.gpus.shape[0] + 1024 > S.inbox.shape[0]


@core
def advance(S: State, W: World, t: Int, address: Int) -> Int:
    """Apply all events of instant `t`. DONE, or what must be made room for before it is called again."""
    g = S.g[0]
    C = W.clock[0]
    if not C.resume:
        g.happened = 0
        if g.round_ms == 0 or g.now % g.round_ms == 0:  # else the events before were not told
            g.inbox = 0
        g.pass_id += 1
    C.resume = 0
    g.now = t
    if g.inbox > 0 and _inbox_is_short(S):
        C.resume = 1
        return INBOX_FULL
    while True:
        if _script_is_next(W, t):
            C.resume = 1
            if log_is_full(S):
                return LOG_FULL
            if _inbox_is_full(S):
                return INBOX_FULL
            C.resume = 0
            call_apart(g.scripted_events, address, np.int64(0), np.int64(0))
        elif W.heap[TOP].time <= t:
            kind = top_kind(W)
            apply(S, W, top_slot(W), kind)
            if kind == STEP:
                continue  # policies are not told of it
        else:
            break
        C.events += 1
    if g.wake <= t:
        g.wake = NEVER
        C.events += 1
        tell(S, TIMER, np.int64(-1))
    while C.arrived < C.jobs and W.trace[C.arrived & S.g[0].row_mask].submit <= t:
        if _inbox_is_full(S):
            C.resume = 1
            return INBOX_FULL
        C.events += 1
        submit(S, W)
    return DONE


@exported("int64(State, int64, int64)")
def instant(S: State, what: Int, t: Int) -> Int:
    """COMMIT: carry out the scheduling cycle; DONE or WRONG_FACTOR. ADVANCE: apply all events of `t`, and answer
    as `advance`. REVIEW_CLAIMS: see `claims.review_claims`.
    """
    if what == REVIEW_CLAIMS:
        review_claims(S.g[0].address)
        return np.int64(DONE)
    W = open_world(S.g[0].address)
    if what == COMMIT:
        commit(S, W)
        return np.int64(DONE if S.g[0].wrong_factor == 0 else WRONG_FACTOR)
    return np.int64(advance(S, W, t, S.g[0].address))
