"""The loop of a run, compiled once for all policies."""

import numpy as np

from pointsman.engine.jit.compile import cold, core, exported
from pointsman.engine.run.loop.instants import ADVANCE, COMMIT, REVIEW_CLAIMS, instant, log_is_full, next_time
from pointsman.engine.run.sampling import sample
from pointsman.engine.run.stops import AUDIT_FAILED, DECISIONS, DONE, HOSTED, LOG_FULL, UNTIL
from pointsman.engine.state.codes import DECISIONS_OUTSIDE
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import ALERT, AUDIT, Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state, open_world


@core
def _passes_over(S: State) -> bool:
    """Whether the policy is not asked at this instant: others decide, or it waits for the next round, which there will
    be.
    """
    g = S.g[0]
    if g.outside == DECISIONS_OUTSIDE:
        return True
    if g.round_ms == 0 or g.now % g.round_ms == 0:
        return False
    following = g.now - g.now % g.round_ms + g.round_ms
    if following < g.wake:
        g.wake = following
    return True


@core
def _decide(address: Int) -> None:
    """Let the policy decide."""
    S = open_state(address)
    if S.g[0].claims > 0 and S.g[0].came_free != 0:
        instant(S, np.int64(REVIEW_CLAIMS), np.int64(0))
    hook = S.g[0].decide
    if hook != 0:
        call_apart(hook, address, np.int64(0), np.int64(0))


@cold
def _inspect(address: Int) -> None:
    """Sample the state if a sample is due, audit it if asked for."""
    S = open_state(address)
    W = open_world(address)
    if S.g[0].now >= W.clock[0].sample_next:
        sample(S, W)
    if W.clock[0].audit:
        W.clock[0].audit_failed = call_apart(S.g[0].audit, address, np.int64(0), np.int64(0))
        if W.clock[0].audit_failed == 0 and S.g[0].network != 0:
            W.clock[0].audit_failed = call_apart(S.g[0].network, address, AUDIT, np.int64(0))


@exported("int64(int64, int64, int64)", releases_gil=True)
def run(address: Int, until: Int, decisions: Int) -> Int:
    """Simulate until `until` (ms) or until the compiled policy has made `decisions` decisions.

    With `decisions` 0, carry out the last scheduling cycle of a hosted policy and simulate to its next decision. Return
    why the loop stopped.
    """
    S = open_state(address)
    W = open_world(address)
    C = W.clock[0]
    made = np.int64(0)
    while True:
        stop = instant(S, np.int64(COMMIT), np.int64(0))
        if stop != DONE:
            return stop
        if S.g[0].now >= C.sample_next or C.audit:
            _inspect(address)
            if C.audit_failed != 0:
                return AUDIT_FAILED
        if made >= decisions > 0:
            return DECISIONS
        t = next_time(S, W)
        if t >= NEVER:
            return DONE
        if t > until:
            return UNTIL
        if log_is_full(S):
            return LOG_FULL
        before = C.events
        stop = instant(S, np.int64(ADVANCE), t)
        if stop != DONE:
            return stop
        if S.g[0].counts_iterations:
            C.events += call_apart(S.g[0].network, address, ALERT, np.int64(0))
            if C.events == before:  # there were but steps
                made += 1
                continue
        if not _passes_over(S):
            C.decisions += 1
            if decisions == 0:
                return HOSTED
            made += 1
            _decide(address)
