"""Slurm's multifactor priority over backfilling (https://slurm.schedmd.com/priority_multifactor.html).

The priority of a waiting job is the weighted sum of four factors from 0 to 1: its age, the fair share of its user, its
size and its partition. Fair share is Slurm's classic algorithm (`PriorityFlags=NO_FAIR_TREE`,
https://slurm.schedmd.com/classic_fair_share.html), of GPU-seconds. Priorities are whole numbers, calculated at every
multiple of `calc_period_s` and when a job is submitted; equal ones go by submission, as in Slurm.

By default jobs are backfilled as by `sched/backfill` (https://slurm.schedmd.com/sched_config.html), with a reservation
for each of the first `bf_max_job_test` jobs.

Ours: usage decays continuously rather than once a period; every cycle backfills, not one in `bf_interval` seconds; the
plan has no end (`bf_window`) and no steps (`bf_resolution`). Left out: association, site, nice and TRES factors,
partition tiers, `PriorityFlags`, resets of usage and preemption. The log's own priorities go before all of it, like
tiers.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import NonNegativeFloat

from pointsman.errors import UsageError
from pointsman.policies.classical.easy import decide as easy_decide
from pointsman.policies.classical.easy import on_event as easy_on_event
from pointsman.policies.classical.easy import wait
from pointsman.policies.classical.planning import (
    Planning,
    note_event,
    on_run,
    start_by_plan,
    start_in_order,
    wait_planned,
)
from pointsman.policies.parts.accounts import Account, Accounts
from pointsman.policies.parts.fair_share import USER, fair_share, hold, last_calculation
from pointsman.policies.parts.plan.reservations import PlanningMemory, break_plan, plan_lengths
from pointsman.policies.sdk import (
    ACTIVE,
    DIRTY,
    OPEN,
    PENDING,
    Briefing,
    Int,
    OfJob,
    Record,
    Standing,
    State,
    before,
    choice,
    core,
    derived,
    insert,
    milliseconds,
    parameter,
    remove,
    rows,
    view_of,
    wake_at,
    whole,
)

__all__ = ["Multifactor", "decide", "on_event", "on_run"]

Backfill = Literal["conservative", "easy", "none"]
SIZE_FACTOR, PARTITION_FACTOR = 1, 2  # columns of State.job_numbers


class MultifactorMemory(PlanningMemory):
    """What it keeps; a job's `level` are the GPUs that its user is charged for."""

    calculated = whole("1 + the time for which waiting jobs are in order", unit="ms")
    accounts = rows(Account, OPEN, "the tree of accounts and users, the root first")


class Kept(OfJob):
    """What it keeps of a job."""

    next_moved = whole("the next job that has yet to be put in order; -1")


class Multifactor(Planning):
    """Slurm's multifactor priority (age, fair share, job size, partition) over its backfilling."""

    name: ClassVar[str] = "multifactor"
    hooks: ClassVar[str] = "pointsman.policies.classical.multifactor"
    source: ClassVar[str] = "Slurm documentation, Multifactor Priority Plugin and Classic Fairshare Algorithm"
    briefed: ClassVar[bool] = True
    memory: ClassVar[type[Record]] = MultifactorMemory
    kept: ClassVar[type[OfJob]] = Kept

    backfill: Backfill = parameter(
        "conservative",
        "reservations for many jobs (sched/backfill), for the first alone, or no backfilling (sched/builtin)",
        source="Slurm's default",
    )
    bf_max_job_test: int = parameter(
        500,
        "bf_max_job_test: how many jobs are backfilled or have reservations",
        source="Slurm's default",
        ge=1,
        le=10_000,
    )
    weight_age: NonNegativeFloat = parameter(1000.0, "PriorityWeightAge", source="Slurm's example; its default is 0")
    weight_fair_share: NonNegativeFloat = parameter(
        10_000.0, "PriorityWeightFairshare", source="Slurm's example; its default is 0"
    )
    weight_job_size: NonNegativeFloat = parameter(
        1000.0, "PriorityWeightJobSize", source="Slurm's example; its default is 0"
    )
    weight_partition: NonNegativeFloat = parameter(
        1000.0, "PriorityWeightPartition", source="Slurm's example; its default is 0"
    )
    max_age_s: float = parameter(
        604_800.0, "PriorityMaxAge: the wait at which the age factor is 1", unit="s", source="Slurm's default", gt=0
    )
    favor_small: bool = parameter(
        False, "PriorityFavorSmall: small jobs have the larger size factor", source="Slurm's default"
    )
    decay_half_life_s: float = parameter(
        604_800.0, "PriorityDecayHalfLife of usage; 0: no decay", unit="s", source="Slurm's default", ge=0
    )
    calc_period_s: float = parameter(
        300.0, "PriorityCalcPeriod: time between calculations", unit="s", source="Slurm's default", ge=0.001
    )
    dampening: float = parameter(1.0, "FairShareDampeningFactor", source="Slurm's default", ge=1)
    shares: dict[str, NonNegativeFloat] = parameter(
        {}, "shares of accounts, and of users as ACCOUNT/USER; others have 1", source="Slurm's default"
    )
    parents: dict[str, str] = parameter({}, "parent account of an account; others are below the root")
    partition_priority: dict[str, NonNegativeFloat] = parameter(
        {}, "PriorityJobFactor of partitions; others have 1", source="Slurm's default"
    )

    @derived
    def decay(self) -> float:
        """By how much usage decays, per ms; 0: not at all."""
        return math.log(2.0) / milliseconds(self.decay_half_life_s) if self.decay_half_life_s else 0.0

    def check_jobs(self, jobs: Any) -> None:
        """That jobs are of each account and user that parameters name, and of a partition, and no account its own
        parent.
        """
        Accounts(jobs.unique(["account", "queue", "user"]), self.parents, self.shares).check(self.shares)
        named = sorted(self.partition_priority)
        with_jobs = {name for lists in jobs["partition"].drop_nulls().unique() for name in _permitted(lists)}
        if named and with_jobs and with_jobs.isdisjoint(named):  # a slurm.conf has more partitions than a log
            raise UsageError(f"multifactor.partition_priority names {named[0]!r:.60}, a partition without jobs")

    def briefing(self, jobs: Any, gpus: int, queues: Sequence[str]) -> Briefing:
        """The user, the size factor and the partition factor of each job, and the tree of accounts."""
        accounts = Accounts(jobs, self.parents, self.shares)
        asked = jobs["gpus"].to_numpy()
        size = (gpus - asked + 1.0) / gpus if self.favor_small else asked / gpus
        partitions, of = jobs["partition"].fill_null("").cast(str), self.partition_priority
        highest = {lists: max(of.get(name, 1.0) for name in _permitted(lists)) for lists in partitions.unique()}
        partition = partitions.replace_strict(highest, return_dtype=float).to_numpy() / max([1.0, *of.values()])
        memory = self._memory_for(accounts)
        return Briefing(np.column_stack([accounts.row_of_user(), size, partition]), memory)

    def _memory_for(self, accounts: Accounts) -> NDArray[np.float64]:
        """The memory before the first job."""
        lengths = {"accounts": accounts.rows, **plan_lengths(self.bf_max_job_test)}
        memory = MultifactorMemory.zeros(lengths)
        accounts.fill(MultifactorMemory(memory).accounts)
        return memory

    def carried(self, memory: NDArray[np.float64], before: Any, now: Any) -> NDArray[np.float64]:
        """The memory where more accounts and users have come: what has been used stays used, and jobs are planned anew.

        Args:
            memory: with the accounts and users of `before`.
            before: jobs of all accounts and users that were known, as of `briefing`.
            now: those and others.
        """
        known, all_ = (Accounts(jobs, self.parents, self.shares) for jobs in (before, now))
        carried = self._memory_for(all_)
        old, new = MultifactorMemory(memory), MultifactorMemory(carried)
        all_.take_usage(new.accounts, known, old.accounts)
        new.calculated, new.plan.broken = old.calculated, True
        return carried

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing:
        """Its priority and what it is made of."""
        slot = np.flatnonzero((state.jobs["row"] == job["row"]) & (state.jobs["state"] != 0))[0]
        user, size, partition = state.job_numbers[slot, :3]
        M = MultifactorMemory(state.memory)
        age = (M.calculated - 1.0 - job["submit"]) / milliseconds(self.max_age_s)
        fair_share = M.accounts[int(user)].factor
        return Standing(
            f"its priority is {-job['key']:,.0f} of age {min(1.0, max(0.0, age)):.3g}, fair share {fair_share:.6f}, "
            f"size {size:.3g}, partition {partition:.3g}"
        )


params, memory, kept = view_of(Multifactor), view_of(MultifactorMemory), view_of(Kept)
CONSERVATIVE, EASY = choice(Multifactor, "backfill", "conservative"), choice(Multifactor, "backfill", "easy")


def _permitted(partitions: str) -> list[str]:
    """The partitions in a list such as ``gpu,gpu-long``."""
    return [name.strip() for name in partitions.split(",")]


@core
def _key(S: State, j: Int, time: Int) -> float:
    """Minus the priority of waiting job `j` at the last calculation, `time`."""
    P = params(S)
    age = min(max(0, time - S.jobs[j].submit) / P.max_age_ms, 1.0)
    share = fair_share(memory(S).accounts, np.int64(S.job_numbers[j, USER]), P, time)
    size, partition = S.job_numbers[j, SIZE_FACTOR], S.job_numbers[j, PARTITION_FACTOR]
    weighted = P.weight_age * age + P.weight_fair_share * share
    return -np.floor(weighted + P.weight_job_size * size + P.weight_partition * partition)


@core
def _order_class(S: State, c: Int, time: Int) -> None:
    """Give the waiting jobs of class `c` their priorities of `time`, and those out of order another place."""
    moved = last = np.int64(-1)
    j = S.buckets[c].first
    while j >= 0:
        later = S.jobs[j].later
        S.jobs[j].key = _key(S, j, time)
        out = np.int64(-1)
        if last < 0 or before(S, last, j):
            last = j
        elif S.jobs[last].earlier < 0 or before(S, S.jobs[last].earlier, j):
            out, last = last, j  # the one before has fallen behind
        else:
            out = j
        if out >= 0:
            remove(S, out)
            kept(S, out).next_moved = moved
            moved = out
        j = later
    while moved >= 0:
        insert(S, c, moved)
        moved = kept(S, moved).next_moved


@core
def _wait(S: State, j: Int) -> None:
    """Job `j` waits at its priority."""
    key = _key(S, j, last_calculation(S, params(S)))
    if params(S).backfill == CONSERVATIVE:
        wait_planned(S, j, key)
    else:
        wait(S, j, key)


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """As EASY, but a waiting job stands at its priority; GPUs that a job gave up count no longer as held."""
    note_event(S, kind, j)
    if j >= 0 and S.jobs[j].level > 0 and S.jobs[j].gpus == 0:
        hold(S, memory(S).accounts, params(S), j, -S.jobs[j].level)
        S.jobs[j].level = 0
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        _wait(S, j)
    else:
        easy_on_event(S, kind, j)


@core
def _count_starts(S: State) -> None:
    """The GPUs of jobs that this pass has started count as held."""
    for i in range(S.g[0].dirty):
        j = S.lists[DIRTY, i]
        if S.jobs[j].gpus > 0 and S.jobs[j].level == 0:
            S.jobs[j].level = S.jobs[j].gpus
            hold(S, memory(S).accounts, params(S), j, S.jobs[j].level)


@core
def _calculate_all(S: State, time: Int) -> None:
    """Waiting jobs get the priorities of `time`, and the plan, made by others, breaks."""
    memory(S).calculated = time + 1
    for i in range(S.g[0].active):
        _order_class(S, S.lists[ACTIVE, i], time)
    break_plan(S)


@core
def decide(S: State) -> None:
    """Calculate priorities if a period is over, then start jobs, highest priority first, as `backfill` says."""
    g, P = S.g[0], params(S)
    time = last_calculation(S, P)
    if memory(S).calculated != time + 1:
        _calculate_all(S, time)
    if P.backfill == CONSERVATIVE:
        start_by_plan(S)
    elif P.backfill == EASY:
        easy_decide(S)
    else:
        start_in_order(S)
    _count_starts(S)
    if g.pending > 0 and g.free > 0 and g.running + g.starting + g.stopping > 0:
        wake_at(S, time + P.calc_period_ms)
