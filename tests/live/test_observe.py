"""Another scheduler decides: the world follows what is seen, and the policy says what it would have done."""

import json
import random
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from pointsman.live.observe.loop import RECENT_MS
from pointsman.live.observe.sight import SeenJob, Sight
from pointsman.live.records.store import job_of
from pointsman.live.world.kind import Kind
from pointsman.live.world.roster import Roster
from pointsman.types import JobState, NodeState

from .observed import Observed, Played
from .test_equality import CLUSTERS, workload
from .toy import Case


def case_of(scheduler: str, jobs: int = 120) -> Case:
    return Case(workload("itp", jobs), CLUSTERS["itp"], scheduler, oversized="drop", overheads="none")


def observed(scheduler: str, policy: str, path: Path, jobs: int = 120) -> Observed:
    case = case_of(scheduler, jobs)
    return Observed(Played(case), case, policy, path)


def check_all_is_over(observer: Observed) -> None:
    g = observer.loop.world.simulation.handle.state.g[0]
    assert (g["free"], g["pending"], g["running"], observer.loop.world.ignored) == (g["gpus"], 0, 0, 0)
    assert observer.loop.jobs == {} and observer.loop.attempts == {}
    assert observer.store.connection.execute("SELECT count(*) FROM seats").fetchone()[0] == 0
    alive = observer.store.connection.execute("SELECT count(*) FROM jobs WHERE end_ms IS NULL").fetchone()[0]
    assert alive == 0


@pytest.mark.parametrize(
    "policy",
    ["fifo-backfill", "dally", *(pytest.param(one, marks=pytest.mark.slow) for one in ("fifo", "las", "tiresias"))],
)
def test_it_agrees_with_itself(policy: str, tmp_path: Path) -> None:
    observer = observed(policy, policy, tmp_path / "store")
    for now_ms in observer.played.instants():
        observer.look(now_ms)
    check_all_is_over(observer)
    decisions = observer.decisions()
    assert len(decisions) == sum(len(life.runs) for life in observer.played.lives)
    assert [one for one in decisions if not one["agrees"]] == []
    assert {one["said"] for one in decisions} == {""}


def test_what_differs_is_said_in_a_sentence(tmp_path: Path) -> None:
    observer = observed("fifo", "gittins", tmp_path / "store")
    for now_ms in observer.played.instants():
        observer.look(now_ms)
    check_all_is_over(observer)
    differ = [one for one in observer.decisions() if not one["agrees"]]
    assert len(differ) >= 10
    for one in differ:
        assert (
            one["said"].startswith(("Slurm started 80", "Slurm left GPUs free")) and "gittins would have" in one["said"]
        )
    said = [one["said"] for one in differ]
    assert any("would have started 80" in one and "expected" in one for one in said)


@pytest.mark.parametrize("every_ms", [pytest.param(5_000, marks=pytest.mark.slow), 300_000])
def test_looks_now_and_then_are_enough(every_ms: int, tmp_path: Path) -> None:
    """All times are those of the scheduler, however late they are seen."""
    observer = observed("las", "gittins", tmp_path / "store", 60)
    last_ms = observer.played.instants()[-1]
    for now_ms in range(0, last_ms + every_ms, every_ms):
        observer.look(now_ms)
    check_all_is_over(observer)
    begun = sorted((row, run.begin_unix_ms) for row, life in enumerate(observer.played.lives) for run in life.runs)
    in_book = {(job - 1, at_ms) for job, at_ms in observer.starts()}
    if every_ms == 5_000:  # else runs that begin and end between two looks are not seen
        assert in_book >= {one for one in begun}
    ends = observer.store.connection.execute("SELECT id, end_ms FROM jobs").fetchall()
    assert all(abs(observer.played.lives[job - 1].end_ms - end) <= 1 for job, end in ends)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_whoever_dies_goes_on(seed: int, tmp_path: Path) -> None:
    """The book and all decisions are as if nobody had died."""
    whole, killed = (observed("fifo", "gittins", tmp_path / name, 80) for name in ("whole", "killed"))
    chance = random.Random(seed)
    for now_ms in whole.played.instants():
        whole.look(now_ms)
        killed.look(now_ms)
        if chance.random() < 0.1:
            killed.die()
    check_all_is_over(killed)
    assert killed.starts() == whole.starts()
    assert killed.decisions() == whole.decisions()


@pytest.mark.parametrize("dies", [pytest.param(False, marks=pytest.mark.slow), True])
def test_jobs_may_ask_for_something_else_while_they_wait(dies: bool, tmp_path: Path) -> None:
    observer = observed("fifo", "gittins", tmp_path / "store", 80)
    chance, lives = random.Random(2), observer.played.lives
    for now_ms in observer.played.instants():
        for row, life in enumerate(lives):
            if life.submit_ms < now_ms < life.runs[0].begin_unix_ms and chance.random() < 0.2:
                account = f"account{chance.randrange(3)}"
                observer.played.kinds[row] = observer.played.kinds[row]._replace(account=account)
        observer.look(now_ms)
        if dies and chance.random() < 0.1:
            observer.die()
    check_all_is_over(observer)
    kept = {row["id"]: job_of(row["spec"]) for row in observer.store.connection.execute("SELECT * FROM jobs")}
    assert {job.kind for job in kept.values()} == {*observer.played.kinds}
    changed = observer.store.connection.execute("SELECT target FROM audit WHERE verb = 'change'").fetchall()
    assert len(changed) > 20 and all(row["target"].startswith("80") for row in changed)
    in_book = [row["submit_ms"] for row in observer.store.connection.execute("SELECT submit_ms FROM jobs ORDER BY id")]
    assert in_book == sorted(life.submit_ms for life in lives)


def test_it_begins_in_the_middle(tmp_path: Path) -> None:
    """What ran before is learnt from, and nobody is asked about it."""
    observer = observed("fifo", "gittins", tmp_path / "store")
    instants = observer.played.instants()
    middle = len(instants) // 2
    for now_ms in instants[middle:]:
        observer.look(now_ms)
    check_all_is_over(observer)
    ended = observer.store.connection.execute("SELECT count(*) FROM jobs").fetchone()[0]
    assert ended == len(observer.played.lives)
    assert all(one["at_ms"] >= instants[middle] - RECENT_MS for one in observer.decisions())


def test_jobs_that_our_cluster_could_not_run_are_left_out(tmp_path: Path) -> None:
    observer = observed("fifo", "gittins", tmp_path / "store", 40)
    observer.played.kinds[3] = Kind(gpus=1_000)
    observer.played.kinds[4] = observer.played.kinds[4]._replace(partition="elsewhere", gpu_type="none")
    for now_ms in observer.played.instants():
        observer.look(now_ms)
    check_all_is_over(observer)
    assert observer.store.connection.execute("SELECT count(*) FROM jobs").fetchone()[0] == 39


def test_jobs_with_gpus_of_others_are_held_until_there_is_room(tmp_path: Path) -> None:
    """Two jobs on one GPU, or a node that we do not know: one has it, the other holds nothing, and none is lost."""
    observer = observed("fifo", "gittins", tmp_path / "store", 40)
    lives = observer.played.lives
    for row, life in enumerate(lives):
        if row % 5 == 0:
            lives[row] = life._replace(runs=[run._replace(gpus=(("n0000", 4),)) for run in life.runs])
        if row % 7 == 0:
            lives[row] = life._replace(runs=[run._replace(gpus=(("elsewhere", 1),)) for run in life.runs])
    for now_ms in observer.played.instants():
        observer.look(now_ms)
    check_all_is_over(observer)
    assert observer.store.connection.execute("SELECT count(*) FROM jobs").fetchone()[0] == 40


def test_what_is_held_is_not_started_by_anybody(tmp_path: Path) -> None:
    observer = observed("fifo", "srtf", tmp_path / "store", 40)
    lives = observer.played.lives
    row = next(row for row, life in enumerate(lives) if life.runs[0].begin_unix_ms > life.submit_ms + 600_000)
    released_ms = lives[row].runs[0].begin_unix_ms - 1
    observer.played.held = {row: (0, released_ms)}
    held = set()
    for now_ms in observer.played.instants():
        observer.look(now_ms)
        held |= observer.loop.held
        if row + 1 in observer.loop.held:
            assert observer.loop.why_held(row + 1) == "Slurm starts it in no order of jobs: JobHeldUser"
    check_all_is_over(observer)
    assert held == {row + 1}
    wanted_ms = [one["at_ms"] for one in observer.decisions() if ["START", row + 1] in json.loads(one["instead"])]
    assert all(at_ms >= released_ms for at_ms in wanted_ms)


def turn_by(observer: Observed, seen: Sight | None, now_ms: int) -> None:
    with patch.object(observer.played, "latest", lambda: seen):
        observer.loop.turn(now_ms)


def test_a_run_is_the_same_however_late_it_is_taken_in(tmp_path: Path) -> None:
    """A slow controller, a long turn or a clock that is set make no job start again."""
    observer, chance = observed("las", "gittins", tmp_path / "store", 60), random.Random(1)
    for now_ms in observer.played.instants():
        observer.played.now_ms = now_ms
        turn_by(observer, observer.played.latest(), now_ms + chance.choice([0, 3_000, 6_000]))
        if chance.random() < 0.1:
            observer.die()
    check_all_is_over(observer)
    assert len(observer.starts()) <= sum(len(life.runs) for life in observer.played.lives)


def test_what_is_shown_again_after_its_end_is_left_alone(tmp_path: Path) -> None:
    observer = observed("fifo", "gittins", tmp_path / "store", 40)
    for number, now_ms in enumerate(observer.played.instants()):
        observer.played.now_ms = now_ms
        seen = observer.played.latest()
        alive = [job for job in seen.jobs.values() if job.ended is None] if seen else []
        if seen is not None and alive and number % 10 == 5:
            lost = replace(alive[0], ended=JobState.CANCELLED, run=None)
            seen = replace(seen, jobs={**seen.jobs, lost.key: lost})
        turn_by(observer, seen, now_ms)
    check_all_is_over(observer)
    assert observer.store.connection.execute("SELECT count(*) FROM jobs").fetchone()[0] == 40


def test_a_job_that_gets_other_gpus_has_them_in_the_book(tmp_path: Path) -> None:
    """It was shrunk, or how its GPUs are spread was not known at first."""
    observer = observed("fifo", "gittins", tmp_path / "store", 20)
    first = observer.played.instants()[1]
    observer.played.now_ms = first
    seen = observer.played.latest()
    assert seen is not None
    key, job = next((key, job) for key, job in seen.jobs.items() if job.run is not None)
    turn_by(observer, seen, first)
    moved = replace(job, run=job.run._replace(gpus=(("n0001", 1), ("n0002", 1))))  # ty: ignore
    turn_by(observer, replace(seen, jobs={key: moved}), first + 1_000)
    (attempt,) = [one for one in observer.loop.attempts.values() if one.id.job == observer.loop._rows[key]]
    assert [(node, mask.bit_count()) for node, mask in attempt.parts] == [("n0001", 1), ("n0002", 1)]


def test_kinds_of_one_look_are_admitted_together(tmp_path: Path) -> None:
    """A cluster with thousands of waiting jobs is taken in at once, and those that it could not run are left out."""
    observer = observed("fifo", "gittins", tmp_path / "store", 20)
    kinds = [Kind(gpus=1, user=f"u{number}") for number in range(200)] + [Kind(gpus=1_000, user="huge")]
    jobs = {str(n): SeenJob(str(n), str(n), 0, kind) for n, kind in enumerate([*kinds, Kind(1, partition="elsewhere")])}
    with patch.object(Roster, "_assemble", autospec=True, side_effect=Roster._assemble) as assembled:
        turn_by(observer, Sight(jobs, {}, 0), 0)
    assert assembled.call_count < 40
    assert len(observer.loop.jobs) == 201
    assert len(observer.loop.keys()) == 201


def test_more_jobs_than_there_is_room_for_come_later(tmp_path: Path) -> None:
    with patch("pointsman.live.observe.admission.MOST_JOBS", 3):
        observer = observed("fifo", "gittins", tmp_path / "store", 40)
        for now_ms in observer.played.instants():
            observer.look(now_ms)
            assert len(observer.loop.jobs) <= 3
            observer.played.last_ms = -1  # all that there are are shown again, as Slurm does
    check_all_is_over(observer)
    assert observer.store.connection.execute("SELECT count(*) FROM jobs").fetchone()[0] > 20
    assert "others are taken in when some have" in observer.loop.alarms.last[0][1]


def test_nodes_that_have_changed_are_told_once(tmp_path: Path) -> None:
    """One has lost GPUs, one is gone, one is new."""
    observer = observed("fifo", "gittins", tmp_path / "store", 20)
    names = observer.names
    has = dict(zip(names, observer.loop.world.simulation.handle.state.nodes["gpus"].tolist(), strict=True))
    gpus = {name: many for name, many in has.items() if name != names[1]} | {names[0]: 1, "new": 8}
    states = dict.fromkeys(gpus, NodeState.UP)
    for now_ms in (1_000, 2_000):
        turn_by(observer, Sight({}, states, now_ms, gpus), now_ms)
    assert [said for _, said in observer.loop.alarms.last] == [
        f"nodes have changed since the daemon was started: {names[0]} has 1 GPUs, not {has[names[0]]}; "
        f"{names[1]} has 0 GPUs, not {has[names[1]]}; new has 8 GPUs, not 0; start it again"
    ]
    assert observer.loop.nodes[names[1]] == NodeState.DRAIN


def test_a_policy_that_fails_to_have_an_opinion_is_relieved(tmp_path: Path) -> None:
    observer = observed("fifo", "gittins", tmp_path / "store", 20)
    with patch("pointsman.live.observe.loop.opinion", side_effect=KeyError("lost")):
        for now_ms in observer.played.instants()[:10]:
            observer.look(now_ms)
    assert "policy 'gittins' has no opinion: 'lost'" in observer.loop.alarms.last[0][1]
    for now_ms in observer.played.instants()[10:]:
        observer.look(now_ms)
    check_all_is_over(observer)


def test_a_job_that_is_shown_with_no_gpus_is_held(tmp_path: Path) -> None:
    """The engine cannot start one without any."""
    observer = observed("fifo", "gittins", tmp_path / "store", 20)
    lives = observer.played.lives
    lives[0] = lives[0]._replace(runs=[run._replace(gpus=()) for run in lives[0].runs])
    for now_ms in observer.played.instants():
        observer.look(now_ms)
    check_all_is_over(observer)
    assert observer.store.connection.execute("SELECT count(*) FROM attempts WHERE parts = '[]'").fetchone()[0] == 0
