"""PlaceJob: the GPUs of the first waiting job, one after another until its gang is complete; or nodes, where there are
too many GPUs to choose from.

What is chosen so far is marked; only a complete gang is taken.
"""

import numpy as np

from pointsman.engine.sdk.environments import (
    OK,
    Int,
    State,
    admits,
    alternative_with_room,
    bit,
    core,
    count,
    lowest_bits,
    start_on,
)
from pointsman.learn.environments.compiled.columns import BY_GPU, UNITS, gpu
from pointsman.learn.environments.compiled.window import can_start, fill_window, may_wait
from pointsman.policies.sharing.place_beside import add_to_place


@core
def chosen_on(S: State, n: Int) -> Int:
    """The GPUs of node `n` chosen so far, as a mask."""
    N = S.nodes[n]
    mask = np.int64(0)
    for b in range(N.gpus):
        if gpu(S, N.gpu0 + b).chosen:
            mask |= bit(np.int64(b))
    return mask


@core
def _chosen(S: State) -> Int:
    n = np.int64(0)
    for x in range(S.gpus.shape[0]):
        n += 1 if gpu(S, x).chosen else 0
    return n


@core
def _mark(S: State, n: Int, mask: Int, chosen: bool) -> None:
    N = S.nodes[n]
    for b in range(N.gpus):
        if mask & bit(np.int64(b)) != 0:
            gpu(S, N.gpu0 + b).chosen = chosen


@core
def _keeps_shape(S: State, n: Int, chosen: Int, per_node: Int, begun: Int, nodes: Int) -> bool:
    """Return whether a gang with a shape may have one more GPU of node `n`, of which it has `chosen`.

    The gang needs `per_node` GPUs on each of `nodes` nodes; `begun` of them give GPUs already.
    """
    if chosen > 0:
        return chosen < per_node
    return begun < nodes and S.nodes[n].free >= per_node


@core
def _begun(S: State) -> Int:
    """Nodes of which some GPU is chosen."""
    begun = np.int64(0)
    for n in range(S.nodes.shape[0]):
        begun += chosen_on(S, np.int64(n)) != 0
    return begun


@core
def _allow(S: State, C: np.void, a: Int, mask: np.ndarray, by_gpu: bool) -> None:
    """Allow what is free under alternative `a`, not chosen yet, and in the shape of class `C`, if it has one."""
    begun = _begun(S) if C.per_node > 0 else np.int64(0)
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        usable = N.state == 0 and N.free_mask != 0 and admits(S, S.alts[a], N.pool)
        left = N.free_mask & ~chosen_on(S, np.int64(n)) if usable else np.int64(0)
        if C.per_node > 0:
            chosen = count(chosen_on(S, np.int64(n)))
            left = left if _keeps_shape(S, np.int64(n), chosen, C.per_node, begun, C.nodes) else np.int64(0)
        if not by_gpu:
            mask[n] = left != 0
        else:
            for b in range(N.gpus):
                mask[N.gpu0 + b] = left & bit(np.int64(b)) != 0


@core
def look_for(S: State, j: Int, mask: np.ndarray, by_gpu: bool) -> bool:
    """Fill `mask` with what job `j` may have next, its last entry with whether it may wait; whether it can start."""
    a = alternative_with_room(S, S.jobs[j].cls) if can_start(S, j) else np.int64(-1)
    mask[:] = 0
    if a >= 0:
        _allow(S, S.classes[S.jobs[j].cls], a, mask, by_gpu)
    mask[mask.shape[0] - 1] = a < 0 or (may_wait(S) and _chosen(S) == 0)
    return a >= 0


@core
def look(S: State, window: np.ndarray, mask: np.ndarray, rules: np.ndarray) -> bool:
    """Fill `window`, the job to be placed first, and `mask`, whose last entry is to wait; whether that job can
    start.
    """
    if fill_window(S, window) > 0:
        return look_for(S, window[0], mask, rules[UNITS] == BY_GPU)
    mask[:] = 0
    mask[mask.shape[0] - 1] = 1
    return False


@core
def is_choice(S: State, window: np.ndarray, mask: np.ndarray, rules: np.ndarray) -> bool:
    """Do what `look` does, if a GPU is free and a job waits; return whether there is a decision to make."""
    return S.g[0].free > 0 and S.g[0].pending > 0 and look(S, window, mask, rules)


@core
def waits(action: Int, window: np.ndarray, mask: np.ndarray) -> bool:
    """Whether `action` is to wait."""
    return action == mask.shape[0] - 1


@core
def _choose(S: State, action: Int, need: Int, by_gpu: bool) -> None:
    """Mark GPU `action`, or as many free GPUs of node `action` as are needed still."""
    if by_gpu:
        gpu(S, action).chosen = True
        return
    free = S.nodes[action].free_mask & ~chosen_on(S, action)
    _mark(S, action, lowest_bits(free, min(need, count(free))), True)


@core
def _note_chosen(S: State) -> None:
    """What is chosen is the place, and no longer marked."""
    S.g[0].placed = 0
    for n in range(S.nodes.shape[0]):
        mask = chosen_on(S, np.int64(n))
        if mask != 0:
            add_to_place(S, np.int64(n), mask)
            _mark(S, np.int64(n), mask, False)


@core
def choose_for(S: State, j: Int, action: Int, by_gpu: bool) -> tuple[bool, Int]:
    """Choose for job `j`, which starts when its gang is complete: whether it is, and OK or why it was refused."""
    C = S.classes[S.jobs[j].cls]
    gpus = C.gpus
    need = gpus - _chosen(S) if C.per_node == 0 else C.per_node
    _choose(S, action, need, by_gpu)
    if _chosen(S) < gpus:
        return False, OK
    _note_chosen(S)
    return True, start_on(S, j, OK)


@core
def act(S: State, window: np.ndarray, action: Int, rules: np.ndarray) -> tuple[Int, Int]:
    """Choose for the first job of the window: the job, if its gang is complete and it started (-1: not yet), and OK or
    why the engine refused it.
    """
    complete, answer = choose_for(S, window[0], action, rules[UNITS] == BY_GPU)
    return window[0] if complete else np.int64(-1), answer
