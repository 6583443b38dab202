"""Jobs take the places that others gave them: in a state that has not begun, or later (`pointsman.live.world`)."""

from pointsman.engine.actions.held_gpus import bind, note_stopping, take_place
from pointsman.engine.actions.running import begin_running
from pointsman.engine.actions.verbs import commence, cut_short
from pointsman.engine.estimates.history import FORETELL
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import exported
from pointsman.engine.run.loop import job_events
from pointsman.engine.state.codes import OK, PENDING, RUNNING, STARTING, STOPPING
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import call_apart, open_state, open_world


@exported("int64(int64, int64)")
def begin(address: Int, row: Int) -> Int:
    """The slot that the job of `row` of the trace has from now on; nothing has happened to it."""
    S = open_state(address)
    j = job_events.take_slot(S)
    job_events.begin(S, open_world(address), j, row)
    return j


@exported("void(int64, int64)")
def seat(address: Int, j: Int) -> None:
    """The job in slot `j`, whose record says what has happened to it, is in its state, on the GPUs in State.place.
    `adopting.adopt` is to follow.
    """
    S = open_state(address)
    J = S.jobs[j]
    g = S.g[0]
    if g.history != 0:  # which learns of the job at its end by what it notes now
        known = J.estimate
        call_apart(g.history, g.address, FORETELL, j)
        if known == known:
            J.estimate = known
    if J.state == PENDING:
        g.pending += 1
        g.queued_gpus += J.asked
        return
    if g.placed == 0:  # it is HELD
        return
    take_place(S)
    since = J.held_since
    bind(S, j)
    J.held_since = since
    if J.state == RUNNING:
        g.running += 1
        begin_running(S, j)
        mark(S, j)
    elif J.state == STARTING:
        g.starting += 1
    elif J.state == STOPPING:
        g.stopping += 1
        note_stopping(S, j)


@exported("void(int64, int64)")
def start(address: Int, j: Int) -> None:
    """Waiting job `j` starts on the free GPUs in State.place, whatever the policy would have decided."""
    S = open_state(address)
    take_place(S)
    commence(S, j, OK)


@exported("void(int64, int64)")
def preempt(address: Int, j: Int) -> None:
    """Running job `j` is preempted, whatever the policy would have decided."""
    cut_short(open_state(address), j, OK, True)
