"""Whatever happens in whatever order to a daemon on a cluster that errs: no GPU is given twice, no job is lost or done
twice, and when nothing goes wrong any more every job comes to its end.
"""

import asyncio
import os
import re
import sqlite3
import tempfile
from collections.abc import Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="pip install pointsman[live]")

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pointsman.cluster import load_cluster
from pointsman.errors import BackendError
from pointsman.live.backends.shadow import Delays, Faults, Program, Shadow, exponential
from pointsman.live.control.orders import JobOrder, NodeOrder, Verb
from pointsman.live.control.safety import NodeFaults
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.setting import Setting
from pointsman.live.daemon.submission import Submission
from pointsman.live.world.roster import Deciding
from pointsman.types import NEVER_MS, NodeState

CLUSTER = "3x4/rack=2"
POLICIES = ("fifo-backfill", "gittins", "las", "multifactor")
HOUR_MS = 3_600_000


class Programs(Mapping[int, Program]):
    """Each job has some work, by its number."""

    def __getitem__(self, job: int) -> Program:
        return Program(1_000.0 * (1 + job * 7_919 % 997))

    def __len__(self) -> int:
        return 1 << 30

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))


class SteppedClock:
    """It shows what it is set to."""

    def __init__(self) -> None:
        self.at_ms = 0

    def now_ms(self) -> int:
        return self.at_ms

    def unix_ms(self, at_ms: int) -> int:
        return at_ms


class Anything(RuleBasedStateMachine):
    """A cluster, its users, its operators and its misfortunes."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = SteppedClock()
        self.submitted: dict[int, Submission] = {}
        self.cancelled: set[int] = set()
        self.struck: set[int] = set()
        """Jobs whose nodes have failed: that they were done may not have been seen."""
        self.daemon: Daemon | None = None

    @initialize(
        policy=st.sampled_from(POLICIES),
        faults=st.sampled_from([Faults(), Faults(0.1, 0.1, 0.1, 0.1, 0.1, 0.1)]),
        seed=st.integers(0, 1000),
    )
    def begin(self, policy: str, faults: Faults, seed: int) -> None:
        delays = Delays(exponential(10_000), exponential(20_000), exponential(5_000))
        self.shadow = Shadow(load_cluster(CLUSTER), Programs(), delays, faults, seed)
        self.start(policy)

    def start(self, policy: str | None = None) -> None:
        setting = Setting(
            Path(self.folder.name), CLUSTER, policy,
            backend=lambda cluster, folder: self.shadow, clock=lambda store, least_ms: self.clock,  # ty: ignore
        )  # fmt: skip
        self.daemon = Daemon(setting)
        self.daemon.store.connection.execute("PRAGMA synchronous = OFF")  # the machine goes on, whatever dies here
        self.daemon.loop.faults = NodeFaults(faults=1_000_000)  # or they would all be drained

    def asks(self, *wishes: Coroutine[Any, Any, Any]) -> list[Any]:
        """What comes of wishes that are heard in one turn."""

        async def together() -> list[Any]:
            tasks = [asyncio.ensure_future(wish) for wish in wishes]
            while len(self.the_daemon._mail) < len(tasks):  # some look for compiled code in a thread before
                await asyncio.sleep(0.0001)
            self.the_daemon.turn()
            return await asyncio.gather(*tasks)

        return asyncio.run(together())

    @property
    def the_daemon(self) -> Daemon:
        assert self.daemon is not None
        return self.daemon

    def alive(self) -> list[int]:
        return sorted(self.the_daemon.loop.jobs)

    # -- users and operators ------------------------------------------------------------------------------

    @rule(
        sizes=st.lists(st.integers(1, 12), min_size=1, max_size=4),
        requeue=st.booleans(),
        limit=st.sampled_from([None, 60.0, 3_600.0]),
        account=st.sampled_from([None, "physics", "biology"]),
        hold=st.booleans(),
    )
    def submit(self, sizes: list[int], requeue: bool, limit: float | None, account: str | None, hold: bool) -> None:
        wishes = [
            Submission(
                command=["train"], gpus=gpus, requeue=requeue, time_limit_s=limit, account=account, hold=hold,
                zero_is_done=True,
            )
            for gpus in sizes
        ]  # fmt: skip
        numbers = self.asks(*(self.the_daemon.submit(wish, os.getuid()) for wish in wishes))
        assert not set(numbers) & set(self.submitted)
        self.submitted |= dict(zip(numbers, wishes, strict=True))

    @precondition(lambda self: self.daemon is not None and self.alive())
    @rule(verb=st.sampled_from(Verb), data=st.data())
    def order(self, verb: Verb, data: Any) -> None:
        job = data.draw(st.sampled_from(self.alive()))
        if verb is Verb.CANCEL:
            self.cancelled.add(job)
        self.asks(self.the_daemon.order(JobOrder(verb, job)))

    @rule(node=st.integers(0, 2), drain=st.booleans())
    def want(self, node: int, drain: bool) -> None:
        name = self.the_daemon.node_names[node]
        self.asks(self.the_daemon.order(NodeOrder(name, NodeState.DRAIN if drain else NodeState.UP, "")))

    @rule(policy=st.sampled_from(POLICIES))
    def switch(self, policy: str) -> None:
        self.asks(self.the_daemon.decide_by(Deciding(policy, {}, {"overheads": "realistic"})))

    # -- time and misfortunes -----------------------------------------------------------------------------

    @rule(ms=st.sampled_from([1, 1_000, 60_000, HOUR_MS]))
    def time_passes(self, ms: int) -> None:
        self.until(self.clock.at_ms + ms)

    @rule(many=st.integers(1, 10))
    def things_happen(self, many: int) -> None:
        for _ in range(many):
            if (at_ms := self.next_ms()) < NEVER_MS:
                self.until(at_ms)

    def next_ms(self) -> int:
        poll_ms = self.clock.at_ms + 60_000 if self.the_daemon.loop.attempts else NEVER_MS
        return max(self.clock.at_ms, min(self.shadow.next_ms(), self.the_daemon.loop.due_ms, poll_ms))

    def until(self, at_ms: int) -> None:
        self.clock.at_ms = at_ms
        self.shadow.step(at_ms)
        self.the_daemon.turn()

    @rule(node=st.integers(0, 2), state=st.sampled_from(NodeState))
    def node_changes(self, node: int, state: NodeState) -> None:
        name = self.the_daemon.node_names[node]
        if state == NodeState.DOWN:
            parts = {one.id.job: one.parts for one in self.the_daemon.loop.attempts.values()}
            self.struck |= {job for job, own in parts.items() if any(node == name for node, _ in own)}
        self.shadow.set_node(name, state)
        self.the_daemon.turn()

    @rule()
    def the_daemon_is_killed(self) -> None:
        self.the_daemon.close()
        self.start()
        self.the_daemon.turn()

    @rule()
    def the_daemon_is_upgraded(self) -> None:
        self.the_daemon.loop.keep_all()
        (data,) = self.the_daemon.store.connection.execute("SELECT data FROM checkpoints").fetchone()
        other = re.sub(rb'"identity": "[0-9a-f]{8}', b'"identity": "00000000', data, count=1)
        self.the_daemon.store.connection.execute("UPDATE checkpoints SET data = ?", (other,))
        self.the_daemon.close()
        self.start()
        self.the_daemon.turn()

    @rule(ms=st.sampled_from([1, 60_000, HOUR_MS]))
    def the_disk_is_full(self, ms: int) -> None:
        """The next turn that would be kept is not, and the daemon ends."""
        daemon = self.the_daemon
        commit = daemon.store.commit

        def full() -> None:
            raise sqlite3.OperationalError("database or disk is full")

        daemon.store.commit = full  # ty: ignore
        try:
            self.until(self.clock.at_ms + ms)
        except BackendError:
            daemon.close()
            self.start()
            self.the_daemon.turn()
        else:
            daemon.store.commit = commit  # ty: ignore

    @rule()
    def the_policy_fails(self) -> None:
        self.the_daemon.loop.relieve("it failed")

    # -- what must hold -----------------------------------------------------------------------------------

    @invariant()
    def nothing_is_given_twice(self) -> None:
        if self.daemon is not None:
            assert self.shadow.twice == []
            assert {job for job, many in self.shadow.runs.items() if many > 1} <= self.struck

    @invariant()
    def what_is_free_here_is_not_busy_there(self) -> None:
        if self.daemon is None:
            return
        busy = dict.fromkeys(self.the_daemon.node_names, 0)
        for id_ in self.shadow.alive():
            for node, mask in self.shadow.parts_of(id_):
                busy[node] |= mask
        nodes = self.the_daemon.loop.world.simulation.handle.state.nodes
        for k, name in enumerate(self.the_daemon.node_names):
            if nodes["state"][k] == NodeState.UP:
                free = int(nodes["free_mask"][k])
                assert free & busy[name] == 0, (name, free, self.shadow.alive(), self.the_daemon.loop.attempts)

    @invariant()
    def every_job_is_there_or_has_ended(self) -> None:
        if self.daemon is None:
            return
        rows = self.the_daemon.store.connection.execute("SELECT id, end_ms FROM jobs").fetchall()
        assert {row["id"] for row in rows} == set(self.submitted)
        assert {row["id"] for row in rows if row["end_ms"] is None} == set(self.the_daemon.loop.jobs)

    def teardown(self) -> None:
        if self.daemon is not None:
            self.come_to_an_end()
            self.daemon.close()
        self.folder.cleanup()

    def come_to_an_end(self) -> None:
        """Nothing goes wrong any more, and nobody holds anything."""
        self.shadow.faults = Faults()
        for name in self.the_daemon.node_names:
            self.shadow.set_node(name, NodeState.UP)
            self.asks(self.the_daemon.order(NodeOrder(name, NodeState.UP, "")))
        if self.alive():
            self.asks(*(self.the_daemon.order(JobOrder(Verb.RELEASE, job)) for job in self.alive()))
        for _ in range(20_000):
            if not self.alive() and not self.shadow.alive():
                break
            self.until(self.next_ms())
        assert self.alive() == []
        assert self.shadow.alive() == []
        self.nothing_is_given_twice()
        done = set(self.shadow.runs)
        rows = self.the_daemon.store.connection.execute("SELECT id, state FROM jobs").fetchall()
        completed = {row["id"] for row in rows if row["state"] == "COMPLETED"}
        assert completed <= done
        assert done - completed <= self.cancelled | self.struck
        g = self.the_daemon.loop.world.simulation.handle.state.g[0]
        nodes = self.the_daemon.loop.world.simulation.handle.state.nodes
        assert nodes["state"].tolist() == [NodeState.UP] * 3
        assert nodes["free_mask"].tolist() == [15] * 3
        counts = {name: int(g[name]) for name in ("pending", "starting", "running", "stopping", "queued_gpus")}
        assert counts == dict.fromkeys(counts, 0), counts


HOWEVER = {"stateful_step_count": 30, "deadline": None, "suppress_health_check": list(HealthCheck)}


class TestAnything(Anything.TestCase):
    """On every day."""

    settings = settings(max_examples=4, **HOWEVER)  # ty: ignore


@pytest.mark.slow
class TestAnythingAtLength(Anything.TestCase):
    """Before a release."""

    settings = settings(max_examples=300, **HOWEVER)  # ty: ignore
