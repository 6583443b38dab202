"""The eviction rule of the preemptive policies (``docs/reference/semantics.md`` §7), on a free index that can be
taken back.
"""

import numpy as np

from pointsman.engine.actions.claims import claim_place, keep_claim, place_is_occupied
from pointsman.engine.actions.eviction_cache import will_fail
from pointsman.engine.actions.promised import (
    TOO_LITTLE,
    end_claims_taken_from,
    of_one_node,
    release_all,
    release_on_nodes,
    step_on_a_node,
    take_back_all,
    take_back_on_nodes,
)
from pointsman.engine.actions.verbs import preempt_released, start_inline, start_placed
from pointsman.engine.actions.worse import find_worse, release_tentatively, take_back
from pointsman.engine.index.queues import over_limit
from pointsman.engine.jit.compile import cold, core, exported
from pointsman.engine.placement.placing import fits, place
from pointsman.engine.state.codes import OK, QUOTA, RESOURCES
from pointsman.engine.state.records import VICTIMS, Int, State
from pointsman.engine.state.state_pointer import open_state
from pointsman.types import Reason

EVICTED = int(Reason.Evicted)
RESERVED = int(Reason.Reserved)


@core
def still_free(S: State, j: Int) -> bool:
    """Whether all GPUs of job `j`, released on paper, are still free."""
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        if P.mask & ~S.nodes[P.node].free_mask != 0:
            return False
        i = P.next
    return True


@core
def _release_victims(S: State, n: Int) -> None:
    """Release the n jobs in State.lists[VICTIMS] on paper."""
    for i in range(n):
        release_tentatively(S, S.lists[VICTIMS, i])


@core
def spare_victims(S: State, n: Int) -> None:
    """Released jobs whose GPUs are still free keep running, last released first; the others stay in State.lists."""
    for i in range(n - 1, -1, -1):
        v = S.lists[VICTIMS, i]
        if still_free(S, v):
            take_back(S, v)
            S.lists[VICTIMS, i] = -1


@core
def _evict(S: State, n: Int) -> None:
    """Preempt those of n victims released on paper of which State.place has a GPU."""
    spare_victims(S, n)
    for i in range(n):
        if S.lists[VICTIMS, i] >= 0:
            preempt_released(S, S.lists[VICTIMS, i], EVICTED)


@cold
def _claim_or_evict(address: Int, j: Int, bar: float, running: Int) -> Int:
    """`start_or_evict` where stopping takes time: a job that needs GPUs of stopping jobs claims its place."""
    S = open_state(address)
    if fits(S, S.jobs[j].cls):
        return start_inline(S, j, OK)
    if S.jobs[j].claims:
        keep_claim(S, j)
        return RESERVED
    if will_fail(S, j, bar):
        return RESOURCES
    on_one = of_one_node(S, j)
    step = step_on_a_node(S, j, on_one) if on_one > 0 else release_all(address, j)
    n = find_worse(S, j, bar, running) if step == TOO_LITTLE else np.int64(0)
    if n < 0 or over_limit(S, j):
        if on_one == 0:
            take_back_all(address)
        return RESOURCES if n < 0 else QUOTA
    if on_one > 0:
        release_on_nodes(S, j, on_one, step, n)
    _release_victims(S, n)
    place(S, S.jobs[j].cls)
    _evict(S, n)
    end_claims_taken_from(S)
    if on_one > 0:
        take_back_on_nodes(S, n)
    else:
        take_back_all(address)
    if not place_is_occupied(S):
        return start_placed(S, j, OK)
    claim_place(S, j)
    return RESERVED


@exported("int64(State, int64, float64, int64)")
def start_or_evict(S: State, j: Int, bar: float, running: Int) -> Int:
    """Start job `j`, and preempt strictly worse running jobs if that makes room.

    Worse are running jobs of lower priority, and those of equal priority with a key above `bar`; `running` is their
    index. Those preempted are in State.lists[VICTIMS, :State.g.victims] (-1: spared) for the policy to queue again.
    Answers OK, or why the job waits.
    """
    S.g[0].victims = 0
    if S.g[0].stop_ms > 0:
        return _claim_or_evict(S.g[0].address, j, bar, running)
    if fits(S, S.jobs[j].cls):
        return start_inline(S, j, OK)
    if will_fail(S, j, bar):
        return RESOURCES
    S.g[0].attempt += 1
    n = find_worse(S, j, bar, running)
    if n < 0:
        return RESOURCES
    if over_limit(S, j):
        return QUOTA
    _release_victims(S, n)
    place(S, S.jobs[j].cls)
    _evict(S, n)
    S.g[0].victims = n
    return start_placed(S, j, OK)
