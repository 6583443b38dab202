"""GPUs marked for a gang, a number of each node, and what such a choice would cost in communication.

Racks are consecutive nodes.
"""

import numpy as np

from pointsman.policies.sdk import Int, OfNode, State, admits, core, lowest_bits, view_of, whole


class Marked(OfNode):
    """What is kept of a node."""

    given = whole("how many of its free GPUs it gives")


node = view_of(Marked)


@core
def free_on(S: State, a: Int, n: Int) -> Int:
    """Free GPUs of node `n` for jobs under alternative `a`."""
    N = S.nodes[n]
    return N.free if N.state == 0 and N.free > 0 and admits(S, S.alts[a], N.pool) else np.int64(0)


@core
def clear(S: State) -> None:
    """No GPU is marked."""
    for n in range(S.nodes.shape[0]):
        node(S, n).given = 0


@core
def mark(S: State, n: Int, k: Int) -> None:
    """Node `n` gives k of its free GPUs."""
    node(S, n).given = k


@core
def count_marked(S: State, n: Int) -> Int:
    """How many of its free GPUs node `n` gives."""
    return node(S, n).given


@core
def is_marked(S: State, n: Int) -> bool:
    """Whether node `n` gives any."""
    return bool(node(S, n).given > 0)


@core
def first_of(S: State, r: Int) -> Int:
    """The first node of rack `r`."""
    return S.ints[S.racks[r].members]


@core
def mark_in_order(S: State, a: Int, first: Int, last: Int, need: Int) -> Int:
    """Nodes from `first` to before `last` give what they have, in the order of their index, until `need` GPUs are
    marked; how many are needed then.
    """
    for n in range(first, last):
        if need > 0 and not is_marked(S, np.int64(n)):
            k = min(need, free_on(S, a, np.int64(n)))
            mark(S, np.int64(n), k)
            need -= k
    return need


@core
def cost_of_marked(S: State) -> float:
    """What the communication of a gang on the GPUs marked would cost, but for the GPUs themselves."""
    nodes = racks = np.int64(0)
    last = np.int64(-1)
    for n in range(S.nodes.shape[0]):
        if is_marked(S, np.int64(n)):
            nodes += 1
            racks += 1 if S.nodes[n].rack != last else 0
            last = S.nodes[n].rack
    return S.g[0].rack_cost * racks + S.g[0].node_cost * nodes


@core
def add_node(S: State, n: Int, mask: Int, k: Int) -> None:
    """The k GPUs `mask` of node `n`, which comes after all nodes of State.place, are part of the place."""
    P = S.place[S.g[0].placed]
    P.node = n
    P.mask = mask
    P.gpus = k
    S.g[0].placed += 1


@core
def note_marked(S: State) -> None:
    """The GPUs marked, on each node its free ones of lowest index, are the place."""
    S.g[0].placed = 0
    for n in range(S.nodes.shape[0]):
        k = count_marked(S, np.int64(n))
        if k > 0:
            add_node(S, np.int64(n), lowest_bits(S.nodes[n].free_mask, k), k)
