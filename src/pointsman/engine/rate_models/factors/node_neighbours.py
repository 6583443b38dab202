"""What jobs on different GPUs of one node do to each other (``docs/reference/semantics.md`` §15): the compiled part of
`node_interference`, where the numbers and loads are laid out.
"""

import numpy as np

from pointsman.engine.index.bits import lowest, without_lowest
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.rate_models.factors.own_numbers import whole_number
from pointsman.engine.rate_models.rates import FINEST, row_of
from pointsman.engine.state.codes import RUNNING
from pointsman.engine.state.records import Int, State

WHOLE = 1000
"""Thousandths of a GPU."""
KAPPA, MODELS, PAIRS, COUNTS, HEAD = range(5)
"""Numbers of the factor: kappa; between how many models there are pair residuals, where these begin among the numbers,
and where the workers of each model on each node are counted among the loads.
"""
CORES, PCIE, MEMORY, LINK, SOCKETS, BEGINS, PER_NODE = range(7)
"""Numbers of a node, after those: its capacities, its sockets, and where their loads begin among the factor's."""
TRAFFIC, CAPPED, RING, CORES_THETA, TRAFFIC_THETA, MODEL, PER_ROW = 1, 2, 3, 4, 5, 6, 7
"""Numbers of a row of demands, after those of nodes; CORES are the first here, too. MODEL is 0 if nothing is known."""
MEMORY_LOAD, LINK_LOAD, LOADS = 1, 2, 3
"""Loads of a node; CORES are the first here, too."""


@core
def _of_node(S: State, f: Int, n: Int) -> Int:
    """Where the numbers of node `n` begin."""
    return S.factors[f].numbers + HEAD + n * PER_NODE


@core
def _of_job(S: State, f: Int, j: Int) -> Int:
    """Where the numbers of what job `j` takes begin."""
    return _of_node(S, f, np.int64(S.nodes.shape[0])) + row_of(S, j) * PER_ROW


@core
def _is_known(S: State, f: Int, j: Int) -> bool:
    """Whether it is known what job `j` takes of nodes."""
    return S.factor_numbers[_of_job(S, f, j) + MODEL] > 0.0


@core
def _model_of(S: State, f: Int, j: Int) -> Int:
    """The model of job `j` among those that there are residuals between, from 0; -1 if nothing is known of it."""
    return np.int64(S.factor_numbers[_of_job(S, f, j) + MODEL]) - 1


@core
def _count_of(S: State, f: Int, n: Int, model: Int) -> Int:
    """Where the workers of a model on node `n` are counted, if there are residuals."""
    return S.factors[f].loads + whole_number(S, f, np.int64(COUNTS)) + n * whole_number(S, f, np.int64(MODELS)) + model


@core
def _takes(S: State, f: Int, j: Int, what: Int) -> Int:
    """Thousandths that each GPU of job `j` takes: a fraction of a GPU takes its share."""
    whole = np.int64(S.factor_numbers[_of_job(S, f, j) + what])
    return whole * S.classes[S.jobs[j].cls].milli // WHOLE


@core
def _socket(S: State, f: Int, n: Int, g: Int) -> Int:
    """The socket of GPU `g` of node `n`."""
    return g * np.int64(S.factor_numbers[_of_node(S, f, n) + SOCKETS]) // S.nodes[n].gpus


@core
def _load_of_socket(S: State, f: Int, n: Int, g: Int) -> Int:
    """Where the traffic of the socket of GPU `g` of node `n` is counted."""
    begins = np.int64(S.factor_numbers[_of_node(S, f, n) + BEGINS])
    return S.factors[f].loads + begins + _socket(S, f, n, g)


@cold
def _crosses(S: State, f: Int, i: Int) -> bool:
    """Whether part `i` has GPUs on several sockets of its node."""
    n, mask = S.parts[i].node, S.parts[i].mask
    first = _socket(S, f, n, lowest(mask))
    while mask != 0:
        if _socket(S, f, n, lowest(mask)) != first:
            return True
        mask = without_lowest(mask)
    return False


@cold
def _between_sockets(S: State, f: Int, j: Int, n: Int) -> Int:
    """What job `j` moves between the sockets of node `n`."""
    i = S.jobs[j].part
    while i >= 0:
        if S.parts[i].node == n:
            return _takes(S, f, j, np.int64(RING)) if _crosses(S, f, i) else np.int64(0)
        i = S.parts[i].next
    return np.int64(0)


@core
def _longer(load: Int, capacity: float, theta: float) -> float:
    """How many times as long it takes where so much is wanted of a resource."""
    return (load / capacity) ** theta if load > capacity else 1.0


@cold
def _residual(S: State, f: Int, j: Int, i: Int, g: Int) -> float:
    """How much longer the worker of job `j` on GPU `g` of part `i` takes by the models met on other GPUs of the node,
    each once, beyond what they take of it.
    """
    n = S.parts[i].node
    own, models = _model_of(S, f, j), whole_number(S, f, np.int64(MODELS))
    pairs = S.factors[f].numbers + whole_number(S, f, np.int64(PAIRS)) + own * models
    x = S.nodes[n].gpu0 + g
    longer = 1.0
    for m in range(models):
        met = S.factor_loads[_count_of(S, f, n, np.int64(m))] - (S.parts[i].gpus if m == own else 0)
        for o in range(S.occupants.shape[1]):
            b = S.occupants[x, o]
            if b >= 0 and b != j and S.jobs[b].state == RUNNING and _model_of(S, f, b) == m:
                met -= 1
        if met > 0:
            longer *= S.factor_numbers[pairs + m]
    return longer


@cold
def _on_gpu(S: State, f: Int, j: Int, i: Int, g: Int, crosses: bool) -> float:
    """ψ of the worker of job `j` on GPU `g` of part `i`, by the jobs on other GPUs; those on this one slow it by ξ."""
    P = S.parts[i]
    node = _of_node(S, f, P.node)
    at = S.factors[f].loads + P.node * LOADS
    cores, memory, link = (
        S.factor_loads[at + CORES],
        S.factor_loads[at + MEMORY_LOAD] - P.gpus * _takes(S, f, j, np.int64(CAPPED)),
        S.factor_loads[at + LINK_LOAD],
    )
    traffic = S.factor_loads[_load_of_socket(S, f, P.node, g)]
    x = S.nodes[P.node].gpu0 + g
    for o in range(S.occupants.shape[1]):
        b = S.occupants[x, o]
        if b >= 0 and b != j and S.jobs[b].state == RUNNING:
            cores -= _takes(S, f, b, np.int64(CORES))
            traffic -= _takes(S, f, b, np.int64(TRAFFIC))
            memory -= _takes(S, f, b, np.int64(CAPPED))
            link -= _between_sockets(S, f, b, P.node)
    own = _of_job(S, f, j)
    theta = S.factor_numbers[own + TRAFFIC_THETA]
    longer = _longer(cores, S.factor_numbers[node + CORES], S.factor_numbers[own + CORES_THETA])
    longer *= _longer(traffic, S.factor_numbers[node + PCIE], theta)
    if crosses:
        longer *= _longer(link, S.factor_numbers[node + LINK], theta)
    kappa = S.factor_numbers[S.factors[f].numbers + KAPPA]
    longer *= 1.0 + kappa * theta * (memory / S.factor_numbers[node + MEMORY])
    return longer * _residual(S, f, j, i, g) if whole_number(S, f, np.int64(MODELS)) > 0 else longer


@core
def slowed(S: State, f: Int, j: Int) -> float:
    """ψ of the worst worker of job `j`, in whole 1/2**30: the last bit of a power decides nothing."""
    if not _is_known(S, f, j):
        return 1.0
    worst = 1.0
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        crosses = _crosses(S, f, i)
        before = np.int64(-1)
        mask = P.mask
        while mask != 0:
            g = lowest(mask)
            socket = _socket(S, f, P.node, g)
            if socket != before or S.nodes[P.node].shared != 0:  # else it is as on the GPU before
                worst = max(worst, _on_gpu(S, f, j, i, g, crosses))
            before = socket
            mask = without_lowest(mask)
        i = S.parts[i].next
    return np.floor(worst * FINEST + 0.5) / FINEST


@core
def _count(S: State, f: Int, j: Int, sign: Int) -> None:
    """What job `j` takes comes to the loads of its nodes, or goes; all that run there may get another speed."""
    if not _is_known(S, f, j):
        return
    cores, traffic, capped = (
        sign * _takes(S, f, j, np.int64(CORES)),
        sign * _takes(S, f, j, np.int64(TRAFFIC)),
        sign * _takes(S, f, j, np.int64(CAPPED)),
    )
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        at = S.factors[f].loads + P.node * LOADS
        S.factor_loads[at + CORES] += P.gpus * cores
        S.factor_loads[at + MEMORY_LOAD] += P.gpus * capped
        if _crosses(S, f, i):
            S.factor_loads[at + LINK_LOAD] += sign * _takes(S, f, j, np.int64(RING))
        if whole_number(S, f, np.int64(MODELS)) > 0:
            S.factor_loads[_count_of(S, f, P.node, _model_of(S, f, j))] += sign * P.gpus
        mask = P.mask
        while mask != 0:
            S.factor_loads[_load_of_socket(S, f, P.node, lowest(mask))] += traffic
            mask = without_lowest(mask)
        _mark_node(S, f, P.node)
        i = P.next


@cold
def _mark_node(S: State, f: Int, n: Int) -> None:
    """Jobs that run on node `n` and suffer there get another speed."""
    for x in range(S.nodes[n].gpu0, S.nodes[n].gpu0 + S.nodes[n].gpus):
        for o in range(S.occupants.shape[1]):
            b = S.occupants[x, o]
            if b >= 0 and S.jobs[b].state == RUNNING and _is_known(S, f, b):
                mark(S, b)


@core
def begin(S: State, f: Int, j: Int) -> None:
    """Job `j` takes its part of what its nodes have."""
    _count(S, f, j, np.int64(1))


@core
def cease(S: State, f: Int, j: Int) -> None:
    """Job `j` gives it back."""
    _count(S, f, j, np.int64(-1))
