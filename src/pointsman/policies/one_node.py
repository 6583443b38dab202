"""The node that a job would have for itself and its partners: SJF-BSBF, consolidated (``docs/reference/semantics.md``
§10).
"""

import numpy as np

from pointsman.engine.bits import count
from pointsman.engine.compile import cold, core
from pointsman.engine.freeindex import lowest_bits
from pointsman.engine.handle import open_state
from pointsman.engine.occupancy import sits
from pointsman.engine.records import Int, State
from pointsman.policies.joint_gate import pays_for_all
from pointsman.policies.pair_theorem import remaining
from pointsman.policies.partners import choose_partners, usable
from pointsman.policies.place_beside import add_to_place, place_beside


@core
def _is_first(S: State, n: Int, x: Int, j: Int) -> bool:
    """Whether GPU `x` is the first of node `n` that job `j` is on."""
    for before in range(S.nodes[n].gpu0, x):
        if sits(S, j, before):
            return False
    return True


@core
def _jobs_on(S: State, n: Int) -> Int:
    N = S.nodes[n]
    jobs = np.int64(0)
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        for o in range(S.gpus[x].used):
            jobs += 1 if _is_first(S, n, np.int64(x), S.occupants[x, o]) else 0
    return jobs


@core
def _has_fewer_jobs(S: State, n: Int, best: Int) -> bool:
    """Whether node `n` has fewer jobs than node `best`, which comes before it, or there is no such."""
    return bool(best < 0 or _jobs_on(S, n) < _jobs_on(S, best))


@core
def _free_node(S: State, a: Int, gpus: Int) -> Int:
    """The node with the fewest free GPUs of those that have `gpus`, with the fewest jobs among equals; -1 if none."""
    best = np.int64(-1)
    least = np.int64(1 << 62)
    for n in range(S.nodes.shape[0]):
        free = S.nodes[n].free
        if not gpus <= free <= least or not usable(S, a, np.int64(n)):
            continue
        if free < least or _has_fewer_jobs(S, np.int64(n), best):
            best = np.int64(n)
            least = free
    return best


@core
def _partners_on(S: State, j: Int, a: Int, n: Int, joint: bool) -> Int:
    """How many partners job `j` takes on node `n`; 0 if they are too few, or it does not pay."""
    need = S.classes[S.jobs[j].cls].gpus - S.nodes[n].free
    chosen, _ = choose_partners(S.g[0].address, j, a, n, remaining(S, j), need)
    return chosen if chosen > 0 and (not joint or pays_for_all(S.g[0].address, j, a, chosen)) else np.int64(0)


@core
def _shared_node(S: State, j: Int, a: Int, joint: bool) -> Int:
    """The node with the most free GPUs, though too few, of those on which it pays for job `j` to join partners, with
    the fewest jobs among equals; -1 if none.
    """
    gpus = S.classes[S.jobs[j].cls].gpus
    best = np.int64(-1)
    most = np.int64(-1)
    for n in range(S.nodes.shape[0]):
        N = S.nodes[n]
        if N.free < most or N.gpus - count(N.shared) < gpus or not usable(S, a, np.int64(n)):
            continue
        if (N.free > most or _has_fewer_jobs(S, np.int64(n), best)) and _partners_on(S, j, a, np.int64(n), joint) > 0:
            best = np.int64(n)
            most = N.free
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
