"""The GPUs that a job holds: taken, given back, and while it stops."""

import numpy as np

from pointsman.engine.actions.claims import CLAIMED, UNCLAIMED
from pointsman.engine.actions.eviction_cache import note_freed
from pointsman.engine.index.bits import count
from pointsman.engine.index.free_gpus import give, take
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.occupancy import occupy, vacate
from pointsman.engine.state.codes import STOPPING
from pointsman.engine.state.records import Int, State
from pointsman.types import Locality

AT_GPU, AT_NODE, AT_RACK, AT_POD, AT_CLUSTER = (int(x) for x in Locality)


@core
def lay_parts(S: State, j: Int) -> None:
    """The record of job `j`, which has no parts, says that it is on the GPUs in State.place."""
    J = S.jobs[j]
    g = S.g[0]
    rack = S.nodes[S.place[0].node].rack
    pod = S.nodes[S.place[0].node].pod
    kind = S.nodes[S.place[0].node].gpu_type
    locality = AT_NODE if g.placed == 1 else AT_RACK
    gpus = np.int64(0)
    for i in range(g.placed - 1, -1, -1):
        P = S.place[i]
        N = S.nodes[P.node]
        part = g.free_part
        g.free_part = S.parts[part].next
        S.parts[part].node = P.node
        S.parts[part].mask = P.mask
        S.parts[part].gpus = P.gpus
        S.parts[part].next = J.part
        J.part = part
        gpus += P.gpus
        if N.pod != pod:
            locality = AT_CLUSTER
        elif N.rack != rack and locality < AT_POD:
            locality = AT_POD
        if N.gpu_type != kind:
            kind = np.int64(-1)
    J.gpus = gpus
    J.nodes = g.placed
    J.locality = AT_GPU if gpus == 1 else locality
    J.gpu_type = kind


@core
def take_place(S: State) -> None:
    """What is free of the GPUs in State.place is free no more."""
    for i in range(S.g[0].placed):
        free = S.place[i].mask & S.nodes[S.place[i].node].free_mask
        if free != 0:
            take(S, S.place[i].node, free, count(free))


@cold
def bind(S: State, j: Int) -> None:
    """Job `j` holds the GPUs in State.place."""
    g = S.g[0]
    lay_parts(S, j)
    for i in range(g.placed - 1, -1, -1):
        occupy(S, j, S.place[i].node, S.place[i].mask)
    S.jobs[j].held_since = g.now
    S.queues[S.jobs[j].queue].held += S.jobs[j].gpus
    g.placed = 0


@cold
def unbind(S: State, j: Int, index: bool) -> None:
    """Job `j` holds no GPUs any more; with `index` they are free in the index too."""
    J = S.jobs[j]
    i = J.part
    while i >= 0:
        P = S.parts[i]
        emptied = vacate(S, j, P.node, P.mask)
        claimed = emptied & S.nodes[P.node].claimed
        if claimed != 0:
            S.g[0].came_free |= CLAIMED
            S.g[0].idle_claimed += count(claimed)
        if index and emptied != claimed:
            give(S, P.node, emptied & ~claimed, count(emptied & ~claimed))
            S.g[0].came_free |= UNCLAIMED
        S.g[0].changes += 1
        if J.state == STOPPING:
            S.g[0].unclaimed -= count(P.mask & ~S.nodes[P.node].claimed)
            S.nodes[P.node].stopping &= ~emptied
        else:  # else others could claim it already; of shared GPUs, who stays may be evicted from all of its own
            note_freed(S, P.node, emptied if S.g[0].jobs_per_gpu == 1 else np.int64(-1), np.int64(-1))
        following = P.next
        P.next = S.g[0].free_part
        S.g[0].free_part = i
        i = following
    S.queues[J.queue].held -= J.gpus
    J.held += J.gpus * (S.g[0].now - J.held_since)
    J.part = -1
    J.gpus = 0


@core
def note_stopping(S: State, j: Int) -> None:
    """What job `j` holds may be claimed."""
    S.g[0].unclaimed += S.jobs[j].gpus
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        S.nodes[P.node].stopping |= P.mask
        note_freed(S, P.node, P.mask, np.int64(-1))
        i = P.next
