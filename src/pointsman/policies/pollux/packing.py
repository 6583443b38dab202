"""Where the jobs of a round go, once it is known how many GPUs each should have (`pollux_search`).

A gang wider than a node has whole nodes, so that no two of them share one: the paper's avoidance of interference. Two
plans are made, one in which jobs that keep their number of GPUs stay where they are, one that packs all afresh.

In a plan a job's s2 is the node it is to be on, NOWHERE or WHOLE_NODES; a node's s0 is the GPUs not yet given away, or
``-1 - job`` where a job is to have all of it.
"""

import numpy as np

from pointsman.policies.pollux.search import (
    ANY,
    fitness,
    fitness_moved,
    fitness_now,
    is_elastic,
    line,
    may_change,
    most_gpus,
    take_back,
    takes,
    unit,
    within_limit,
)
from pointsman.policies.sdk import PENDING, Int, Locality, State, cold, core

NOWHERE, WHOLE_NODES = -1, -2
IN_GPU, IN_NODE, IN_RACK, IN_POD, IN_CLUSTER = (int(x) for x in Locality)


@core
def is_owner(S: State, j: Int, n: Int) -> bool:
    """Whether job `j` is to have all of node `n`."""
    return S.nodes[n].s0 == -1.0 - j


@core
def _all_parts(S: State, j: Int, owned: bool) -> bool:
    """Whether the nodes of job `j` are wholly free for it, or (`owned`) already its own."""
    i = S.jobs[j].part
    while i >= 0:
        N = S.nodes[S.parts[i].node]
        if not (is_owner(S, j, S.parts[i].node) if owned else N.s0 == N.gpus):
            return False
        i = S.parts[i].next
    return True


@cold
def stays(S: State, j: Int) -> bool:
    """Whether the plan leaves job `j` as it is."""
    J = S.jobs[j]
    if J.state == PENDING or J.s1 != J.gpus:
        return J.state == PENDING and J.s1 == 0
    return S.parts[J.part].node == J.s2 if J.nodes == 1 else _all_parts(S, j, True)


@cold
def clear_nodes(S: State) -> None:
    """Nothing is given away: what is free, and what the jobs have of which this round decides."""
    for n in range(S.nodes.shape[0]):
        S.nodes[n].s0 = np.float64(S.nodes[n].free) if S.nodes[n].state == 0 else 0.0
    j = S.buckets[line(S)].first
    while j >= 0:
        if may_change(S, j):
            S.jobs[j].s2 = NOWHERE
            i = S.jobs[j].part
            while i >= 0:
                S.nodes[S.parts[i].node].s0 += S.parts[i].gpus
                i = S.parts[i].next
        j = S.jobs[j].later


@core
def _give_node(S: State, j: Int, n: Int) -> None:
    S.jobs[j].s2 = np.float64(n)
    S.nodes[n].s0 -= S.jobs[j].s1


@cold
def _keep(S: State, j: Int) -> None:
    """Job `j` stays where it is."""
    J = S.jobs[j]
    if J.nodes == 1:
        _give_node(S, j, S.parts[J.part].node)
        return
    if _all_parts(S, j, False):
        J.s2 = WHOLE_NODES
        i = J.part
        while i >= 0:
            S.nodes[S.parts[i].node].s0 = -1.0 - j
            i = S.parts[i].next


@core
def _best_fit(S: State, j: Int) -> Int:
    """The node for what job `j` is to have: its own if there is room, else the fullest with room, else the one with
    most room; -1 if none has any.
    """
    J = S.jobs[j]
    if J.nodes == 1 and J.part >= 0 and S.nodes[S.parts[J.part].node].s0 >= J.s1:
        return S.parts[J.part].node
    fit = most = np.int64(-1)
    for n in range(S.nodes.shape[0]):
        free = S.nodes[n].s0
        if free > 0 and takes(S, j, n):
            if free >= J.s1 and (fit < 0 or free < S.nodes[fit].s0):
                fit = n
            if most < 0 or free > S.nodes[most].s0:
                most = n
    return fit if fit >= 0 else most


@cold
def _put_on_node(S: State, j: Int) -> None:
    """Job `j` goes to one node; if none has enough room, with as many GPUs as there are."""
    J = S.jobs[j]
    n = _best_fit(S, j)
    if n >= 0 and S.nodes[n].s0 < J.s1 and is_elastic(S, j):
        J.s1 = S.nodes[n].s0
    if n >= 0 and S.nodes[n].s0 >= J.s1:
        _give_node(S, j, n)
    else:
        J.s1 = 0.0


@core
def _is_whole(S: State, j: Int, n: Int, size: Int) -> bool:
    """Whether node `n` has `size` GPUs, none of them given away, for job `j`."""
    return S.nodes[n].gpus == size and S.nodes[n].s0 == size and takes(S, j, n)


@core
def _whole_in_rack(S: State, j: Int, rack: Int, size: Int) -> Int:
    nodes = np.int64(0)
    R = S.racks[rack]
    for i in range(R.members, R.members + R.nodes):
        nodes += 1 if _is_whole(S, j, S.ints[i], size) else 0
    return nodes


@core
def _take_in_rack(S: State, j: Int, rack: Int, size: Int, wanted: Int, own: bool) -> Int:
    """Give job `j` up to `wanted` whole nodes of a rack, `own`: of those it is on; how many it got."""
    got = np.int64(0)
    R = S.racks[rack]
    for i in range(R.members, R.members + R.nodes):
        n = S.ints[i]
        if got < wanted and _is_whole(S, j, n, size) and (not own or _is_on(S, j, n)):
            S.nodes[n].s0 = -1.0 - j
            got += 1
    return got


@core
def _is_on(S: State, j: Int, n: Int) -> bool:
    i = S.jobs[j].part
    while i >= 0:
        if S.parts[i].node == n:
            return True
        i = S.parts[i].next
    return False


@core
def _best_rack(S: State, j: Int, size: Int, wanted: Int) -> Int:
    """The rack with the fewest whole nodes that are enough, else with the most; -1 if none has any."""
    enough = most = np.int64(-1)
    least = best = np.int64(0)
    for r in range(S.racks.shape[0]):
        whole = _whole_in_rack(S, j, r, size)
        if whole >= wanted and (enough < 0 or whole < least):
            enough = r
            least = whole
        if whole > best:
            most = r
            best = whole
    return enough if enough >= 0 else most


@cold
def _put_on_nodes(S: State, j: Int) -> None:
    """Job `j` goes to whole nodes, rack by rack, in each first to its own; with too few of them an elastic job has
    fewer, or one node.
    """
    J = S.jobs[j]
    size = unit(S, j)
    wanted = np.int64(np.ceil(J.s1 / size))
    whole = np.int64(0)
    for r in range(S.racks.shape[0]):
        whole += _whole_in_rack(S, j, r, size)
    if whole < wanted and not is_elastic(S, j):
        J.s1 = 0.0
        return
    wanted = min(wanted, whole)
    if wanted <= 1 and is_elastic(S, j):
        J.s1 = np.float64(size)
        _put_on_node(S, j)
        return
    J.s1 = np.float64(wanted * size if is_elastic(S, j) else J.s1)
    J.s2 = WHOLE_NODES
    while wanted > 0:
        r = _best_rack(S, j, size, wanted)
        wanted -= _take_in_rack(S, j, r, size, wanted, True)
        wanted -= _take_in_rack(S, j, r, size, wanted, False)


@cold
def _fill(S: State, j: Int) -> None:
    """Job `j`, on one node, has more of what was left there, if that makes it fitter."""
    J = S.jobs[j]
    best = fitness_now(S, j) if stays(S, j) else fitness_moved(S, j, np.int64(J.s1), planned_locality(S, j))
    size = np.int64(J.s1)
    most = min(size + np.int64(min(S.nodes[np.int64(J.s2)].s0, within_limit(S, j))), most_gpus(S, j))
    for gpus in range(size + 1, most + 1):
        value = fitness_moved(S, j, np.int64(gpus), np.int64(ANY))
        if value > best:
            best = value
            size = np.int64(gpus)
    S.nodes[np.int64(J.s2)].s0 -= size - J.s1
    take_back(S, j, J.s1 - size)
    J.s1 = np.float64(size)


@cold
def pack(S: State, afresh: bool) -> None:
    """Find a place for every job that is to have GPUs, the widest first; those that keep their number stay where they
    are, unless all go `afresh`.
    """
    clear_nodes(S)
    first = S.buckets[line(S)].first
    widest = np.int64(0)
    j = first
    while j >= 0:
        if may_change(S, j):
            widest = max(widest, np.int64(S.jobs[j].s1))
            if not afresh and S.jobs[j].state != PENDING and S.jobs[j].s1 == S.jobs[j].gpus:
                _keep(S, j)
        j = S.jobs[j].later
    for gpus in range(widest, 0, -1):
        j = first
        while j >= 0:
            if S.jobs[j].s1 == gpus and S.jobs[j].s2 == NOWHERE and may_change(S, j):
                if gpus > unit(S, j):
                    _put_on_nodes(S, j)
                else:
                    _put_on_node(S, j)
            j = S.jobs[j].later
    j = first
    while j >= 0:
        if S.jobs[j].s2 >= 0 and may_change(S, j) and is_elastic(S, j):
            _fill(S, j)
        j = S.jobs[j].later


@cold
def planned_locality(S: State, j: Int) -> Int:
    """Of the place that job `j` is to have."""
    if S.jobs[j].s2 != WHOLE_NODES:
        return np.int64(IN_NODE if S.jobs[j].s1 > 1 else IN_GPU)
    first = np.int64(-1)
    locality = np.int64(IN_NODE)
    for n in range(S.nodes.shape[0]):
        if is_owner(S, j, n):
            if first < 0:
                first = n
            elif S.nodes[n].pod != S.nodes[first].pod:
                locality = np.int64(IN_CLUSTER)
            else:
                locality = max(locality, np.int64(IN_RACK if S.nodes[n].rack == S.nodes[first].rack else IN_POD))
    return locality


@cold
def fitness_of_plan(S: State) -> float:
    """The sum over the jobs of which this round decides."""
    total = 0.0
    j = S.buckets[line(S)].first
    while j >= 0:
        if may_change(S, j):
            if stays(S, j):
                total += fitness_now(S, j)
            elif S.jobs[j].s1 == 0:
                total += fitness(S, 0.0)
            else:
                total += fitness_moved(S, j, np.int64(S.jobs[j].s1), planned_locality(S, j))
        j = S.jobs[j].later
    return total
