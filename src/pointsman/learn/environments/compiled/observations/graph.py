"""The topology as a padded graph: the tree of nodes, racks and the cluster, with what is free and for how long the rest
is busy; the jobs of the window and a few numbers besides. For networks on graphs.

Vertices are 128 nodes, 64 racks and the cluster; where there are more nodes or racks, neighbours share a vertex.
"""

import numpy as np

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.features.jobs import (
    GLOBALS,
    JOB_FEATURES,
    write_globals,
    write_jobs,
)
from pointsman.learn.environments.compiled.features.scale import of_time
from pointsman.policies.parts.time_left import ms_left

NODES, RACKS = 128, 64
TOP = NODES + RACKS
VERTICES, EDGES = TOP + 1, TOP
VERTEX_FEATURES = 4
END = VERTICES * VERTEX_FEATURES
"""Where the edges begin."""


def shapes(slots: int) -> dict[str, tuple[int, ...]]:
    """`node_feat`: of each vertex its share of the cluster's GPUs, the share of these that is free, how long the others
    are busy in the mean (a minute to ten days), whether it exists. `edge_index`: of each edge the lower and the upper
    vertex, over 192, the last of them. `edge_mask`: whether it exists. `jobs` and `globals`: see `features`.
    """
    return {
        "node_feat": (VERTICES, VERTEX_FEATURES),
        "edge_index": (2, EDGES),
        "edge_mask": (EDGES,),
        "jobs": (slots, JOB_FEATURES),
        "globals": (GLOBALS,),
    }


@core
def _vertex(i: Int, many: Int, room: Int) -> Int:
    """Return the vertex of node or rack `i` of `many`: its own, or one of `room` that it shares with neighbours."""
    return i if many <= room else i * room // many


@core
def _add_node(S: State, n: Int, vertex: Int, out: np.ndarray) -> None:
    """Count the GPUs of node `n`, those free, and the scaled times of the others, as parts of `vertex`."""
    N = S.nodes[n]
    at = vertex * VERTEX_FEATURES
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        j = S.occupants[x, 0]
        if j >= 0:
            out[at + 2] += of_time(ms_left(S, j))
        elif N.state == 0:
            out[at + 1] += 1.0
    out[at] += N.gpus
    out[at + 3] = 1.0


@core
def _join(lower: Int, upper: Int, out: np.ndarray) -> None:
    """The edge from `lower`, which has the number of its lower end, up to `upper`."""
    out[END + lower] = lower / TOP
    out[END + EDGES + lower] = upper / TOP
    out[END + 2 * EDGES + lower] = 1.0


@core
def _add_up(out: np.ndarray, lower: Int, upper: Int) -> None:
    for k in range(3):
        out[upper * VERTEX_FEATURES + k] += out[lower * VERTEX_FEATURES + k]
    out[upper * VERTEX_FEATURES + 3] = 1.0


@core
def _as_shares(out: np.ndarray, gpus: Int) -> None:
    for vertex in range(VERTICES):
        at = vertex * VERTEX_FEATURES
        if out[at] > 0.0:
            busy = out[at] - out[at + 1]
            out[at + 1] = out[at + 1] / out[at]
            out[at + 2] = min(1.0, out[at + 2] / busy) if busy > 0.0 else 0.0
            out[at] = out[at] / gpus


@core
def _write_tree(S: State, out: np.ndarray) -> None:
    for i in range(END + 3 * EDGES):
        out[i] = 0.0
    nodes = np.int64(0)
    for r in range(S.racks.shape[0]):
        R = S.racks[r]
        rack = NODES + _vertex(np.int64(r), np.int64(S.racks.shape[0]), np.int64(RACKS))
        for m in range(R.members, R.members + R.nodes):
            vertex = _vertex(nodes, np.int64(S.nodes.shape[0]), np.int64(NODES))
            _add_node(S, S.ints[m], vertex, out)
            _join(vertex, rack, out)
            nodes += 1
        _join(rack, np.int64(TOP), out)
    for vertex in range(NODES):
        if out[END + 2 * EDGES + vertex] != 0.0:
            _add_up(out, np.int64(vertex), np.int64(round(out[END + EDGES + vertex] * TOP)))
    for rack in range(NODES, TOP):
        if out[END + 2 * EDGES + rack] != 0.0:
            _add_up(out, np.int64(rack), np.int64(TOP))
    _as_shares(out, S.g[0].gpus)


@core
def observe(S: State, window: np.ndarray, out: np.ndarray) -> None:
    """Write the parts one behind the other."""
    _write_tree(S, out)
    at = np.int64(END + 3 * EDGES)
    write_jobs(S, window, out, at, np.int64(JOB_FEATURES))
    at += window.shape[0] * JOB_FEATURES
    write_globals(S, window, out, at)
