"""The running jobs that a job on trial may slow: on its nodes, and on the uplinks that it overloads or, under
`node-link`, crosses.
"""

from typing import Final

import numpy as np

from pointsman.policies.placers.declared import PlacerMemory, WhileRunning
from pointsman.policies.sdk import RUNNING, VICTIMS, Int, State, all_send, core, rate_beside_others, view_of
from pointsman.types import Contention

NEIGHBOURS: Final = VICTIMS  # the list of State.lists that they stand in; none is evicted meanwhile
NODE_LINK: Final = int(Contention.NODE_LINK)
memory, running = view_of(PlacerMemory), view_of(WhileRunning)


@core
def begin_decision(S: State) -> None:
    """Rates of running jobs noted so far hold no more, and jobs that began to run at this instant count."""
    all_send(S)
    memory(S).listed_before = memory(S).listed


@core
def _add(S: State, many: Int, k: Int) -> Int:
    """Job `k` is a neighbour, if it runs and is not listed yet."""
    M, K = memory(S), running(S, k)
    if S.jobs[k].state != RUNNING or K.listed == M.listed:
        return many
    if K.listed <= M.listed_before:
        K.before = 0.0
    K.listed = M.listed
    S.lists[NEIGHBOURS, many] = k
    return many + 1


@core
def _add_of_node(S: State, many: Int, n: Int) -> Int:
    for x in range(S.nodes[n].gpu0, S.nodes[n].gpu0 + S.nodes[n].gpus):
        if S.occupants[x, 0] >= 0:
            many = _add(S, many, S.occupants[x, 0])
    return many


@core
def _add_of_uplinks(S: State, many: Int, j: Int) -> Int:
    c = S.flows[j].first
    while c > 0:
        U = S.uplinks[S.crossings[c - 1].uplink]
        felt = U.load > U.capacity or S.g[0].contention == NODE_LINK  # under which it is rings that count
        i = U.first if felt else np.int64(0)
        while i > 0:
            if S.crossings[i - 1].job != j:
                many = _add(S, many, S.crossings[i - 1].job)
            i = S.crossings[i - 1].after
        c = S.crossings[c - 1].next
    return many


@core
def list_neighbours(S: State, j: Int) -> Int:
    """List the neighbours of job `j`, which is on trial; how many."""
    memory(S).listed += 1
    many = np.int64(0)
    if S.g[0].factors > 0:
        i = S.jobs[j].part
        while i >= 0:
            many = _add_of_node(S, many, S.parts[i].node)
            i = S.parts[i].next
    if S.g[0].network != 0 and S.jobs[j].nodes > 1:
        many = _add_of_uplinks(S, many, j)
    return many


@core
def rate_before(S: State, k: Int) -> float:
    """The rate of running job `k` without a trial, worked out once a decision."""
    K = running(S, k)
    if K.before == 0.0:
        K.before = rate_beside_others(S, k)
    return K.before
