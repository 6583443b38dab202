"""Where the jobs of a round go, once it is known how many GPUs each should have (`pollux_search`).

A gang wider than a node has whole nodes, so that no two of them share one: the paper's avoidance of interference. Two
plans are made, one in which jobs that keep their number of GPUs stay where they are, one that packs all afresh.
"""

import numpy as np

from pointsman.policies.pollux.declared import Divided
from pointsman.policies.pollux.search import (
    ANY,
    fitness,
    fitness_moved,
    fitness_now,
    is_elastic,
    kept,
    line,
    may_change,
    most_gpus,
    take_back,
    takes,
    unit,
    within_limit,
)
from pointsman.policies.sdk import PENDING, Int, Locality, State, cold, core, view_of

node = view_of(Divided)
NOWHERE, WHOLE_NODES = -1, -2
IN_GPU, IN_NODE, IN_RACK, IN_POD, IN_CLUSTER = (int(x) for x in Locality)


@core
def is_owner(S: State, j: Int, n: Int) -> bool:
    """Whether job `j` is to have all of node `n`."""
    return node(S, n).left == -1 - j


@core
def _all_parts(S: State, j: Int, owned: bool) -> bool:
    """Whether the nodes of job `j` are wholly free for it, or (`owned`) already its own."""
    i = S.jobs[j].part
    while i >= 0:
        n = S.parts[i].node
        if not (is_owner(S, j, n) if owned else node(S, n).left == S.nodes[n].gpus):
            return False
        i = S.parts[i].next
    return True


@cold
def stays(S: State, j: Int) -> bool:
    """Whether the plan leaves job `j` as it is."""
    J, K = S.jobs[j], kept(S, j)
    if J.state == PENDING or K.gpus != J.gpus:
        return J.state == PENDING and K.gpus == 0
    return S.parts[J.part].node == K.node if J.nodes == 1 else _all_parts(S, j, True)


@cold
def clear_nodes(S: State) -> None:
    """Nothing is given away: what is free, and what the jobs have of which this round decides."""
    for n in range(S.nodes.shape[0]):
        node(S, n).left = S.nodes[n].free if S.nodes[n].state == 0 else 0
    j = S.buckets[line(S)].first
    while j >= 0:
        if may_change(S, j):
            kept(S, j).node = NOWHERE
            i = S.jobs[j].part
            while i >= 0:
                node(S, S.parts[i].node).left += S.parts[i].gpus
                i = S.parts[i].next
        j = S.jobs[j].later


@core
def _give_node(S: State, j: Int, n: Int) -> None:
    kept(S, j).node = n
    node(S, n).left -= kept(S, j).gpus


@cold
def _keep(S: State, j: Int) -> None:
    """Job `j` stays where it is."""
    J = S.jobs[j]
    if J.nodes == 1:
        _give_node(S, j, S.parts[J.part].node)
        return
    if _all_parts(S, j, False):
        kept(S, j).node = WHOLE_NODES
        i = J.part
        while i >= 0:
            node(S, S.parts[i].node).left = -1 - j
            i = S.parts[i].next


@core
def _best_fit(S: State, j: Int) -> Int:
    """The node for what job `j` is to have: its own if there is room, else the fullest with room, else the one with
    most room; -1 if none has any.
    """
    J, wanted = S.jobs[j], kept(S, j).gpus
    if J.nodes == 1 and J.part >= 0 and node(S, S.parts[J.part].node).left >= wanted:
        return S.parts[J.part].node
    fit = most = np.int64(-1)
    for n in range(S.nodes.shape[0]):
        free = node(S, n).left
        if free > 0 and takes(S, j, n):
            if free >= wanted and (fit < 0 or free < node(S, fit).left):
                fit = n
            if most < 0 or free > node(S, most).left:
                most = n
    return fit if fit >= 0 else most


@cold
def _put_on_node(S: State, j: Int) -> None:
    """Job `j` goes to one node; if none has enough room, with as many GPUs as there are."""
    K = kept(S, j)
    n = _best_fit(S, j)
    if n >= 0 and node(S, n).left < K.gpus and is_elastic(S, j):
        K.gpus = node(S, n).left
    if n >= 0 and node(S, n).left >= K.gpus:
        _give_node(S, j, n)
    else:
        K.gpus = 0


@core
def _is_whole(S: State, j: Int, n: Int, size: Int) -> bool:
    """Whether node `n` has `size` GPUs, none of them given away, for job `j`."""
    return S.nodes[n].gpus == size and node(S, n).left == size and takes(S, j, n)


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
            node(S, n).left = -1 - j
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
    K = kept(S, j)
    size = unit(S, j)
    wanted = np.int64(np.ceil(K.gpus / size))
    whole = np.int64(0)
    for r in range(S.racks.shape[0]):
        whole += _whole_in_rack(S, j, r, size)
    if whole < wanted and not is_elastic(S, j):
        K.gpus = 0
        return
    wanted = min(wanted, whole)
    if wanted <= 1 and is_elastic(S, j):
        K.gpus = size
        _put_on_node(S, j)
        return
    K.gpus = wanted * size if is_elastic(S, j) else K.gpus
    K.node = WHOLE_NODES
    while wanted > 0:
        r = _best_rack(S, j, size, wanted)
        wanted -= _take_in_rack(S, j, r, size, wanted, True)
        wanted -= _take_in_rack(S, j, r, size, wanted, False)


@cold
def _fill(S: State, j: Int) -> None:
    """Job `j`, on one node, has more of what was left there, if that makes it fitter."""
    K = kept(S, j)
    best = fitness_now(S, j) if stays(S, j) else fitness_moved(S, j, K.gpus, planned_locality(S, j))
    size = K.gpus
    most = min(size + np.int64(min(np.float64(node(S, K.node).left), within_limit(S, j))), most_gpus(S, j))
    for gpus in range(size + 1, most + 1):
        value = fitness_moved(S, j, np.int64(gpus), np.int64(ANY))
        if value > best:
            best = value
            size = np.int64(gpus)
    node(S, K.node).left -= size - K.gpus
    take_back(S, j, np.float64(K.gpus - size))
    K.gpus = size


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
            widest = max(widest, kept(S, j).gpus)
            if not afresh and S.jobs[j].state != PENDING and kept(S, j).gpus == S.jobs[j].gpus:
                _keep(S, j)
        j = S.jobs[j].later
    for gpus in range(widest, 0, -1):
        j = first
        while j >= 0:
            if kept(S, j).gpus == gpus and kept(S, j).node == NOWHERE and may_change(S, j):
                if gpus > unit(S, j):
                    _put_on_nodes(S, j)
                else:
                    _put_on_node(S, j)
            j = S.jobs[j].later
    j = first
    while j >= 0:
        if kept(S, j).node >= 0 and may_change(S, j) and is_elastic(S, j):
            _fill(S, j)
        j = S.jobs[j].later


@cold
def planned_locality(S: State, j: Int) -> Int:
    """Return the locality of the place that is planned for job `j`."""
    if kept(S, j).node != WHOLE_NODES:
        return np.int64(IN_NODE if kept(S, j).gpus > 1 else IN_GPU)
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
            elif kept(S, j).gpus == 0:
                total += fitness(S, 0.0)
            else:
                total += fitness_moved(S, j, kept(S, j).gpus, planned_locality(S, j))
        j = S.jobs[j].later
    return total
