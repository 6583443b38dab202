"""What `kueue` declares: its parameters, and what it keeps of queues."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import NonNegativeInt, model_validator

from pointsman.errors import UsageError
from pointsman.policies.parts.reserving.overdue_heads import ReservingMemory, ReservingPolicy
from pointsman.policies.sdk import (
    LARGEST,
    OPEN,
    Briefing,
    Knowledge,
    Reason,
    Record,
    Standing,
    number,
    parameter,
    rows,
    whole,
)

Strategy = Literal["BestEffortFIFO", "StrictFIFO"]


class Queue(Record):
    """A queue."""

    nominal = number("its nominal quota", unit="GPUs")
    cohort = number("the number of its cohort")
    total = number("what the queues of its cohort have together", unit="GPUs")
    head = whole("its first waiting job, as of this cycle; -1")
    released = number("GPUs released on paper")
    tried = whole("the cycle in which it last tried to preempt")


class KueueMemory(ReservingMemory):
    """What it keeps."""

    queues = rows(Queue, OPEN, "by their numbers; of 0, jobs without a queue")


class Kueue(ReservingPolicy):
    """Kueue's queues with quotas, borrowing within cohorts and reclaim by preemption."""

    name: ClassVar[str] = "kueue"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = "pointsman.policies.quotas.kueue"
    takes_whole_gpus: ClassVar[bool] = True
    briefed: ClassVar[bool] = True
    memory: ClassVar[type[Record]] = KueueMemory
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
        memory = KueueMemory.zeros({"queues": 1 + len(queues)})
        rows = KueueMemory(memory).queues
        rows.column("nominal")[:] = rows.column("total")[:] = LARGEST
        rows.column("cohort")[:] = -1.0 - np.arange(1 + len(queues))
        rows.column("tried")[:] = -1.0
        for q, name in enumerate(queues, 1):
            if name in quotas:
                rows[q].nominal, rows[q].total = quotas[name], together[name]
                rows[q].cohort = cohorts[self._cohort_of(name)]
        return Briefing(np.zeros((len(jobs), 0)), memory)

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing | None:
        """What its queue and cohort hold; the reason, if that leaves no quota for it."""
        queue = int(job["queue"])
        if queue == 0:
            return super().standing(state, job, now_ms)
        rows = KueueMemory(state.memory).queues
        row = rows[queue]
        held, limit = int(state.queues["held"][queue]), int(state.queues["limit"][queue])
        together = int(state.queues["held"][rows.column("cohort") == row.cohort].sum())
        asked = int(job["asked"])
        kept = self._count_kept(state, rows, job)
        turn = super().standing(state, job, now_ms)
        full = held + asked > limit or together + kept + asked > row.total
        return Standing(
            f"needs {asked} GPU{'s' * (asked != 1)}; its queue holds {held} of a nominal quota of "
            f"{row.nominal:.0f} and may hold {limit}; its cohort holds {together} of {row.total:.0f}"
            + (f"; {kept} are kept for the first jobs of other queues" if kept else "")
            + (f"; {turn.said}" if turn else ""),
            Reason.QuotaExceeded if full else None,
        )

    def _count_kept(self, state: Any, rows: Any, job: Any) -> int:
        """What the first jobs of other queues of its cohort, as of the last cycle, keep from a waiting job."""
        if self.queueing_strategy != "StrictFIFO" or self.reclaim_within_cohort == "Any":
            return 0
        queues, cohort = state.queues, rows[int(job["queue"])].cohort
        turn = _turn(rows, queues, job)
        near = [rows[q] for q in range(len(queues)) if rows[q].cohort == cohort]
        found = [state.jobs[int(row.head)] for row in near if row.head >= 0]
        heads = [
            h
            for h in found
            if h["queue"] != job["queue"] and h["asked"] <= rows[h["queue"]].nominal and _turn(rows, queues, h) < turn
        ]
        room = [int(queues["limit"][h["queue"]] - queues["held"][h["queue"]]) for h in heads]
        return sum(max(0, min(int(h["asked"]), left)) for h, left in zip(heads, room, strict=True))


def _turn(rows: Any, queues: Any, job: Any) -> tuple[bool, int, int]:
    """Where a waiting job stands in the order of admission."""
    borrows = queues["held"][job["queue"]] + job["asked"] > rows[job["queue"]].nominal
    return bool(borrows), int(job["neg_priority"]), int(job["row"])
