"""SJF-BSBF, shortest job first with the best sharing and the best batch (Luo et al., arXiv 2407.13088).

Where a job finds too few free GPUs it also takes those of running jobs with which sharing pays, with as much gradient
accumulation as the memory wants. No job is preempted. A class of alike jobs that found too few partners is not tried
again until enough jobs got GPUs to themselves: who does not pay as a partner never will, but for shorter jobs.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from pointsman.policies.parts.pair_theorem import remaining
from pointsman.policies.parts.partners import (
    ANYWHERE,
    SharingPolicy,
    choose_partners,
    may_share,
    pays_somewhere,
)
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    PENDING,
    QUOTA,
    SINGLES,
    SOLE_OCCUPANTS,
    WHOLE,
    Event,
    Int,
    Knowledge,
    Profile,
    Progress,
    State,
    before,
    close_queue,
    core,
    derived,
    enqueue,
    first_after,
    fits,
    free_gpus,
    next_below,
    note_single,
    start,
    start_on,
    view_of,
)
from pointsman.policies.sharing.joint_gate import pays_for_all
from pointsman.policies.sharing.one_node import note_one_node
from pointsman.policies.sharing.place_beside import place_beside, place_on_any

GATES = ("pairwise", "joint", "none")
PAIRWISE, JOINT, NONE = range(len(GATES))
NODE_UP = int(Event.NODE_UP)
TICK = 1.0 / 1024.0
"""Keys are whole multiples of it."""


class SharingSjf(SharingPolicy):
    """The shortest job first, which shares GPUs where free ones are too few."""

    needs: ClassVar[Knowledge] = "oracle"
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = "pointsman.policies.sharing.sjf_bsbf"
    placement: ClassVar[str] = "tightest"
    gpu_sharing: ClassVar[int] = 2
    source: ClassVar[str] = "Luo et al., Scheduling Deep Learning Jobs via Wise Resource Sharing, arXiv 2407.13088"

    @derived
    def gate_of_sharing(self) -> int:
        """One of `GATES`."""
        return GATES.index(str(self.sharing_gate))

    @derived
    def consolidates(self) -> bool:
        """Whether it tries every single node before it spreads a job over several."""
        return False


class SjfBsbf(SharingSjf):
    """The shortest job first; where free GPUs are too few, beside running jobs with which the mean completion time of
    the pair falls by it.
    """

    name: ClassVar[str] = "sjf-bsbf"
    profiles: ClassVar[tuple[Profile, ...]] = ("pairs",)

    gate: Literal["pairwise", "joint"] = Field(
        default="pairwise",
        description="sharing must pay for each pair (the paper's), or for the job and all its partners together (ours)",
        json_schema_extra={"unit": "", "source": "paper"},
    )

    @property
    def sharing_gate(self) -> str:
        """As configured."""
        return self.gate


params = view_of(SharingSjf)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class by its remaining time."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        left = S.jobs[j].estimate - S.jobs[j].done
        enqueue(S, j, left, left)
    elif kind == NODE_UP:
        for c in range(S.g[0].classes):
            S.classes[c].failed_at = -1


@core
def on_run(S: State, j: Int) -> None:
    """A job runs at another rate: it may pay as a partner now."""
    note_single(S, j)


@core
def _may_join(S: State, j: Int) -> bool:
    """Whether waiting job `j` could ever go beside another; with a shape it starts on free GPUs."""
    return may_share(S, j) and S.classes[S.jobs[j].cls].per_node == 0


@core
def _may_be_partner(S: State, j: Int, left: float, b: Int) -> bool:
    return pays_somewhere(S, j, left, b, params(S).consolidates)


@core
def _count_new_partners(S: State, j: Int) -> None:
    """Jobs that got GPUs to themselves since the class of `j` found too few partners count, if they would pay."""
    C = S.classes[S.jobs[j].cls]
    for i in range(C.failed_at, S.g[0].singled):
        b = S.singles[i & (SINGLES - 1)]
        B = S.jobs[b]
        if B.spot >= 0 and (params(S).gate_of_sharing == NONE or _may_be_partner(S, j, C.failed_key, b)):
            C.lacking += B.alone
    C.failed_at = S.g[0].singled


@core
def _is_known_to_fail(S: State, j: Int) -> bool:
    """Whether job `j` is no shorter than one of its class that found too few partners, and there are too few still."""
    C = S.classes[S.jobs[j].cls]
    if C.failed_at < 0 or S.jobs[j].key < C.failed_key or S.g[0].singled - C.failed_at > SINGLES:
        return False
    _count_new_partners(S, j)
    for a in range(C.alt, C.alt_end):
        if free_gpus(S, S.alts[a]) + C.lacking >= C.gpus:
            return False
    return True


@core
def _candidate(S: State, c: Int, last: Int) -> Int:
    """The first job of class `c` after job `last` (-1: of all) that is not known to find no place; -1 if none."""
    j = first_after(S, c, last) if last >= 0 else S.buckets[c].first
    if j < 0 or fits(S, c):
        return j
    if not _may_join(S, j):
        return np.int64(-1)
    while j >= 0 and _is_known_to_fail(S, j):
        j = next_below(S, j, S.classes[c].failed_key - TICK)
    return j


@core
def _next(S: State, last: Int) -> Int:
    """The next job, in order, that may find a place; -1 if none."""
    best = np.int64(-1)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        C = S.classes[c]
        if C.queue < 0 or S.queues[C.queue].closed != S.g[0].pass_id:
            j = _candidate(S, c, last)
            if j >= 0 and (best < 0 or before(S, j, best)):
                best = j
    return best


@core
def _find_place(S: State, j: Int, a: Int) -> tuple[bool, Int]:
    """Note a place for job `j` beside partners under alternative `a`: whether there is one, and how many GPUs partners
    have for it.
    """
    need = S.classes[S.jobs[j].cls].gpus - free_gpus(S, S.alts[a])
    if params(S).gate_of_sharing == NONE:
        gpus = place_on_any(S.g[0].address, j, a, need)
        return gpus >= need, gpus
    chosen, gpus = choose_partners(S.g[0].address, j, a, np.int64(ANYWHERE), remaining(S, j), need)
    if chosen == 0 or (params(S).gate_of_sharing == JOINT and not pays_for_all(S.g[0].address, j, a, chosen)):
        return False, gpus
    place_beside(S, j, a, np.int64(ANYWHERE), chosen, need)
    return True, gpus


@core
def _gpus_of_partners(S: State, j: Int) -> Int:
    """How many GPUs those have to themselves whom job `j` might have as partners."""
    gpus = np.int64(0)
    for i in range(S.g[0].sole_occupants):
        b = S.lists[SOLE_OCCUPANTS, i]
        gpus += S.jobs[b].alone if _may_be_partner(S, j, remaining(S, j), b) else 0
    return gpus


@core
def _share(S: State, j: Int) -> Int:
    """Start job `j` beside partners, in the first of its alternatives where it can be."""
    C = S.classes[S.jobs[j].cls]
    most = np.int64(0)
    for a in range(C.alt, C.alt_end):
        found, gpus = _find_place(S, j, np.int64(a))
        if found:
            return start_on(S, j, OK)
        most = max(most, gpus)
    if params(S).consolidates:
        most = _gpus_of_partners(S, j)
    too_few = True
    for a in range(C.alt, C.alt_end):
        too_few = too_few and free_gpus(S, S.alts[a]) + most < C.gpus
    C.failed_at = S.g[0].singled if too_few else -1  # what pays for all together is another matter for each job
    C.failed_key = S.jobs[j].key
    C.lacking = most
    return OK


@core
def _start(S: State, j: Int) -> Int:
    """Start job `j` on free GPUs, or beside others, if it can be."""
    C = S.classes[S.jobs[j].cls]
    whole = C.milli == WHOLE and C.per_node == 0
    if params(S).consolidates and whole and note_one_node(S.g[0].address, j, params(S).gate_of_sharing == JOINT):
        return start_on(S, j, OK)
    if fits(S, S.jobs[j].cls):
        return start(S, j, OK)
    return _share(S, j) if _may_join(S, j) else OK


@core
def decide(S: State) -> None:
    """Look at waiting jobs, the shortest first."""
    last = _next(S, np.int64(-1))
    while last >= 0:
        if _start(S, last) == QUOTA:
            close_queue(S, last)
        elif S.jobs[last].state != PENDING:
            note_single(S, last)
        last = _next(S, last)
