"""How fast jobs would run with one more among them, which is put on trial on GPUs and taken off again.

What a trial changes it puts back: afterwards the state is as before, but for scratch. On links the forecast is ours:
a ring is held back by the worst of its uplinks alone, by what is wanted of it, while max-min fair shares may leave it
more.
"""

import numpy as np

from pointsman.engine.actions.held_gpus import lay_parts
from pointsman.engine.actions.running import begin_running, cease_running
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.rate_models.felt_factors import ask_factors
from pointsman.engine.rate_models.links.rings import DUTY_CYCLE, LEVEL, join, leave, worst_uplink
from pointsman.engine.rate_models.rates import iteration_s, rate_at
from pointsman.engine.state.codes import RUNNING
from pointsman.engine.state.records import DIRTY, OF_RUN, Int, State

Trial = tuple[Int, Int, Int, Int, Int]
"""How many jobs and uplinks were marked before it; GPU type, nodes and locality of the job's last place."""


@core
def _has_ring(S: State, j: Int) -> bool:
    """Whether job `j` may send over links that jobs share."""
    return S.g[0].network != 0 and not S.g[0].counts_iterations and S.jobs[j].nodes > 1


@cold
def try_on(S: State, j: Int) -> Trial:
    """Waiting job `j` is on the GPUs in State.place, which stay free, until `take_off`: what it takes of nodes and
    links is counted, and no job's speed has changed.
    """
    J = S.jobs[j]
    before = (S.g[0].dirty, S.g[0].changed_uplinks, J.gpu_type, J.nodes, J.locality)
    lay_parts(S, j)
    begin_running(S, j)
    if _has_ring(S, j):
        join(S, j)
    return before


@cold
def take_off(S: State, j: Int, before: Trial) -> None:
    """Job `j` is on trial no more; `before` is what `try_on` answered."""
    J = S.jobs[j]
    g = S.g[0]
    if _has_ring(S, j):
        leave(S, j)
    cease_running(S, j)
    while J.part >= 0:
        part = J.part
        J.part = S.parts[part].next
        S.parts[part].next = g.free_part
        g.free_part = part
    J.gpus = 0
    J.gpu_type, J.nodes, J.locality = before[2], before[3], before[4]
    while g.dirty > before[0]:
        g.dirty -= 1
        S.jobs[S.lists[DIRTY, g.dirty]].dirty = 0
    while g.changed_uplinks > before[1]:
        g.changed_uplinks -= 1
        S.uplinks[S.changed_uplinks[g.changed_uplinks]].changed = 0


@cold
def slowed_beside_others(S: State, j: Int) -> float:
    """How many times as long job `j`, running or on trial, takes where it is by the factors that policies forecast by:
    those of the run, unless the policy has brought others.
    """
    J = S.jobs[j]
    slow, computing = J.slow, J.slow_computing
    ask_factors(S, j, np.int64(OF_RUN))
    found = J.slow * J.slow_computing
    J.slow = slow
    J.slow_computing = computing
    return found


@cold
def rate_beside_others(S: State, j: Int) -> float:
    """Nominal ms that job `j`, running or on trial, would do in a ms where it is, with all that run or are on trial."""
    J = S.jobs[j]
    slow, computing = J.slow, J.slow_computing
    if S.g[0].factors > 0:
        ask_factors(S, j, np.int64(OF_RUN))
    if _has_ring(S, j) and S.flows[j].first > 0:
        L = S.flows[j]
        stretch, slowdown = L.stretch, L.slowdown
        worst = worst_uplink(S, j)
        whole = S.g[0].contention == DUTY_CYCLE
        L.stretch = 1.0 if whole else worst
        L.slowdown = worst if whole else 1.0
        rate = rate_at(S, j, iteration_s(S, j) * J.slow)
        L.stretch = stretch
        L.slowdown = slowdown
    else:
        rate = rate_at(S, j, iteration_s(S, j) * J.slow)
    J.slow = slow
    J.slow_computing = computing
    return rate


@core
def send_at_once(S: State, j: Int) -> None:
    """Job `j`, just started, sends from now on, not only after the cycle: later trials of the cycle find it there."""
    if _has_ring(S, j) and S.jobs[j].state == RUNNING and S.flows[j].first == 0:
        join(S, j)


@core
def all_send(S: State) -> None:
    """Jobs that began to run at this instant send from now on, not only after the cycle, as do all that run."""
    if S.g[0].network != 0:
        for i in range(S.g[0].dirty):
            send_at_once(S, S.lists[DIRTY, i])


@core
def card_overload(S: State, n: Int) -> float:
    """How many times over the network card of node `n`, of two the more wanted one, is wanted by the rings of running
    jobs, at least 1.
    """
    contention = S.g[0].contention
    if S.g[0].network == 0 or S.g[0].counts_iterations or contention == LEVEL:
        return 1.0
    worst = max(1.0, S.uplinks[n].load / S.uplinks[n].capacity)
    if S.g[0].bcube > 0:
        second = S.nodes.shape[0] + n
        worst = max(worst, S.uplinks[second].load / S.uplinks[second].capacity)
    return worst
