"""The running jobs that a job on trial may slow: on its nodes, and on the uplinks that it overloads or, under
`node-link`, crosses.
"""

from typing import Final

import numpy as np

from pointsman.policies.sdk import RUNNING, VICTIMS, Int, State, all_send, core, rate_beside_others
from pointsman.types import Contention

NEIGHBOURS: Final = VICTIMS  # the list of State.lists that they stand in; none is evicted meanwhile
NODE_LINK: Final = int(Contention.NODE_LINK)
STAMP, DECISION = 96, 97
"""Where in State.memory the number of the last list stands, and that of the last before this decision."""


@core
def begin_decision(S: State) -> None:
    """Rates of running jobs noted so far hold no more, and jobs that began to run at this instant count."""
    all_send(S)
    S.memory[DECISION] = S.memory[STAMP]


@core
def _add(S: State, many: Int, k: Int) -> Int:
    """Job `k` is a neighbour, if it runs and is not listed yet."""
    K = S.jobs[k]
    if K.state != RUNNING or K.s3 == S.memory[STAMP]:
        return many
    if K.s3 <= S.memory[DECISION]:
        K.s1 = 0.0
    K.s3 = S.memory[STAMP]
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
    S.memory[STAMP] += 1.0
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
    K = S.jobs[k]
    if K.s1 == 0.0:
        K.s1 = rate_beside_others(S, k)
    return K.s1
