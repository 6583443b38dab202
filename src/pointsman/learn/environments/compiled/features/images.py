"""The cluster, the queue and the topology as images of the same size whatever the cluster (``docs/papers/topdrl.md``
§4).
"""

import numpy as np

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.features.scale import ROWS, of_gpus, rows
from pointsman.policies.parts.time_left import ms_left

COLUMNS = 64
"""Columns of the image of the cluster. Each is a 64th of the GPUs, racks side by side. On a cluster of fewer GPUs, a
GPU has several columns."""
BLOCK = 8
"""Columns of a job in the image of the queue."""
HEIGHT, WIDTH = 16, 8
"""Size of the image of the topology."""
CELLS = HEIGHT * WIDTH


@core
def _stripe(i: Int, parts: Int, cells: Int) -> tuple[Int, Int]:
    """Return the cells of part `i` of `parts`, as the first and the one after the last: at least one cell."""
    first = i * cells // parts
    return first, max(first + 1, (i + 1) * cells // parts)


@core
def _parts_in(cell: Int, parts: Int, cells: Int) -> Int:
    """How many parts share `cell`, where parts are more."""
    return ((cell + 1) * parts + cells - 1) // cells - (cell * parts + cells - 1) // cells


@core
def _add_node(S: State, n: Int, i: Int, out: np.ndarray, at: Int) -> None:
    """The GPUs of node `n`, of which the first is the `i`-th of the cluster, each in the row up to which it is busy."""
    N = S.nodes[n]
    last = np.int64(-1)
    row = np.int64(0)
    for b in range(N.gpus):
        j = S.occupants[N.gpu0 + b, 0]
        if j >= 0:
            if j != last:
                row = rows(ms_left(S, j)) - 1
                last = j
            first, end = _stripe(i + b, S.g[0].gpus, np.int64(COLUMNS))
            for column in range(first, end):
                out[at + row * COLUMNS + column] += 1.0


@core
def _as_shares(S: State, out: np.ndarray, at: Int) -> None:
    """Counts of GPUs as shares of a column."""
    total = S.g[0].gpus
    for column in range(COLUMNS):
        here = _parts_in(np.int64(column), total, np.int64(COLUMNS))
        for r in range(ROWS):
            out[at + r * COLUMNS + column] = out[at + r * COLUMNS + column] / here


@core
def write_cluster(S: State, out: np.ndarray, at: Int) -> None:
    """Row: a time from now on. Column: a 64th of the GPUs. The share of them that is busy until then."""
    for i in range(ROWS * COLUMNS):
        out[at + i] = 0.0
    i = np.int64(0)
    for r in range(S.racks.shape[0]):
        R = S.racks[r]
        for m in range(R.members, R.members + R.nodes):
            n = S.ints[m]
            _add_node(S, n, i, out, at)
            i += S.nodes[n].gpus
    for below in range((ROWS - 1) * COLUMNS - 1, -1, -1):
        out[at + below] += out[at + below + COLUMNS]
    if S.g[0].gpus > COLUMNS:
        _as_shares(S, out, at)


@core
def write_queue(S: State, window: np.ndarray, out: np.ndarray, at: Int) -> None:
    """For each job of the window a block as high as it is long, and as wide as it has GPUs, by logarithm."""
    width = window.shape[0] * BLOCK
    for i in range(ROWS * width):
        out[at + i] = 0.0
    for i in range(window.shape[0]):
        j = window[i]
        if j >= 0:
            wide = BLOCK * of_gpus(S, S.jobs[j].asked)
            high = rows(S.jobs[j].estimate)
            for column in range(BLOCK):
                filled = min(1.0, max(0.0, wide - column))
                for r in range(high):
                    out[at + r * width + i * BLOCK + column] = filled


@core
def write_topology(S: State, out: np.ndarray, at: Int) -> None:
    """Nodes, rack by rack, in 128 cells: the share of their GPUs that is free."""
    for i in range(CELLS):
        out[at + i] = 0.0
    nodes = np.int64(S.nodes.shape[0])
    i = np.int64(0)
    for r in range(S.racks.shape[0]):
        R = S.racks[r]
        for m in range(R.members, R.members + R.nodes):
            N = S.nodes[S.ints[m]]
            first, end = _stripe(i, nodes, np.int64(CELLS))
            here = _parts_in(first, nodes, np.int64(CELLS)) if nodes > CELLS else np.int64(1)
            free = N.free / N.gpus if N.state == 0 else 0.0
            for cell in range(first, end):
                out[at + cell] += free / here
            i += 1
    for i in range(CELLS):
        out[at + i] = min(out[at + i], np.float32(1.0))
