"""LWF-κ: where waiting jobs go, shortest service first (Wang et al., arXiv 2002.10105), and the choices it is
measured against.

A GPU's workload is what the jobs on it have left to compute and to send. Jobs of at most κ GPUs take the GPUs with
the least, wherever they are; wider ones go to the nodes with the least on average, so that they span few of them.
"""

import numpy as np

from pointsman.policies.lwf.declared import LoadedGpu, LoadedNode, Lwf
from pointsman.policies.sdk import (
    ACCUMULATIONS,
    OK,
    PENDING,
    QUOTA,
    Event,
    Int,
    State,
    bit,
    bytes_of,
    choice,
    close_queue,
    cold,
    core,
    count,
    insert,
    iterations_left,
    jobs_on,
    row_of,
    service_left,
    start_on,
    view_of,
)

params, node, gpu = view_of(Lwf), view_of(LoadedNode), view_of(LoadedGpu)
LWF, FIRST_FIT, RANDOM = (choice(Lwf, "choice", word) for word in ("lwf", "first-fit", "random"))
Rank = tuple[float, float, float, float]
ONLY_TRANSFERS = 1 << int(Event.TRANSFER)


@core
def wait(S: State, j: Int) -> None:
    """Job `j`, if it waits, does so in the order of its service; those of all queues stand in one line."""
    J = S.jobs[j]
    if J.state == PENDING and J.bucket < 0:
        J.key = service_left(S, j)
        J.aux = np.inf
        insert(S, S.g[0].classes, j)


@core
def _workload(S: State, j: Int) -> float:
    """Ms that placed job `j` is told to need each of its GPUs, or the network, still."""
    X = S.steps[row_of(S, j)]
    return iterations_left(S, j) * (X.fw + X.bw + (np.ceil(X.transfer_ms) if S.jobs[j].nodes > 1 else 0.0))


@core
def _average(S: State, n: Int) -> None:
    """The mean workload of the GPUs of node `n`."""
    N = S.nodes[n]
    total = 0.0
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        total += gpu(S, x).workload
    node(S, n).workload = total / N.gpus


@core
def _weigh(S: State) -> None:
    """The workload of every GPU and node."""
    for x in range(S.gpus.shape[0]):
        load = 0.0
        for o in range(jobs_on(S, x)):
            load += _workload(S, S.occupants[x, o])
        gpu(S, x).workload = load
    for n in range(S.nodes.shape[0]):
        _average(S, n)


@core
def _load(S: State, j: Int) -> None:
    """Job `j`, just started, adds to the workload of its GPUs."""
    more = _workload(S, j)
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        N = S.nodes[P.node]
        for b in range(N.gpus):
            if P.mask & bit(b) != 0:
                gpu(S, N.gpu0 + b).workload += more
        _average(S, P.node)
        i = P.next


@core
def _has_room(S: State, j: Int, n: Int, b: Int) -> bool:
    """Whether GPU `b` of node `n` can take job `j` too."""
    N = S.nodes[n]
    x = N.gpu0 + b
    if jobs_on(S, x) == 0:
        return N.free_mask & bit(b) != 0
    return jobs_on(S, x) < S.g[0].jobs_per_gpu and S.gpus[x].free_bytes >= bytes_of(S, j, n)


@core
def _chance(S: State, j: Int, x: Int) -> float:
    """A number drawn for job `j` and GPU `x`."""
    J = S.jobs[j]
    h = (J.row * 2654435761 + J.attempt * 40503 + x * 97003 + params(S).random_seed * 7919) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    return np.float64(h ^ (h >> 16))


@core
def _rank(S: State, j: Int, n: Int, x: Int) -> Rank:
    """By what job `j` chooses among GPUs, the least first: of node `n`, the node, and of GPU `x` on it, the GPU."""
    P = params(S)
    if P.choice == LWF and S.jobs[j].asked > P.kappa:
        return node(S, n).workload, np.float64(n), gpu(S, x).workload, np.float64(x)
    if P.choice == RANDOM:
        return 0.0, 0.0, _chance(S, j, x), np.float64(x)
    return 0.0, 0.0, 0.0 if P.choice == FIRST_FIT else gpu(S, x).workload, np.float64(x)


@core
def _goes_before(a: Rank, b: Rank) -> bool:
    for i in range(4):
        if a[i] != b[i]:
            return a[i] < b[i]
    return False


@core
def _admits(S: State, a: Int, n: Int) -> bool:
    """Whether alternative `a` admits node `n`, which takes work."""
    for i in range(S.alts[a].pool, S.alts[a].pool_end):
        if S.ints[i] == S.nodes[n].pool:
            return S.nodes[n].state == 0
    return False


@core
def _room(S: State, j: Int, a: Int) -> Int:
    """On how many GPUs of alternative `a` job `j` has room; of a shape, on those of nodes with room for its part."""
    gpus = np.int64(0)
    for n in range(S.nodes.shape[0]):
        if _admits(S, a, n):
            here = np.int64(0)
            for b in range(S.nodes[n].gpus):
                here += 1 if _has_room(S, j, n, b) else 0
            per_node = S.classes[S.jobs[j].cls].per_node
            gpus += here if per_node == 0 else (per_node if here >= per_node else 0)
    return gpus


@core
def _next_best(S: State, j: Int, a: Int, last: Rank) -> Rank:
    """Return the next rank after `last` of a GPU of alternative `a` with room for job `j`; all infinite if none is."""
    best = (np.inf, np.inf, np.inf, np.inf)
    for n in range(S.nodes.shape[0]):
        if _admits(S, a, n):
            for b in range(S.nodes[n].gpus):
                if _has_room(S, j, n, b):
                    rank = _rank(S, j, n, S.nodes[n].gpu0 + b)
                    if _goes_before(last, rank) and _goes_before(rank, best):
                        best = rank
    return best


@core
def _node_of(S: State, x: Int) -> Int:
    """The node of GPU `x`."""
    n = np.int64(0)
    while S.nodes[n].gpu0 + S.nodes[n].gpus <= x:
        n += 1
    return n


@core
def _note(S: State, x: Int) -> None:
    """GPU `x` is part of the place of the job."""
    g = S.g[0]
    n = _node_of(S, x)
    i = np.int64(0)
    while i < g.placed and S.place[i].node != n:
        i += 1
    if i == g.placed:
        g.placed += 1
        S.place[i].node = n
        S.place[i].mask = 0
    S.place[i].mask |= bit(x - S.nodes[n].gpu0)


@core
def _in_shape(S: State, nodes: Int, per_node: Int) -> bool:
    """Return whether at least `nodes` nodes in State.place give `per_node` GPUs or more."""
    ready = np.int64(0)
    for i in range(S.g[0].placed):
        ready += count(S.place[i].mask) >= per_node
    return bool(ready >= nodes)


@core
def _keep_shape(S: State, per_node: Int) -> None:
    """Keep in State.place only the nodes that give exactly `per_node` GPUs."""
    kept = np.int64(0)
    for i in range(S.g[0].placed):
        if count(S.place[i].mask) == per_node:
            S.place[kept].node = S.place[i].node
            S.place[kept].mask = S.place[i].mask
            kept += 1
    S.g[0].placed = kept


@core
def _count_placed(S: State, n: Int) -> Int:
    """GPUs of node `n` in State.place."""
    for i in range(S.g[0].placed):
        if S.place[i].node == n:
            return count(S.place[i].mask)
    return np.int64(0)


@core
def _choose_shape(S: State, j: Int, a: Int) -> None:
    """Note GPUs for job `j`, the best first, until enough nodes give their part of its shape; no node gives more."""
    C = S.classes[S.jobs[j].cls]
    last = (-1.0, -1.0, -1.0, -1.0)
    while not _in_shape(S, C.nodes, C.per_node):
        last = _next_best(S, j, a, last)
        if _count_placed(S, _node_of(S, np.int64(last[3]))) < C.per_node:
            _note(S, np.int64(last[3]))
    _keep_shape(S, C.per_node)


@core
def _choose(S: State, j: Int) -> bool:
    """Choose GPUs for job `j`, in the first of its alternatives that has room for it; whether there is one."""
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        if _room(S, j, a) >= C.gpus:
            S.g[0].placed = 0
            if C.per_node > 0:
                _choose_shape(S, j, np.int64(a))
                return True
            last = (-1.0, -1.0, -1.0, -1.0)
            for _ in range(C.gpus):
                last = _next_best(S, j, a, last)
                _note(S, np.int64(last[3]))
            return True
    return False


@core
def _bytes(S: State, j: Int) -> tuple[Int, Int]:
    """GPU memory that job `j` takes: on the type of GPU where it takes least, and where it takes most."""
    least = most = S.subbatches[S.jobs[j].speed * ACCUMULATIONS].bytes
    for kind in range(1, S.g[0].types):
        size = S.subbatches[(S.jobs[j].speed + kind) * ACCUMULATIONS].bytes
        least = min(least, size)
        most = max(most, size)
    return least, most


@cold
def place_waiting(S: State) -> None:
    """Start waiting jobs, shortest service first, wherever they have room; who has none is passed over."""
    g = S.g[0]
    if g.pending == 0 or g.happened == ONLY_TRANSFERS:
        return
    _weigh(S)
    group = gpus = size = np.int64(-1)  # of the last job that had no room: none does that asks for as much
    j = S.buckets[g.classes].first
    while j >= 0:
        after = S.jobs[j].later
        J = S.jobs[j]
        C = S.classes[J.cls]
        hopeless = C.group == group and C.gpus >= gpus and _bytes(S, j)[0] >= size
        if not hopeless and S.queues[J.queue].closed != g.pass_id:
            if not _choose(S, j):
                group = C.group
                gpus = C.gpus
                size = _bytes(S, j)[1]
            elif start_on(S, j, OK) == QUOTA:
                close_queue(S, j)
            else:
                _load(S, j)
        j = after
