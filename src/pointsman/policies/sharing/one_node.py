"""The node that a job would have for itself and its partners: SJF-BSBF, consolidated (``docs/reference/semantics.md``
§10).
"""

import numpy as np

from pointsman.policies.parts.pair_theorem import remaining
from pointsman.policies.parts.partners import choose_partners, pays_with, type_of, usable
from pointsman.policies.sdk import (
    SOLE_OCCUPANTS,
    Int,
    State,
    cold,
    core,
    jobs_on,
    lowest,
    lowest_bits,
    open_state,
    sits,
    without_lowest,
)
from pointsman.policies.sharing.joint_gate import pays_for_all
from pointsman.policies.sharing.place_beside import add_to_place, place_beside

MANY = 1 << 20
"""More jobs than a node ever has."""


@core
def _is_first(S: State, n: Int, x: Int, j: Int) -> bool:
    """Whether GPU `x` is the first of node `n` that job `j` is on."""
    for before in range(S.nodes[n].gpu0, x):
        if sits(S, j, before):
            return False
    return True


@core
def _jobs_on(S: State, n: Int, most: Int) -> Int:
    """How many jobs are on node `n`, counted up to `most`."""
    N = S.nodes[n]
    jobs = np.int64(0)
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        for o in range(jobs_on(S, x)):
            jobs += 1 if _is_first(S, n, np.int64(x), S.occupants[x, o]) else 0
        if jobs >= most:
            return most
    return jobs


@core
def _least_free(S: State, a: Int, gpus: Int) -> Int:
    """Return the fewest free GPUs, but at least `gpus`, that a node has under alternative `a`; -1 if none has."""
    some = np.int64(0)
    for i in range(S.alts[a].pool, S.alts[a].pool_end):
        some |= S.pools[S.ints[i]].some
    some &= np.int64(-1) << np.int64(gpus - 1)
    return lowest(some) + np.int64(1) if some != 0 else np.int64(-1)


@core
def _fewest_jobs(S: State, p: Int, free: Int, best: Int) -> Int:
    """Return the node with the fewest jobs, the lowest index among equals.

    It is one of pool `p` with exactly `free` free GPUs, or node `best` (-1: none).
    """
    P = S.pools[p]
    jobs = _jobs_on(S, best, MANY) if best >= 0 else np.int64(MANY)
    leaf0 = P.bits + free * (P.leaves + P.tops) + P.tops
    for leaf in range(P.leaves):
        word = S.words[leaf0 + leaf]
        while word != 0:
            n = S.ints[P.members + (leaf << 6) + lowest(word)]
            word = without_lowest(word)
            there = _jobs_on(S, n, jobs + 1)
            if there < jobs or (there == jobs and n < best):
                best = n
                jobs = there
            if n >= best and jobs == (0 if P.gpus == free else 1):
                return best
    return best


@core
def _free_node(S: State, a: Int, gpus: Int) -> Int:
    """The node with the fewest free GPUs of those that have `gpus`, with the fewest jobs among equals; -1 if none."""
    best = np.int64(-1)
    free = _least_free(S, a, gpus)
    if free > 0:
        for i in range(S.alts[a].pool, S.alts[a].pool_end):
            if S.counts[S.ints[i], free] > 0:
                best = _fewest_jobs(S, S.ints[i], free, best)
    return best


@core
def _may_hold(S: State, n: Int, gpus: Int) -> bool:
    """Return whether at least `gpus` GPUs of node `n` are held by no more than one job each."""
    left = ~S.nodes[n].shared
    for _ in range(gpus - 1):
        left = without_lowest(left)
    return left != 0 and lowest(left) < S.nodes[n].gpus


@core
def _partners_on(S: State, j: Int, a: Int, n: Int, joint: bool) -> Int:
    """How many partners job `j` takes on node `n`; 0 if they are too few, or it does not pay."""
    need = S.classes[S.jobs[j].cls].gpus - S.nodes[n].free
    chosen, _ = choose_partners(S.g[0].address, j, a, n, remaining(S, j), need)
    return chosen if chosen > 0 and (not joint or pays_for_all(S.g[0].address, j, a, chosen)) else np.int64(0)


@core
def _somebody_pays(S: State, j: Int, a: Int) -> bool:
    """Whether anyone at all pays as a partner of job `j`, if it need not accumulate."""
    left = remaining(S, j)
    for i in range(S.g[0].sole_occupants):
        if pays_with(S, j, left, type_of(S, a), np.int64(0), S.lists[SOLE_OCCUPANTS, i]) < np.inf:
            return True
    return False


@core
def _shared_node(S: State, j: Int, a: Int, joint: bool) -> Int:
    """The node with the most free GPUs, though too few, of those on which it pays for job `j` to join partners, with
    the fewest jobs among equals; -1 if none.
    """
    gpus = S.classes[S.jobs[j].cls].gpus
    best = most = np.int64(-1)
    fewest = np.int64(MANY)
    for n in range(S.nodes.shape[0] if _somebody_pays(S, j, a) else 0):
        N = S.nodes[n]
        if N.free < most or not _may_hold(S, np.int64(n), gpus) or not usable(S, a, np.int64(n)):
            continue
        if N.free == most and (fewest == 1 or _jobs_on(S, np.int64(n), fewest) == fewest):
            continue
        if _partners_on(S, j, a, np.int64(n), joint) > 0:
            best = np.int64(n)
            most = N.free
            fewest = _jobs_on(S, best, MANY)
    return best


@cold
def note_one_node(address: int, j: Int, joint: bool) -> bool:
    """Note a place for job `j` on one node, alone or beside partners, in State.place; whether there is one."""
    S = open_state(address)
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        if C.gpus > S.alts[a].gpus:
            continue
        n = _free_node(S, np.int64(a), C.gpus)
        if n >= 0:
            S.g[0].placed = 0
            add_to_place(S, n, lowest_bits(S.nodes[n].free_mask, C.gpus))
            return True
        n = _shared_node(S, j, np.int64(a), joint)
        if n >= 0:
            chosen = _partners_on(S, j, np.int64(a), n, joint)
            place_beside(S, j, np.int64(a), n, chosen, C.gpus - S.nodes[n].free)
            return True
    return False
