"""Quotas and borrowing as in Kueue (https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/ and .../preemption/).

A queue of the log is a ClusterQueue with a nominal quota of GPUs. Queues of one cohort borrow what the others leave
unused, up to a limit; a job that fits its own queue's nominal quota may reclaim it (classic preemption). Jobs that do
not borrow are admitted first, then by priority, then by submission. Under StrictFIFO a queue's first job, while it
waits, keeps its quota from jobs of other queues behind it (https://github.com/kubernetes-sigs/kueue/issues/4809).

Ours: a job is admitted only if its gang can also be placed now; GPUs are of one resource flavor, whatever their type;
no job is preempted while another is STOPPING. Left out: lending limits, fair sharing, `borrowWithinCohort`, trees of
cohorts, several flavors, admission checks and requeuing back-off. Jobs without a queue have no quota.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import NonNegativeInt, model_validator

from pointsman.errors import UsageError
from pointsman.policies.parts.reserving.overdue_heads import (
    HEAD_MEMORY,
    ReservingPolicy,
    follow,
    predict_end,
    serves_overdue,
)
from pointsman.policies.quotas.admission import HEADS, admit_all, admit_around_heads, find_heads, overdue_at
from pointsman.policies.quotas.cohorts import (
    COHORT,
    HEAD,
    NOMINAL,
    QUEUES,
    RECLAIM,
    RECLAIMS,
    TOTAL,
    TRIED,
    WIDTH,
    row_of_queue,
)
from pointsman.policies.quotas.reclaim import WITHIN, WITHINS, make_room
from pointsman.policies.sdk import (
    LARGEST,
    PENDING,
    Briefing,
    Int,
    Knowledge,
    Reason,
    Standing,
    State,
    before,
    core,
    enqueue,
    parameter,
)
from pointsman.policies.sdk import on_run as note_running

__all__ = ["Kueue", "decide", "on_event", "on_run"]

Strategy = Literal["BestEffortFIFO", "StrictFIFO"]


class Kueue(ReservingPolicy):
    """Kueue's queues with quotas, borrowing within cohorts and reclaim by preemption."""

    name: ClassVar[str] = "kueue"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.quotas.kueue"
    takes_whole_gpus: ClassVar[bool] = True
    briefed: ClassVar[bool] = True
    source: ClassVar[str] = "Kueue documentation, Cluster Queue and Preemption"

    nominal_quota: dict[str, NonNegativeInt] = parameter(
        {}, "nominalQuota of queues; others divide equally what these leave of the cluster", unit="GPUs"
    )
    borrowing_limit: dict[str, NonNegativeInt] = parameter(
        {},
        "borrowingLimit of queues; others may borrow all that their cohort has",
        unit="GPUs",
        source="Kueue's default",
    )
    cohort: dict[str, str] = parameter({}, "cohort of queues; others have none. If empty, all queues are in one cohort")
    queueing_strategy: Strategy = parameter(
        "BestEffortFIFO",
        "whether the first job of a queue blocks the others, and keeps its quota from other queues",
        source="Kueue's default",
    )
    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = parameter(
        "Never", "which jobs of borrowing queues are preempted", source="Kueue's default"
    )
    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = parameter(
        "Never", "which jobs of the same queue are preempted", source="Kueue's default"
    )

    def parameters(self) -> list[float]:
        strict = float(self.queueing_strategy == "StrictFIFO")
        return [
            strict,
            float(RECLAIMS.index(self.reclaim_within_cohort)),
            float(WITHINS.index(self.within_cluster_queue)),
            *self.head_params(),
        ]

    @model_validator(mode="after")
    def _preempts_or_reserves(self) -> Self:
        if self.patience_s > 0 and (self.reclaim_within_cohort, self.within_cluster_queue) != ("Never", "Never"):
            raise ValueError(
                "patience_s reserves GPUs instead of preempting: set reclaim_within_cohort and within_cluster_queue to "
                "Never"
            )
        return self

    def _quotas(self, names: Sequence[str], gpus: int) -> dict[str, int]:
        """The nominal quota of each queue; the first of those without one get what cannot be divided equally."""
        others = [name for name in names if name not in self.nominal_quota]
        left = max(0, gpus - sum(self.nominal_quota.values()))
        share, more = divmod(left, max(1, len(others)))
        equal = {name: share + (k < more) for k, name in enumerate(others)}
        return {name: self.nominal_quota.get(name, equal.get(name, 0)) for name in names}

    def _cohort_of(self, name: str) -> tuple[str, ...]:
        return (self.cohort[name],) if name in self.cohort else ("alone", name) if self.cohort else ()

    def _queues(self, jobs: Any) -> list[str]:
        """Those of the jobs, by their first job, then those that have a quota and no jobs."""
        names = jobs["queue"].drop_nulls().unique(maintain_order=True).to_list()
        return list(dict.fromkeys([*names, *self.nominal_quota]))

    def check_jobs(self, jobs: Any) -> None:
        """That each queue that a parameter names has jobs or a quota."""
        names = set(self._queues(jobs))
        for parameter_name in ("borrowing_limit", "cohort"):
            if unknown := sorted(set(getattr(self, parameter_name)) - names):
                known = ", ".join(sorted(names)[:12]) or "none"
                raise UsageError(
                    f"kueue.{parameter_name} names the queue {unknown[0]!r:.60}, which has neither jobs nor a "
                    f"nominal_quota (queues: {known})"
                )

    def queue_limits(self, jobs: Any, gpus: int) -> dict[str, int]:
        """What each queue may hold: its nominal quota and what it may borrow."""
        names = self._queues(jobs)
        quotas = self._quotas(names, gpus)
        together = self._together(quotas)
        borrow = self.borrowing_limit
        return {name: min(together[name], quotas[name] + borrow.get(name, together[name])) for name in names}

    def _together(self, quotas: dict[str, int]) -> dict[str, int]:
        """What the cohort of each queue has."""
        totals: dict[tuple[str, ...], int] = {}
        for name, quota in quotas.items():
            totals[self._cohort_of(name)] = totals.get(self._cohort_of(name), 0) + quota
        return {name: totals[self._cohort_of(name)] for name in quotas}

    def briefing(self, jobs: Any, gpus: int, queues: Sequence[str]) -> Briefing:
        """The quota and cohort of each queue; queue 0 has none."""
        names = self._queues(jobs)
        quotas = self._quotas(names, gpus)
        together = self._together(quotas)
        cohorts = {cohort: k for k, cohort in enumerate(dict.fromkeys(map(self._cohort_of, names)), 1)}
        width = WIDTH * (1 + len(queues))
        memory = np.zeros(QUEUES + width + HEAD_MEMORY)
        rows = memory[QUEUES : QUEUES + width].reshape(-1, WIDTH)
        rows[:, [NOMINAL, TOTAL]] = LARGEST
        rows[:, COHORT] = -1.0 - np.arange(len(rows))
        rows[:, TRIED] = -1.0
        for row, name in zip(rows[1:], queues, strict=True):
            if name in quotas:
                row[[NOMINAL, COHORT, TOTAL]] = quotas[name], cohorts[self._cohort_of(name)], together[name]
        return Briefing(np.zeros((len(jobs), 0)), memory)

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing | None:
        """What its queue and cohort hold; the reason, if that leaves no quota for it."""
        queue = int(job["queue"])
        if queue == 0:
            return super().standing(state, job, now_ms)
        row = state.memory[QUEUES + WIDTH * queue :][:WIDTH]
        held, limit = int(state.queues["held"][queue]), int(state.queues["limit"][queue])
        rows = state.memory[QUEUES : QUEUES + WIDTH * len(state.queues)].reshape(-1, WIDTH)
        together = int(state.queues["held"][rows[:, COHORT] == row[COHORT]].sum())
        asked = int(job["asked"])
        kept = self._kept(state, rows, job)
        turn = super().standing(state, job, now_ms)
        full = held + asked > limit or together + kept + asked > row[TOTAL]
        return Standing(
            f"needs {asked} GPU{'s' * (asked != 1)}; its queue holds {held} of a nominal quota of "
            f"{row[NOMINAL]:.0f} and may hold {limit}; its cohort holds {together} of {row[TOTAL]:.0f}"
            + (f"; {kept} are kept for the first jobs of other queues" if kept else "")
            + (f"; {turn.said}" if turn else ""),
            Reason.QuotaExceeded if full else None,
        )

    def _kept(self, state: Any, rows: Any, job: Any) -> int:
        """What the first jobs of other queues of its cohort, as of the last cycle, keep from a waiting job."""
        if self.queueing_strategy != "StrictFIFO" or self.reclaim_within_cohort == "Any":
            return 0
        queues, near = state.queues, rows[:, COHORT] == rows[int(job["queue"])][COHORT]
        turn = _turn(rows, queues, job)
        found = [state.jobs[int(row[HEAD])] for row in rows[near] if row[HEAD] >= 0.0]
        heads = [
            h
            for h in found
            if h["queue"] != job["queue"] and h["asked"] <= rows[h["queue"]][NOMINAL] and _turn(rows, queues, h) < turn
        ]
        room = [int(queues["limit"][h["queue"]] - queues["held"][h["queue"]]) for h in heads]
        return sum(max(0, min(int(h["asked"]), left)) for h, left in zip(heads, room, strict=True))


def _turn(rows: Any, queues: Any, job: Any) -> tuple[bool, int, int]:
    """Where a waiting job stands in the order of admission."""
    borrows = queues["held"][job["queue"]] + job["asked"] > rows[job["queue"]][NOMINAL]
    return bool(borrows), int(job["neg_priority"]), int(job["row"])


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0:
        follow(S, kind, j, np.int64(HEADS), overdue_at(S))
        if S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
            enqueue(S, j, 0.0, S.jobs[j].estimate if serves_overdue(S, np.int64(HEADS)) else np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """A job that runs joins the running ones."""
    if serves_overdue(S, np.int64(HEADS)):
        predict_end(S, j, np.int64(0), np.int64(HEADS), overdue_at(S))
    else:
        note_running(S, j)


@core
def _next_to_preempt(S: State) -> Int:
    """The first job, in order, of the queues whose first job has not tried to preempt in this pass; -1 if none."""
    find_heads(S)
    best = np.int64(-1)
    for q in range(1, S.queues.shape[0]):
        j = np.int64(S.memory[row_of_queue(q) + HEAD])
        if j >= 0 and S.memory[row_of_queue(q) + TRIED] != S.g[0].pass_id and (best < 0 or before(S, j, best)):
            best = j
    return best


@core
def decide(S: State) -> None:
    """Admit jobs within quotas; then the first of each queue may preempt, if it is allowed and none is stopping."""
    admit_around_heads(S)
    if S.params[RECLAIM] == 0.0 and S.params[WITHIN] == 0.0:
        return
    while S.g[0].pending > 0 and S.g[0].stopping == 0:
        j = _next_to_preempt(S)
        if j < 0:
            return
        S.memory[row_of_queue(S.jobs[j].queue) + TRIED] = np.float64(S.g[0].pass_id)
        if make_room(S, j):
            admit_all(S, 0.0)
