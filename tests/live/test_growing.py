"""A world that grows by each kind of job as it comes decides as one that knew all kinds from the beginning."""

from typing import Any

import pytest

from pointsman.cluster import load_cluster
from pointsman.live.world.checkpoint import checkpoint, restore
from pointsman.live.world.growing import grow
from pointsman.live.world.kind import Kind
from pointsman.live.world.roster import Deciding, Roster
from pointsman.policies.classical.multifactor import MultifactorMemory
from pointsman.policies.parts.accounts import ROOT

from .test_checkpoint import LISTENING
from .test_equality import CLUSTERS, workload
from .toy import Case, Toy

POLICIES = (
    *("gittins", "fifo", "fifo-backfill", "easy", "sjf", "srtf", "tiresias", "las", "dally", "conservative"),
    *("pick-place-sjf", "rounds(srtf, 60)", "examples/my_policy.py:MyPolicy"),
)


class Growing(Toy):
    """A cluster whose world is told of each kind of job when the first such job comes."""

    def __init__(self, case: Case, policy: str, **options: Any) -> None:
        self.roster = Roster(case.cluster, Deciding(policy, case.params or {}, options))
        super().__init__(case, self.roster.world(1 << 12, first_row=0))
        self.kinds = [Kind(*row) for row in case.prepared.jobs.select(Kind._fields).rows()]
        self.numbers: dict[int, int] = {}
        self.grown = 0

    def turn(self) -> bool:
        now, known = self.next_ms(), len(self.roster.numbers)
        coming = [row for row in range(self.submitted, len(self.submits)) if self.submits[row] <= now]
        self.numbers |= {row: self.roster.admit(self.kinds[row]) for row in coming}
        if len(self.roster.numbers) > known:
            grow(self.world, self.roster.prepared, self.roster.briefing, self.numbers)
            self.grown += 1
        for row in coming:
            self.asks[row] = self.roster.ask(self.numbers[row])
        return super().turn()


EVERY_DAY = [("gittins", "philly"), ("easy", "itp"), ("dally", "itp"), (POLICIES[-1], "itp")]
OTHERS = [*((policy, "philly") for policy in POLICIES), ("gittins", "helios")]


@pytest.mark.parametrize(("policy", "like"), EVERY_DAY)
def test_decides_as_one_that_knew_all_kinds(policy: str, like: str) -> None:
    check_decides_as_one_that_knew_all_kinds(policy, like)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "like"), [case for case in OTHERS if case not in EVERY_DAY])
def test_decides_as_one_that_knew_all_kinds_on_other_logs(policy: str, like: str) -> None:
    check_decides_as_one_that_knew_all_kinds(policy, like)


def check_decides_as_one_that_knew_all_kinds(policy: str, like: str) -> None:
    case = Case(workload(like), CLUSTERS[like], policy, oversized="drop", estimate="history")
    growing = Growing(case, policy)
    assert growing.run() == case.simulated()
    assert growing.grown > 10


@pytest.mark.parametrize("policy", ["gittins", "tiresias-skew"])
@pytest.mark.slow
def test_models_come_one_by_one(policy: str) -> None:
    """The first kind names none, so that there are no tables of speeds at first."""
    options = {"assign_models": 1}
    case = Case(workload("itp"), CLUSTERS["itp"], policy, overheads="periodic", estimate="history", **options)
    growing = Growing(case, policy, overheads="periodic")
    assert growing.run() == case.simulated()
    assert growing.grown > 10


def homes(growing: Growing) -> dict[int, int]:
    jobs = growing.world.simulation.handle.jobs
    there = jobs[jobs["state"] != 0]
    return dict(zip(there["row"].tolist(), (there["cls"] % 2).tolist(), strict=True))


def test_each_job_belongs_to_a_scheduler_of_its_own_and_stays_with_it() -> None:
    """Not all jobs of a kind to one, where several divide the cluster."""
    case = Case(workload("itp"), CLUSTERS["itp"], "packed", {"schedulers": 2}, oversized="drop", estimate="history")
    growing = Growing(case, "packed")
    growing.run(lambda: growing.submitted >= 100)
    assert {growing.roster.ask(0).cls % 2 for _ in range(50)} == {0, 1}
    before = homes(growing)
    assert set(before.values()) == {0, 1}
    growing.roster.admit(Kind(gpus=5, user="somebody new"))
    grow(growing.world, growing.roster.prepared, growing.roster.briefing, growing.numbers)
    assert homes(growing) == before
    growing.run()
    clock = growing.world.simulation.handle.world.clock[0]
    assert clock["ended"] == clock["arrived"] == len(case.prepared.trace)


def test_what_users_have_used_counts_when_others_come() -> None:
    case = Case(workload("itp", 120), CLUSTERS["itp"], "multifactor", oversized="drop", estimate="history")
    growing = Growing(case, "multifactor")
    growing.run(lambda: growing.submitted >= 70)
    assert growing.grown > 10
    now_ms, memory = growing.world.now_ms, growing.world.simulation.handle.state.memory
    used = _usage(memory, now_ms)
    assert used > 0.5 * sum(
        (action.at_ms < now_ms) * int(case.prepared.trace["work"][action.row]) for action in growing.actions[:50]
    )
    growing.roster.admit(Kind(gpus=1, user="somebody new", account="another"))
    grow(growing.world, growing.roster.prepared, growing.roster.briefing, growing.numbers)
    assert _usage(growing.world.simulation.handle.state.memory, now_ms) == used
    growing.run()
    clock = growing.world.simulation.handle.world.clock[0]
    assert clock["ended"] == clock["arrived"] == len(case.prepared.trace)
    assert MultifactorMemory(growing.world.simulation.handle.state.memory).accounts[ROOT].held == 0


def _usage(memory: Any, now_ms: int) -> float:
    """GPU-ms that all have used by now, without decay since the last change."""
    root = MultifactorMemory(memory).accounts[ROOT]
    return float(root.usage + root.held * (now_ms - root.since))


def test_a_world_grows_whose_policy_has_just_heard_of_many_jobs() -> None:
    roster = Roster(load_cluster("1x2"), Deciding(LISTENING[0]), [Kind()])
    world = roster.world(1 << 12)
    for _ in range(1_500):
        world.submit(roster.ask(0), 0)
    world.advance(0)
    other = roster.world(1 << 12)
    restore(other, checkpoint(world))
    roster.admit(Kind(account="another"))
    grow(other, roster.prepared, roster.briefing, dict.fromkeys(other.rows(), 0))
    other.advance(1_000)
    assert len(other.rows()) == 1_500
