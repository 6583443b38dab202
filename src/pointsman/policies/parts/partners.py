"""Jobs on whose GPUs a waiting job could go (``docs/reference/semantics.md`` §10).

A partner holds GPUs with no other job on them. Partners chosen stand in State.lists[CHOSEN], the best first, with the
time that they bring, their accumulation for the job and their GPUs (`Partner`).
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from pointsman.policies.parts.pair_theorem import alone_ms, in_turn_ms, together_ms
from pointsman.policies.sdk import (
    ACCUMULATIONS,
    SOLE_OCCUPANTS,
    VICTIMS,
    WHOLE,
    CompiledPolicy,
    Int,
    OfJob,
    State,
    admits,
    bytes_of,
    choice,
    cold,
    core,
    count,
    number,
    open_state,
    slow_down,
    view_of,
    whole,
)

CHOSEN = VICTIMS  # policies that share evict none
ANYWHERE = -1


class Partner(OfJob):
    """What is kept of a job with which another may share GPUs."""

    mean_ms = number("mean time to the end of both", unit="ms")
    power = whole("the other's accumulation, as a power of two")
    gpus = whole("GPUs that it has for the other")
    left_ms = number("how long it would go on alone", unit="ms")


class SharingPolicy(CompiledPolicy):
    """A policy whose jobs share GPUs."""

    kept: ClassVar[type[OfJob]] = Partner

    accumulation: Literal["all", "exact", "none"] = Field(
        default="all",
        description="jobs that may accumulate gradients to fit beside others: all (the paper's), exact (models that "
        "train the same by it, without batch normalisation), none",
        json_schema_extra={"unit": "", "source": "paper"},
    )


params, partner = view_of(SharingPolicy), view_of(Partner)
EXACT, NONE = choice(SharingPolicy, "accumulation", "exact"), choice(SharingPolicy, "accumulation", "none")


@core
def may_share(S: State, j: Int) -> bool:
    """Whether waiting job `j` could ever go beside another: its model is known, and it asks for whole GPUs."""
    return S.models[S.jobs[j].speed].kind > 0 and S.classes[S.jobs[j].cls].milli == WHOLE


@core
def type_of(S: State, a: Int) -> Int:
    """The GPU type of alternative `a`; the cluster's first if it mixes several."""
    return S.alts[a].gpu_type if S.alts[a].gpu_type > 0 else np.int64(0)


@core
def usable(S: State, a: Int, n: Int) -> bool:
    """Whether node `n` takes jobs under alternative `a`."""
    return S.nodes[n].state == 0 and admits(S, S.alts[a], S.nodes[n].pool)


@core
def singles_on(S: State, n: Int, mask: Int) -> Int:
    """Return which of the GPUs `mask` that a job holds on node `n` it has to itself and may share, as a mask."""
    return mask & ~S.nodes[n].shared & ~S.nodes[n].fractions


@core
def fitting(S: State, j: Int, n: Int, room: Int) -> Int:
    """The least accumulation, as a power of two, that the policy allows and at which job `j` needs no more than `room`
    bytes of a GPU of node `n`; -1 if there is none.
    """
    first = (S.jobs[j].speed + S.nodes[n].gpu_type) * ACCUMULATIONS
    allowed = params(S).accumulation
    for k in range(1 if allowed == NONE else ACCUMULATIONS):
        B = S.subbatches[first + k]
        if B.bytes == 0 or (allowed == EXACT and B.exact == 0):
            break
        if B.bytes <= room:
            return np.int64(k)
    return np.int64(-1)


@cold
def _offer(S: State, j: Int, a: Int, only: Int, b: Int) -> tuple[Int, Int]:
    """How many single GPUs job `b` has for job `j` under alternative `a` (on node `only`, or anywhere), and the least
    accumulation, as a power of two, that fits them all; -1 if none does.
    """
    gpus = np.int64(0)
    most = np.int64(0)
    i = S.jobs[b].part
    while i >= 0:
        P = S.parts[i]
        if (only < 0 or P.node == only) and usable(S, a, P.node):
            mask = singles_on(S, P.node, P.mask)
            if mask != 0:
                k = fitting(S, j, P.node, S.nodes[P.node].bytes - bytes_of(S, b, P.node))
                if k < 0:
                    return np.int64(0), np.int64(-1)
                gpus += count(mask)
                most = max(most, k)
        i = P.next
    return gpus, most


@core
def _pays_on(S: State, j: Int, left: float, only: Int, b: Int) -> bool:
    C = S.classes[S.jobs[j].cls]
    for a in range(C.alt, C.alt_end):
        if pays_with(S, j, left, type_of(S, np.int64(a)), np.int64(0), b) == np.inf:
            continue
        gpus, k = _offer(S, j, np.int64(a), only, b)
        if gpus > 0 and pays_with(S, j, left, type_of(S, np.int64(a)), k, b) < np.inf:
            return True
    return False


@core
def pays_somewhere(S: State, j: Int, left: float, b: Int, by_node: bool) -> bool:
    """Whether a job like `j`, with `left` nominal ms, might have partner `b` under any of its alternatives, be it on
    one node (`by_node`), where it may want less accumulation: if not, no longer one does, nor later on.
    """
    if _pays_on(S, j, left, np.int64(ANYWHERE), b):
        return True
    i = S.jobs[b].part if by_node else np.int64(-1)
    while i >= 0:
        if _pays_on(S, j, left, S.parts[i].node, b):
            return True
        i = S.parts[i].next
    return False


@cold
def pays_with(S: State, j: Int, left: float, kind: Int, k: Int, b: Int) -> float:
    """The mean time to the end of job `b` and one like `j` with `left` nominal ms that joins it with accumulation 2^k,
    if that is sooner than in turn; else infinity.
    """
    slow_own = slow_down(S, j, b, kind)
    slow_other = slow_down(S, b, j, kind)
    other = alone_ms(S, b)
    left = max(0.0, left)
    own = left * S.subbatches[(S.jobs[j].speed + kind) * ACCUMULATIONS + k].stretch
    time = together_ms(own, other, slow_own, slow_other)
    return time if time < in_turn_ms(left, other) else np.inf


@core
def _goes_before(S: State, a: Int, b: Int) -> bool:
    """Whether chosen partner `a` is better than `b`."""
    one, other = partner(S, a).mean_ms, partner(S, b).mean_ms
    return one < other or (one == other and S.jobs[a].row < S.jobs[b].row)


@core
def _choose(S: State, b: Int, chosen: Int, covered: Int, need: Int) -> tuple[Int, Int]:
    """Put partner `b` in its place among the `chosen`, which offer `covered` GPUs; who is not needed any more is left
    out. How many there are then, and what they offer.
    """
    if covered >= need and _goes_before(S, S.lists[CHOSEN, chosen - 1], b):
        return chosen, covered
    at = chosen
    while at > 0 and _goes_before(S, b, S.lists[CHOSEN, at - 1]):
        S.lists[CHOSEN, at] = S.lists[CHOSEN, at - 1]
        at -= 1
    S.lists[CHOSEN, at] = b
    chosen += 1
    covered += partner(S, b).gpus
    while covered - partner(S, S.lists[CHOSEN, chosen - 1]).gpus >= need:
        chosen -= 1
        covered -= partner(S, S.lists[CHOSEN, chosen]).gpus
    return chosen, covered


@core
def _candidates(S: State, only: Int) -> Int:
    """How many `_candidate` may name: jobs that have GPUs to themselves, or GPUs of node `only`."""
    return S.nodes[only].gpus if only >= 0 else S.g[0].sole_occupants


@core
def _candidate(S: State, only: Int, i: Int) -> Int:
    """Return the i-th candidate; -1 if it has been named already, or no job is on that GPU alone."""
    if only < 0:
        return S.lists[SOLE_OCCUPANTS, i]
    N = S.nodes[only]
    if S.gpus[N.gpu0 + i].used != 1:
        return np.int64(-1)
    b = S.occupants[N.gpu0 + i, 0]
    for before in range(i):
        if S.gpus[N.gpu0 + before].used == 1 and S.occupants[N.gpu0 + before, 0] == b:
            return np.int64(-1)
    return b


@cold
def choose_partners(address: int, j: Int, a: Int, only: Int, left: float, need: Int) -> tuple[Int, Int]:
    """Choose partners for job `j`, with `left` nominal ms, under alternative `a` that have `need` single GPUs together
    (on node `only`, or anywhere), those with whom it pays most. How many, and how many GPUs all of them have with whom
    it pays; once there are enough, those too late to be chosen are not asked.
    """
    S = open_state(address)
    kind = type_of(S, a)
    chosen = covered = all_gpus = np.int64(0)
    latest = np.inf
    for i in range(_candidates(S, only)):
        b = _candidate(S, only, np.int64(i))
        soonest = pays_with(S, j, left, kind, np.int64(0), b) if b >= 0 else np.inf  # with accumulation it is later
        if soonest > latest or soonest == np.inf:
            continue
        gpus, k = _offer(S, j, a, only, b)
        time = pays_with(S, j, left, kind, k, b) if gpus > 0 else np.inf
        if time < np.inf:
            B = partner(S, b)
            B.mean_ms, B.power, B.gpus = time, k, gpus
            all_gpus += gpus
            chosen, covered = _choose(S, b, chosen, covered, need)
            if covered >= need:
                latest = partner(S, S.lists[CHOSEN, chosen - 1]).mean_ms
    return (chosen if covered >= need else np.int64(0)), all_gpus
