"""What speaks against a candidate placement: six numbers (`Features`)."""

import numpy as np

from pointsman.policies.placers.candidates.neighbours import NEIGHBOURS, list_neighbours, rate_before
from pointsman.policies.placers.declared import Features, PlacerMemory, WhileRunning
from pointsman.policies.placers.sockets import broken_sockets
from pointsman.policies.sdk import Int, State, cold, core, rate_beside_others, take_off, try_on, view_of, work_done

memory, running = view_of(PlacerMemory), view_of(WhileRunning)


@core
def _left_ms(S: State, j: Int) -> float:
    """Nominal ms of work that job `j` has left by what is known of its duration, at least 1."""
    J = S.jobs[j]
    done = work_done(S, j) if J.gpus > 0 else J.done
    return max(1.0, J.estimate - done) if J.estimate > 0.0 else 1.0


@core
def _delay(S: State, k: Int, own_ms: float) -> float:
    """Ms by which job `k` ends later if for `own_ms`, or until it ends, it runs at its rate beside the trial."""
    before, beside = rate_before(S, k), running(S, k).beside
    if beside >= before:
        return 0.0
    together = min(own_ms, _left_ms(S, k) / before)
    return together * (before - beside) / beside


@core
def _try(S: State, j: Int, F: Features) -> None:
    """Slow-down and harm of job `j` where State.place says."""
    before = try_on(S, j)
    rate = rate_beside_others(S, j)
    many = list_neighbours(S, j)
    for i in range(many):
        k = S.lists[NEIGHBOURS, i]
        running(S, k).beside = rate_beside_others(S, k)
    take_off(S, j, before)
    work = _left_ms(S, j)
    harm = 0.0
    for i in range(many):
        harm += _delay(S, S.lists[NEIGHBOURS, i], work / rate)
    F.slow_down = 1.0 / rate - 1.0
    F.harm = harm / work


@core
def _span(S: State, F: Features) -> None:
    """What State.place says of servers, racks, GPUs and sockets."""
    racks = left = broken = np.int64(0)
    last = np.int64(-1)
    for i in range(S.g[0].placed):
        P = S.place[i]
        N = S.nodes[P.node]
        racks += 1 if N.rack != last else 0
        last = N.rack
        left += N.free - P.gpus
        broken += broken_sockets(S, P.node, P.mask)
    F.servers = S.g[0].placed - 1.0
    F.racks = racks - 1.0
    F.left = left / 8.0
    F.broken = broken / 4.0


@cold
def measure(S: State, j: Int, i: Int) -> None:
    """Write the features of candidate `i` of waiting job `j`, whose nodes stand in State.place in the order of their
    index.
    """
    F = features_of(S, i)
    _try(S, j, F)
    _span(S, F)


@core
def features_of(S: State, i: Int) -> Features:
    """Those of candidate `i`."""
    return memory(S).features[i]
