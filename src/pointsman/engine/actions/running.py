"""A running job: its begin and end, which the factors of the run hear of, its progress, and what it may lose."""

import numpy as np

from pointsman.engine.jit.compile import cold, core
from pointsman.engine.state.codes import RUNNING
from pointsman.engine.state.records import BEGIN, CEASE, FACTOR_SHIFT, LEAVE, Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state


@cold
def _tell_factors(address: Int, what: Int, j: Int) -> None:
    S = open_state(address)
    for f in range(S.g[0].factors):
        call_apart(S.factors[f].unit, address, np.int64(f << FACTOR_SHIFT | what), j)


@core
def begin_running(S: State, j: Int) -> None:
    """Job `j` runs from now on, where it is."""
    if S.g[0].factors > 0:
        _tell_factors(S.g[0].address, np.int64(BEGIN), j)


@core
def cease_running(S: State, j: Int) -> None:
    """Job `j`, which runs, is about to be stopped, to end or to change its GPUs."""
    if S.g[0].factors > 0:
        _tell_factors(S.g[0].address, np.int64(CEASE), j)


@core
def leave_network(S: State, j: Int) -> None:
    """Job `j` sends no more."""
    g = S.g[0]
    if g.network != 0 and S.flows[j].first != 0:
        call_apart(g.network, g.address, LEAVE, j)


@core
def work_done(S: State, j: Int) -> float:
    """Nominal ms that running job `j` has done by now, in whole 1/1024 ms: sums of times and work stay exact, and so
    do comparisons between them.
    """
    J = S.jobs[j]
    return J.done_when_rated + np.floor(J.rate * (S.g[0].now - J.rated) * 1024.0) / 1024.0


@cold
def _count_slowed(address: Int, j: Int, elapsed: Int) -> None:
    """Count what the factors on iterations cost job `j` of the time that it has run, and of the rest those on
    computing.
    """
    J = open_state(address).jobs[j]
    if J.slow > 1.0:
        J.slowed += (1.0 - 1.0 / J.slow) * elapsed
    if J.slow_computing > 1.0:
        J.slowed += (1.0 - 1.0 / J.slow_computing) * (1.0 - J.waits) * elapsed / J.slow


@core
def settle(S: State, j: Int) -> None:
    """Count the progress of job `j` up to now."""
    J = S.jobs[j]
    now = S.g[0].now
    elapsed = now - J.settled
    if elapsed > 0:
        if J.state == RUNNING:
            J.done = work_done(S, j)
            J.attained += J.gpus * elapsed
            J.executed += elapsed
            J.waited += J.waits * elapsed
            if S.g[0].factors > 0 and not S.g[0].counts_iterations:  # chains count it themselves
                _count_slowed(S.g[0].address, j, elapsed)
        J.settled = now


@core
def since_checkpoint(S: State, j: Int, done: float) -> float:
    """Nominal ms of work since the last checkpoint of job `j`, which runs and has done so much; 0 if it writes none."""
    every, work = S.g[0].checkpoint_ms, done - S.jobs[j].restored
    return work - np.floor(work / every) * every if every > 0.0 else 0.0


@core
def at_risk(S: State, j: Int, done: float) -> float:
    """Nominal ms of work that job `j`, which runs and has done so much, would lose by a preemption."""
    lost = S.g[0].lost_ms
    if S.g[0].loses_since_checkpoint:
        lost += since_checkpoint(S, j, done)
    return min(lost, done)


@core
def lose(S: State, j: Int, work: float) -> None:
    """Job `j` loses so much of what it has done."""
    J = S.jobs[j]
    J.reached = max(J.reached, J.done)
    J.done -= work
    J.lost += work
