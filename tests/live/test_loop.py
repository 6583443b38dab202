"""The control loop on a simulated cluster: it decides as `simulate`, whatever goes wrong, and each job is done once."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pointsman.errors import BackendError
from pointsman.live.backends.shadow import Delays, Faults, Program, exponential
from pointsman.live.control.loop import FEW, MOST_MS
from pointsman.live.control.orders import JobOrder
from pointsman.live.control.orders import Verb as OrderOf
from pointsman.live.records.store import Store
from pointsman.live.world.live_world import LiveWorld
from pointsman.policies.registry import LEARNED
from pointsman.types import Verb
from pointsman.workload import Workload

from .stepped import Stepped
from .test_checkpoint import LISTENING
from .test_equality import CLUSTERS, OTHERS, workload
from .toy import Case


def case_of(policy: str, like: str = "philly") -> Case:
    return Case(workload(like, 80), CLUSTERS[like], policy, oversized="drop")


def simulated(case: Case) -> list[tuple[int, int, int, str]]:
    names = case.prepared.layout.node_names
    starts = [action for action in case.simulated() if action.verb == Verb.START]
    named = [json.dumps([[names[node], mask] for node, mask in action.parts]) for action in starts]
    return sorted((a.at_ms, a.row, a.attempt, parts) for a, parts in zip(starts, named, strict=True))


def check_all_is_well(stepped: Stepped) -> None:
    """Each job did its work once, no GPU had two, and nothing is left."""
    assert stepped.shadow.twice == []
    assert stepped.shadow.runs == dict.fromkeys(range(len(stepped.submits)), 1)
    assert stepped.shadow.alive() == []
    assert stepped.loop.attempts == {}
    assert stepped.loop.world.ignored == 0
    assert stepped.loop.store.connection.execute("SELECT count(*) FROM seats").fetchone()[0] == 0
    g = stepped.loop.world.simulation.handle.state.g[0]
    assert (g["free"], g["pending"], g["running"]) == (g["gpus"], 0, 0)


@pytest.mark.parametrize("policy", ["gittins", "dally", "srtf", "easy", "kueue", "scorer", "topdrl", *OTHERS])
def test_it_decides_as_simulated(policy: str, tmp_path: Path) -> None:
    if policy in LEARNED:
        pytest.importorskip("torch", reason="make learn")
    case = case_of(policy)
    stepped = Stepped(case, tmp_path / "store")
    stepped.run()
    check_all_is_well(stepped)
    assert stepped.decisions() == simulated(case)


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 7])
@pytest.mark.parametrize("policy", ["gittins", "dally", "tiresias", "multifactor", *LISTENING])
def test_a_daemon_that_dies_after_every_so_many_turns_decides_as_one_that_does_not(
    policy: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.live.control.loop.TURNS", 5)
    case = Case(workload("philly", 25), CLUSTERS["philly"], policy, oversized="drop")
    stepped = Stepped(case, tmp_path / "store")
    stepped.run(lambda: stepped.die() if stepped.loop.turns % every == 0 else None)
    check_all_is_well(stepped)
    assert stepped.decisions() == simulated(case)


FAULTS = {
    "refused": Faults(refused=0.2),
    "unheard": Faults(unheard=0.2),
    "unanswered": Faults(unanswered=0.3),
    "forgotten": Faults(forgotten=0.2),
    "failing starts": Faults(failing_start=0.2),
    "hidden": Faults(hidden=0.2),
    "all": Faults(0.05, 0.05, 0.05, 0.05, 0.05, 0.05),
}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", FAULTS)
def test_each_job_is_done_once_whatever_goes_wrong(fault: str, seed: int, tmp_path: Path) -> None:
    case = case_of("gittins")
    delays = Delays(exponential(10_000), exponential(20_000), exponential(5_000))
    stepped = Stepped(case, tmp_path / "store", FAULTS[fault], delays, seed)
    stepped.poll_ms = 600_000
    stepped.run(lambda: stepped.die() if seed == 2 and stepped.loop.turns % 50 == 0 else None)
    check_all_is_well(stepped)


def test_a_job_whose_starts_always_fail_costs_others_little(tmp_path: Path) -> None:
    case = case_of("tiresias")
    widest = int(case.prepared.jobs["gpus"].arg_max())
    stepped = Stepped(case, tmp_path / "store")
    stepped.shadow.programs = {**stepped.shadow.programs, widest: Program(1.0, never_starts=True)}
    while len(stepped.shadow.runs) < len(stepped.submits) - 1:
        assert stepped.turn()
    hours = stepped.shadow.now_ms / 3.6e6
    starts = [row for row in stepped.decisions() if row[1] == widest]
    assert 3 <= len(starts) <= 8 + hours


def test_failed_starts_count_and_alarms_are_known_after_a_death(tmp_path: Path) -> None:
    stepped = Stepped(case_of("fifo"), tmp_path / "store")
    stepped.submits, stepped.jobs = stepped.submits[:1], stepped.jobs[:1]
    stepped.shadow.programs = {0: Program(1.0, never_starts=True)}
    while len(stepped.decisions()) < 4:
        assert stepped.turn()
        stepped.die()
    *before, after = (parts for *_, parts in stepped.decisions())
    assert before == [before[0]] * 3 and after != before[0]
    assert all("is drained: starts on it fail" in said for _, said in stepped.loop.alarms.last)
    assert set(stepped.loop.store.wanted_nodes()) == {node for node, _ in json.loads(before[0])}


def test_a_checkpoint_is_kept_after_five_minutes_with_many_turns(tmp_path: Path) -> None:
    stepped = Stepped(case_of("gittins"), tmp_path / "store")
    turns_in_journal: list[int] = []

    def look() -> None:
        sql = "SELECT count(*), max(at_ms) - min(at_ms) FROM journal WHERE what = 'advance'"
        turns, long_ms = stepped.loop.store.connection.execute(sql).fetchone()
        turns_in_journal.append(turns)
        assert turns < FEW or long_ms < MOST_MS

    stepped.run(look)
    assert max(turns_in_journal) >= FEW - 1


class Protecting(Case):
    """Attempts run for ten minutes before they may be preempted."""

    def world(self, room: int = 1 << 12) -> LiveWorld:
        world = super().world(room)
        return LiveWorld(world.prepared, replace(self.rules, min_run_ms=600_000), self.policy(), None, room)


def test_a_job_may_be_preempted_as_soon_as_it_is_not_protected(tmp_path: Path) -> None:
    """A job of a day has all GPUs; one of a minute comes after two, and nothing else happens."""
    frame = pl.DataFrame({"job_id": ["a", "b"], "submit_s": [0.0, 120.0], "duration_s": [86_400.0, 60.0], "gpus": 4})
    case = Protecting(Workload.of(frame, source="test"), "1x4", "srtf", estimate="oracle")
    stepped = Stepped(case, tmp_path / "store")
    stepped.run(stepped.die)
    rows = stepped.loop.store.connection.execute(
        "SELECT job, started_ms, stopping_ms FROM attempts ORDER BY started_ms"
    )
    (_, started_ms, stopping_ms), *others = rows.fetchall()
    assert stopping_ms == started_ms + 600_000
    assert [row["job"] for row in others] == [1, 0]


def test_a_job_that_is_cancelled_frees_its_gpus_when_it_is_gone(tmp_path: Path) -> None:
    case = case_of("fifo")
    stepped = Stepped(case, tmp_path / "store")
    for _ in range(20):
        stepped.turn()
    job = next(iter(stepped.loop.attempts)).job
    stepped.loop.turn(stepped.shadow.now_ms, orders=[JobOrder(OrderOf.CANCEL, job)])
    assert any(id_.job == job for id_ in stepped.loop.attempts)
    stepped.run()
    assert job not in stepped.shadow.runs
    assert stepped.loop.attempts == {}
    done = next(iter(stepped.shadow.runs))
    stepped.loop.turn(stepped.shadow.now_ms, orders=[JobOrder(OrderOf.CANCEL, job), JobOrder(OrderOf.CANCEL, done)])
    states = dict(stepped.loop.store.connection.execute("SELECT id, state FROM jobs").fetchall())
    assert (states[job], states[done]) == ("CANCELLED", "COMPLETED")


def test_one_process_owns_a_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with pytest.raises(BackendError, match="another process owns"):
        Store(tmp_path / "store")
    store.close()
    Store(tmp_path / "store").close()


def test_a_job_is_stopped_at_its_time_limit(tmp_path: Path) -> None:
    case = case_of("fifo")
    stepped = Stepped(case, tmp_path / "store")
    longest = int(case.prepared.trace["work"].argmax())
    stepped.jobs[longest] = replace(stepped.jobs[longest], limit_ms=60_000)
    stepped.run()
    assert longest not in stepped.shadow.runs
    ended = stepped.loop.store.connection.execute("SELECT id, state FROM jobs WHERE state <> 'COMPLETED'").fetchall()
    assert [tuple(row) for row in ended] == [(longest, "TIMEOUT")]
    (run,) = stepped.loop.store.connection.execute("SELECT * FROM attempts WHERE job = ?", (longest,)).fetchall()
    assert run["ended_ms"] - run["started_ms"] == 60_000 + case.rules.stop_ms


def test_a_submission_that_is_repeated_is_the_same_job(tmp_path: Path) -> None:
    stepped = Stepped(case_of("fifo"), tmp_path / "store")
    job = replace(stepped.jobs[0], request_key="a")
    assert stepped.loop.turn(0, [job, job]) == [0, 0]
    stepped.die()
    assert stepped.loop.turn(1, [job, replace(job, uid=1), replace(job, request_key=None)]) == [0, 1, 2]


class Broken:
    """Starts jobs in order, and fails at the tenth decision."""

    name = "broken"
    needs = "none"

    def __init__(self) -> None:
        self.decisions = 0

    def decide(self, view: Any) -> None:
        self.decisions += 1
        for job in view.pending:
            view.start(job)
        if self.decisions == 10:
            raise ValueError("out of ideas")


def test_a_policy_that_fails_is_relieved_and_every_job_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of("fifo")
    monkeypatch.setattr(case, "policy", Broken)
    stepped = Stepped(case, tmp_path / "store")
    while not stepped.loop.alarms.last:
        assert stepped.turn()
    ((_, alarm),) = stepped.loop.alarms.last
    assert "policy 'broken' failed" in alarm
    assert "out of ideas" in alarm
    assert "fifo-backfill decides from now on" in alarm
    for _ in range(5):
        stepped.turn()
    stepped.die()
    assert stepped.loop.world.simulation.policy.name == "fifo-backfill"
    stepped.run()
    check_all_is_well(stepped)


def test_a_job_can_be_held_or_cancelled_as_it_is_submitted(tmp_path: Path) -> None:
    stepped = Stepped(case_of("gittins"), tmp_path / "store")
    held, other = replace(stepped.jobs[0], held=True), stepped.jobs[1]
    assert stepped.loop.turn(0, [held, other], [JobOrder(OrderOf.CANCEL, 1)]) == [0, 1]
    assert (stepped.loop.held, [*stepped.loop.jobs], stepped.loop.attempts) == ({0}, [0], {})
    stepped.loop.turn(1, orders=[JobOrder(OrderOf.RELEASE, 0)])
    assert [id_.job for id_ in stepped.loop.attempts] == [0]
    assert stepped.loop.world.ignored == 0
