"""Which free GPUs a gang gets: TopDRL's choice and its baselines (``docs/papers/topdrl.md`` §6 and §7).

Each notes GPUs in State.place without taking them, as `start_on` wants. Whatever is free will do, however scattered.
"""

from typing import Final

import numpy as np

from pointsman.policies.parts.chance import Draws, note_random
from pointsman.policies.parts.gpu_marks import (
    clear,
    first_of,
    free_on,
    is_marked,
    mark,
    mark_in_order,
    note_marked,
)
from pointsman.policies.pickers.nearest_gpus import note_nearest
from pointsman.policies.sdk import (
    LARGEST,
    Int,
    State,
    alternative_with_room,
    cold,
    core,
    free_in,
    note_place,
)

GPU_PICKERS: Final = ("nearest", "anchor", "first-available", "load-balance", "random")
NEAREST, ANCHOR, FIRST_AVAILABLE, LOAD_BALANCE, RANDOM = range(len(GPU_PICKERS))


@core
def _fullest_node(S: State, a: Int, r: Int) -> Int:
    """The unmarked node of rack `r` with the most free GPUs; lowest index among equals, -1 if none has any."""
    best = np.int64(-1)
    most = np.int64(0)
    first = first_of(S, r)
    for n in range(first, first + S.racks[r].nodes):
        free = free_on(S, a, np.int64(n))
        if free > most and not is_marked(S, np.int64(n)):
            best = np.int64(n)
            most = free
    return best


@core
def _fullest_rack(S: State, a: Int) -> Int:
    """The rack with the most free GPUs of those not seen in this attempt; lowest index among equals, -1 if none."""
    best = np.int64(-1)
    most = np.int64(0)
    for r in range(S.racks.shape[0]):
        free = free_in(S, S.alts[a], np.int64(r))
        if free > most and S.racks[r].tally_attempt != S.g[0].attempt:
            best = np.int64(r)
            most = free
    return best


@core
def _emptiest_rack(S: State, a: Int) -> Int:
    """The rack with the fewest free GPUs of those that have any; lowest index among equals."""
    best = np.int64(-1)
    least = np.int64(LARGEST)
    for r in range(S.racks.shape[0]):
        free = free_in(S, S.alts[a], np.int64(r))
        if 0 < free < least:
            best = np.int64(r)
            least = free
    return best


@core
def _tightest_node(S: State, a: Int, r: Int, gpus: Int) -> Int:
    """Return the node of rack `r` with the fewest free GPUs, but at least `gpus`: the lowest of equals, -1 if none."""
    best = np.int64(-1)
    least = np.int64(LARGEST)
    first = first_of(S, r)
    for n in range(first, first + S.racks[r].nodes):
        free = free_on(S, a, np.int64(n))
        if gpus <= free < least:
            best = np.int64(n)
            least = free
    return best


@core
def _anchor(S: State, a: Int, gpus: Int) -> Int:
    """The node from which the authors look for the nearest GPUs."""
    fullest = _fullest_rack(S, a)
    if gpus > S.alts[a].gpus:
        return _fullest_node(S, a, fullest)
    emptiest = _emptiest_rack(S, a)
    if gpus == 1:
        return _fullest_node(S, a, emptiest)
    n = _tightest_node(S, a, emptiest, gpus)
    if n < 0:
        n = _tightest_node(S, a, fullest, gpus)
    return n if n >= 0 else _fullest_node(S, a, fullest)


@core
def _mark_from_anchor(S: State, a: Int, gpus: Int) -> None:
    """GPUs of the anchor's node, then of its rack, then others, in the order of their index."""
    n = _anchor(S, a, gpus)
    first = first_of(S, S.nodes[n].rack)
    need = mark_in_order(S, a, n, n + 1, gpus)
    need = mark_in_order(S, a, first, first + S.racks[S.nodes[n].rack].nodes, need)
    mark_in_order(S, a, np.int64(0), np.int64(S.nodes.shape[0]), need)


@core
def _mark_fullest(S: State, a: Int, gpus: Int) -> None:
    """GPUs of the rack with most, of its nodes with most; then of the rack with next to most, and so on."""
    need = gpus
    while need > 0:
        r = _fullest_rack(S, a)
        S.racks[r].tally_attempt = S.g[0].attempt
        n = _fullest_node(S, a, r)
        while need > 0 and n >= 0:
            k = min(need, free_on(S, a, n))
            mark(S, n, k)
            need -= k
            n = _fullest_node(S, a, r)


@cold
def _note(S: State, j: Int, a: Int, how: Int, draws: Draws) -> None:
    """Note GPUs for job `j` of those of alternative `a`, which are enough."""
    gpus = S.classes[S.jobs[j].cls].gpus
    if how == NEAREST:
        note_nearest(S, a, gpus)
        return
    S.g[0].placed = 0
    if how == RANDOM:
        draws.count += 1
        note_random(S, a, gpus, draws.seed, draws.count)
        return
    S.g[0].attempt += 1
    clear(S)
    if how == ANCHOR:
        _mark_from_anchor(S, a, gpus)
    elif how == LOAD_BALANCE:
        _mark_fullest(S, a, gpus)
    else:
        mark_in_order(S, a, np.int64(0), np.int64(S.nodes.shape[0]), gpus)
    note_marked(S)


@core
def enough(S: State, c: Int) -> bool:
    """Whether there are GPUs for a gang of class `c`, wherever they are; of a shape, nodes."""
    return bool(S.classes[c].gpus <= S.g[0].free and alternative_with_room(S, c) >= 0)


@core
def choose_gpus(S: State, j: Int, how: Int, draws: Draws) -> bool:
    """Note GPUs for waiting job `j`, of the first of its alternatives that has enough, in State.place, without taking
    them. False if there are too few. `how`: one of `GPU_PICKERS`; a shape is placed as the engine does; `draws` are
    those of the policy.
    """
    c = S.jobs[j].cls
    if S.classes[c].per_node > 0:
        return note_place(S, c)
    a = alternative_with_room(S, c)
    if a >= 0:
        _note(S, j, a, how, draws)
    return bool(a >= 0)
