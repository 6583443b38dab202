"""The verbs of a Python policy, driven at random beside a plain model of what they ought to do."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.experiment import RunOptions
from pointsman.policies.registry import PolicySpec
from pointsman.types import NEVER_MS, JobState, Reason
from tests.oracle.model import Job, Node
from tests.oracle.placement import place

NODES = (Node(4), Node(4), Node(2))
CLUSTER = "2x4+1x2"
Gpu = tuple[int, int]


class Passive:
    """The machine decides between the instants."""

    name = "passive"
    needs = "none"

    def decide(self, view: Any) -> None:
        pass


@dataclass
class ModelJob:
    submit_ms: int
    gpus: int
    left_ms: int
    state: str = "FUTURE"
    on: list[Gpu] = field(default_factory=list)
    due_ms: int = NEVER_MS
    """When the state changes by itself."""
    has_run: bool = False
    started_at_this_instant: bool = False


class Verbs(RuleBasedStateMachine):
    """Time moves only in `advance`; in between, the policy may do what it likes in the pass of the last instant."""

    @initialize(
        table=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6), st.integers(1, 15)), min_size=2, max_size=8),
        start_s=st.sampled_from([0, 2]),
        stop_s=st.sampled_from([0, 3]),
        restore_s=st.sampled_from([0, 1]),
    )
    def begin(self, table: list[tuple[int, int, int]], start_s: int, stop_s: int, restore_s: int) -> None:
        table = sorted(table, key=lambda r: r[0])
        origin = table[0][0]
        frame = pl.DataFrame(
            {
                "submit_s": [float(s) for s, _, _ in table],
                "gpus": [g for _, g, _ in table],
                "duration_s": [float(d) for _, _, d in table],
            }
        )
        self.cost = {"start": 1000 * start_s, "stop": 1000 * stop_s, "restore": 1000 * restore_s}
        costs: dict[str, float] = {"start_s": start_s, "stop_s": stop_s, "restore_s": restore_s}
        self.simulation, _ = open_simulation(
            pointsman.Workload.of(frame), load_cluster(CLUSTER), PolicySpec("passive", Passive), Passive(),
            RunOptions(overheads=costs, audit=True),
        )  # fmt: skip
        self.model = [ModelJob(1000 * (s - origin), g, 1000 * d) for s, g, d in table]
        self.now = self.until = 0
        self.wake = NEVER_MS
        self.advance(0)

    @property
    def view(self) -> Any:
        return self.simulation.view

    def slot(self, row: int) -> int:
        jobs = self.view.jobs
        return int(np.flatnonzero((jobs["state"] != 0) & (jobs["row"] == row))[0])

    def known(self, pick: int) -> int | None:
        """The row of some job that is in the system."""
        rows = [r for r, job in enumerate(self.model) if job.state not in ("FUTURE", "COMPLETED")]
        return rows[pick % len(rows)] if rows else None

    def free(self) -> set[Gpu]:
        every = {(n, g) for n, node in enumerate(NODES) for g in range(node.gpus)}
        return every - {gpu for job in self.model for gpu in job.on}

    @rule(by_s=st.integers(0, 6))
    def advance(self, by_s: int) -> None:
        self.until += 1000 * by_s
        self.simulation.run(self.until)
        while (instant := self.next_instant()) <= self.until:
            self.happen(instant)

    def next_instant(self) -> int:
        coming = [job.submit_ms for job in self.model if job.state == "FUTURE"]
        return min([self.wake, *coming, *(job.due_ms for job in self.model)])

    def happen(self, instant: int) -> None:
        self.now = instant
        if self.wake <= instant:
            self.wake = NEVER_MS
        for job in self.model:
            job.started_at_this_instant = False
            if job.state == "FUTURE" and job.submit_ms <= instant:
                job.state = "PENDING"
            elif job.due_ms <= instant:
                self.change_by_itself(job)

    def change_by_itself(self, job: ModelJob) -> None:
        job.due_ms = NEVER_MS
        if job.state == "STARTING":
            self.run(job)
        else:
            job.state = "COMPLETED" if job.state == "RUNNING" else "PENDING"
            job.on = []

    def run(self, job: ModelJob) -> None:
        job.state, job.has_run, job.due_ms = "RUNNING", True, self.now + job.left_ms

    def begin_job(self, job: ModelJob, on: list[Gpu]) -> None:
        job.on, job.started_at_this_instant = on, True
        delay = self.cost["start"] + (self.cost["restore"] if job.has_run else 0)
        if delay:
            job.state, job.due_ms = "STARTING", self.now + delay
        else:
            self.run(job)

    @rule(pick=st.integers(0, 7))
    def start(self, pick: int) -> None:
        row = self.known(pick)
        if row is None:
            return
        job = self.model[row]
        chosen = place(NODES, Job(0, job.gpus, 0), self.free(), "consolidated")
        if job.state != "PENDING":
            expected = Reason.NotPending
        elif chosen is not None:
            expected = Reason.OK
        else:
            expected = Reason.Resources if job.gpus > len(self.free()) else Reason.Fragmentation
        if job.state == "PENDING":
            assert sorted(self.view.find(self.slot(row))) == sorted(chosen or ())
            assert self.view.fits(self.slot(row)) == (chosen is not None)
        assert self.view.start(self.slot(row)) is expected
        if expected is Reason.OK and chosen is not None:
            self.begin_job(job, sorted(chosen))

    @rule(pick=st.integers(0, 7), gpus=st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4)), max_size=7))
    def start_on_any_gpus(self, pick: int, gpus: list[Gpu]) -> None:
        self.start_on(pick, gpus)

    @rule(pick=st.integers(0, 7), skip=st.integers(0, 4), more=st.sampled_from([0, 0, 0, 1, -1]))
    def start_on_free_gpus(self, pick: int, skip: int, more: int) -> None:
        row = self.known(pick)
        if row is not None:
            self.start_on(pick, sorted(self.free())[skip : skip + self.model[row].gpus + more])

    def start_on(self, pick: int, gpus: list[Gpu]) -> None:
        row = self.known(pick)
        if row is None:
            return
        expected = self.answer_to(self.model[row], gpus)
        assert self.view.start(self.slot(row), gpus) is expected
        if expected is Reason.OK:
            self.begin_job(self.model[row], gpus)

    def answer_to(self, job: ModelJob, gpus: list[Gpu]) -> Reason:
        if len(set(gpus)) < len(gpus):
            return Reason.GpuTaken
        nodes = list(dict.fromkeys(node for node, _ in gpus))
        if not nodes or len(nodes) > len(NODES):
            return Reason.GangIncomplete
        if job.state != "PENDING":
            return Reason.NotPending
        for node in nodes:
            if not 0 <= node < len(NODES):
                return Reason.GpuNotEligible
            if not {gpu for gpu in gpus if gpu[0] == node} <= self.free():
                return Reason.GpuTaken
        return Reason.OK if len(gpus) == job.gpus else Reason.GangIncomplete

    @rule(pick=st.integers(0, 7))
    def preempt(self, pick: int) -> None:
        row = self.known(pick)
        if row is None:
            return
        job = self.model[row]
        expected = Reason.OK
        if job.state != "RUNNING":
            expected = Reason.NotRunning
        elif job.started_at_this_instant:
            expected = Reason.StartedThisPass
        assert self.view.preempt(self.slot(row)) is expected
        if expected is Reason.OK:
            job.left_ms = job.due_ms - self.now
            job.state, job.due_ms = "PENDING", NEVER_MS
            if self.cost["stop"]:
                job.state, job.due_ms = "STOPPING", self.now + self.cost["stop"]
            else:
                job.on = []

    @rule(after_s=st.integers(-2, 8))
    def wake_at(self, after_s: int) -> None:
        time_ms = self.now + 1000 * after_s
        self.view.wake_at(time_ms / 1000)
        if self.now < time_ms < self.wake:
            self.wake = time_ms

    @invariant()
    def the_view_is_the_model(self) -> None:
        if not hasattr(self, "simulation"):
            return
        assert self.view.now_ms == self.now
        jobs = self.view.jobs
        states = {int(j["row"]): JobState(j["state"]).name for j in jobs if j["state"] != 0}
        assert states == {r: j.state for r, j in enumerate(self.model) if j.state not in ("FUTURE", "COMPLETED")}
        free = self.free()
        assert self.view.free_gpus == len(free)
        for node in range(len(NODES)):
            assert self.view.free_on(node) == sorted(gpu for at, gpu in free if at == node)
        assert self.view.free_by_node.tolist() == [sum(at == n for at, _ in free) for n in range(len(NODES))]
        waiting = [r for r, job in enumerate(self.model) if job.state == "PENDING"]
        assert jobs["row"][self.view.pending].tolist() == waiting
        assert self.view.pending_count == len(waiting)

    def teardown(self) -> None:
        """Whatever was done, starting whoever fits ends every job."""
        for _ in range(40 if hasattr(self, "simulation") else 0):
            for pick in range(len(self.model)):
                self.start(pick)
            self.advance(6)
        if hasattr(self, "simulation"):
            assert {job.state for job in self.model} == {"COMPLETED"}
            ended = self.simulation.handle.world.outcomes["state"]
            assert (ended == JobState.COMPLETED).all()


TestVerbs = Verbs.TestCase
TestVerbs.settings = settings(max_examples=60, stateful_step_count=25, deadline=None, derandomize=True)
