"""The node that a job would have for itself and its partners: SJF-BSBF, consolidated (``docs/reference/semantics.md``
§10).
"""

import numpy as np

from pointsman.engine.compile import cold, core
from pointsman.engine.freeindex import lowest_bits
from pointsman.engine.handle import open_state
from pointsman.engine.occupancy import sits
from pointsman.engine.records import Int, State
from pointsman.policies.joint_gate import pays_for_all
from pointsman.policies.pair_theorem import remaining
from pointsman.policies.partners import choose_partners, usable
from pointsman.policies.place_beside import add_to_place, clear_place, note_place, place_beside

Rank = tuple[Int, Int, Int]


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
def _rank(S: State, gpus: Int, size: Int, n: Int) -> Rank:
    """By what nodes are tried, the least first: GPUs left over, then the most free, then the fewest jobs."""
    N = S.nodes[n]
    return N.free - gpus if N.free >= gpus else size, -N.free, _jobs_on(S, n)


@core
def _goes_before(a: Rank, b: Rank) -> bool:
    for i in range(3):
        if a[i] != b[i]:
            return bool(a[i] < b[i])
    return False


@core
def _partners_on(S: State, j: Int, a: Int, n: Int, joint: bool) -> Int:
    """How many partners job `j` takes on node `n`; 0 if they are too few, or it does not pay."""
    need = S.classes[S.jobs[j].cls].gpus - S.nodes[n].free
    chosen, _ = choose_partners(S.g[0].address, j, a, n, remaining(S, j), need)
    return chosen if chosen > 0 and (not joint or pays_for_all(S.g[0].address, j, a, chosen)) else np.int64(0)


@core
def _best(S: State, j: Int, a: Int, joint: bool) -> Int:
    """The first node, in order, with room for job `j` under alternative `a`, alone or beside partners; -1 if none."""
    gpus = S.classes[S.jobs[j].cls].gpus
    size = S.alts[a].gpus
    best = np.int64(-1)
    least = (np.int64(1 << 62), np.int64(0), np.int64(0))
    for n in range(S.nodes.shape[0]):
        if usable(S, a, np.int64(n)):
            rank = _rank(S, gpus, size, np.int64(n))
            room = S.nodes[n].free >= gpus
            if _goes_before(rank, least) and (room or _partners_on(S, j, a, np.int64(n), joint) > 0):
                best = np.int64(n)
                least = rank
    return best


@cold
def note_one_node(address: int, j: Int, joint: bool) -> bool:
    """Note a place for job `j` on one node, alone or beside partners, in State.place; whether there is one."""
    S = open_state(address)
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        n = _best(S, j, np.int64(a), joint) if C.gpus <= S.alts[a].gpus else np.int64(-1)
        if n < 0:
            continue
        need = C.gpus - S.nodes[n].free
        if need > 0:
            place_beside(S, j, np.int64(a), n, _partners_on(S, j, np.int64(a), n, joint), need)
        else:
            clear_place(S)
            add_to_place(S, n, lowest_bits(S.nodes[n].free_mask, C.gpus))
            note_place(S)
        return True
    return False
