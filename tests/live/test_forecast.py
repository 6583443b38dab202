"""How long jobs run, how they come, and when those that wait will start."""

import math
import random
import tracemalloc
from dataclasses import replace

import pytest

from pointsman.cluster import load_cluster
from pointsman.live.forecast.arrivals import HOUR_MS, Arrivals, Came
from pointsman.live.forecast.durations import Draw, Durations, Like, Shared
from pointsman.live.forecast.futures import starts
from pointsman.live.forecast.present import Present
from pointsman.live.forecast.record import Record
from pointsman.live.forecast.whatif import Change, what_if
from pointsman.live.records.job import Job
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import Ask
from pointsman.live.world.roster import Deciding, Roster
from pointsman.types import Event, Told

ANN = Like(1, "train7", 4)
S, START_MS = 1000, 10_000


def middle(durations: Durations, job: Like, ran_ms: float = 0.0) -> float:
    """Where batches run no longer and no shorter than those before."""
    draw = random.Random(1)
    durations.batches = durations.all_jobs = Shared(0.0)
    if ran_ms:
        return sorted(Draw(durations, draw).left_ms(job, ran_ms, draw.random()) for _ in range(401))[200]
    return sorted(Draw(durations, draw).whole_ms(job, draw.random()) for _ in range(401))[200]


def test_before_any_job_has_ended_a_guess_is_made_that_grows_with_what_a_job_has_run() -> None:
    durations = Durations()
    assert 500 * S < middle(durations, ANN) < 2_000 * S
    assert middle(durations, ANN, 10_000 * S) > 5_000 * S
    assert middle(durations, ANN, 1e15) == pytest.approx(1e15)


def test_jobs_are_like_those_of_the_same_user_name_and_size() -> None:
    durations = Durations()
    for k in range(60):
        durations.learn(Like(1, f"train{k}", 4), 100 * S)
        durations.learn(Like(1, "test", 4), 10 * S)
        durations.learn(Like(2, "train", 4), 50 * S)
    assert middle(durations, ANN) == 100 * S
    assert middle(durations, Like(1, "test", 4)) == 10 * S
    assert middle(durations, Like(2, "other", 4)) == 50 * S


def test_a_job_that_runs_is_like_those_that_ran_longer() -> None:
    durations = Durations()
    for k in range(1, 61):
        durations.learn(ANN, k * S)
    assert 20 * S < middle(durations, ANN) <= 50 * S
    assert 5 * S < middle(durations, ANN, 45 * S) < 12 * S


def test_the_last_jobs_count_most() -> None:
    durations = Durations()
    for ms in [10 * S] * 60 + [90 * S] * 40:
        durations.learn(ANN, ms)
    assert middle(durations, ANN) == 90 * S


def test_how_far_batches_are_from_those_before_is_learnt() -> None:
    alike, apart = Durations(), Durations()
    draw = random.Random(0)
    for _ in range(40):
        factor = math.exp(draw.gauss(0.0, 1.0))
        for _ in range(20):
            alike.learn(Like(1, "train", 1), 100 * S * math.exp(draw.gauss(0.0, 0.3)))
            apart.learn(Like(1, "train", 1), factor * 100 * S * math.exp(draw.gauss(0.0, 0.3)))
    assert alike.batches.sigma < 0.3
    assert 0.8 < apart.batches.sigma < 1.8
    wholes = sorted(Draw(apart, random.Random(k)).whole_ms(Like(1, "train", 1), 0.5) for k in range(200))
    assert wholes[180] > 3 * wholes[20]


def test_jobs_that_run_count_as_long_as_they_will_run() -> None:
    """A hundred jobs of an hour began ten minutes ago, as did ten of a minute, which alone have ended."""
    durations, draw = Durations(), random.Random(1)
    for _ in range(10):
        durations.learn(ANN, 60 * S)
    durations.batches = durations.all_jobs = Shared(0.0)
    one = Draw(durations, draw)
    assert all(one.left_ms(ANN, 600 * S, draw.random()) > 0 for _ in range(100))
    wholes = sorted(one.whole_ms(ANN, draw.random()) for _ in range(401))
    assert wholes[200] > 600 * S
    assert wholes[10] == 60 * S


def test_jobs_come_as_at_the_same_time_of_day() -> None:
    arrivals = Arrivals()
    for hour in range(0, 72):
        for k in range(5 if hour % 24 == 9 else 1):
            arrivals.add(Came(hour * HOUR_MS + k * 60 * S, Job(Ask(0, 0, 0, 0))))
    hours, draw = arrivals.hours(72 * HOUR_MS), random.Random(0)
    many = [len(hours.drawn(ahead, draw)) for ahead in range(48)]
    assert many == [5 if hour % 24 == 9 else 1 for hour in range(48)]
    assert [came.at_ms for came in hours.drawn(9, draw)] == [k * 60 * S for k in range(5)]


def test_nothing_is_known_of_jobs_to_come_in_the_first_hour() -> None:
    arrivals = Arrivals()
    arrivals.add(Came(0, Job(Ask(0, 0, 0, 0))))
    assert arrivals.hours(HOUR_MS - 1).drawn(0, random.Random(0)) == []


def line(policy: str = "fifo", cluster: str = "1x1", sizes: tuple[int, ...] = (1, 1, 1)) -> tuple[Present, Roster]:
    """Jobs in line, of which those that fit have run for 40 s."""
    kinds = [Kind(gpus=gpus, user="ann") for gpus in sorted(set(sizes))]
    roster = Roster(load_cluster(cluster), Deciding(policy, {}, {"overheads": "realistic"}), kinds)
    world = roster.world(1 << 10)
    jobs = {}
    for gpus in sizes:
        kind = Kind(gpus=gpus, user="ann")
        job = Job(roster.ask(roster.numbers[kind]), kind, name="train", uid=1)
        jobs[world.submit(job.ask, 0)] = job
    began = {action.row: START_MS for action in world.advance(0)}
    for row in began:
        world.tell(Event.STARTED, row, START_MS)
    world.advance(START_MS)
    return Present(world, START_MS + 40 * S, jobs, began, kinds=roster.numbers), roster


def of_100_s() -> Record:
    record = Record()
    for gpus in (1, 2, 3, 4):
        for _ in range(100):
            record.durations.learn(Like(1, "train", gpus), 100 * S)
    record.durations.batches = record.durations.all_jobs = Shared(0.0)
    return record


def test_jobs_in_line_start_one_after_another() -> None:
    """One GPU; each job runs for 100 s, and the first has run for 40:

    now   60       170      |  a start takes 10 s
    1.....|2.......|3.......|
    """
    present, _ = line()
    found = starts(present, of_100_s())
    assert {row: set(start.times_ms) for row, start in found.items()} == {2: {70.0 * S}, 3: {180.0 * S}}


@pytest.mark.parametrize("policy", ["easy", "conservative", "srtf", "scorer", "kueue", "gittins"])
def test_a_policy_that_requires_durations_takes_over_from_one_that_does_not(policy: str) -> None:
    present, roster = line("las", "2x4", (2, 8, 2, 4, 4, 1))
    answer = what_if(present, Change(Deciding(policy, {}, {"overheads": "realistic"})), roster, of_100_s(), draws=5)
    assert answer.until_end is not None
    assert answer.until_end.then_s < 3_600


def test_a_job_that_is_held_is_not_expected_and_holds_up_nobody() -> None:
    present, _ = line()
    present.world.tell(Told.HOLD, 2, present.world.now_ms)
    present.world.advance(present.world.now_ms)
    assert [(row, *start.times_ms) for row, start in starts(present, of_100_s()).items()] == [(3, *[70.0 * S] * 3)]
    paused = replace(present, pauses=((2, present.now_ms + 80 * S),))
    assert {row: start.likely_ms for row, start in starts(paused, of_100_s()).items()} == {2: 180.0 * S, 3: 70.0 * S}


def test_a_time_limit_bounds_what_is_expected() -> None:
    present, _ = line()
    jobs = {row: replace(job, limit_ms=70 * S) for row, job in present.jobs.items()}
    found = starts(replace(present, jobs=jobs), of_100_s())
    assert [start.likely_ms for start in found.values()] == [40.0 * S, 120.0 * S]


def test_jobs_to_come_delay_those_that_wait_only_where_they_go_first() -> None:
    present, roster = line("sjf", sizes=(1, 1))
    record = of_100_s()
    for k in range(20):
        job = Job(roster.ask(0), Kind(gpus=1, user="ann"), name="train", uid=1)
        record.arrivals.add(Came(present.now_ms - HOUR_MS + 1 + k * 60 * S, job))
    (alone,) = starts(present, record).values()
    assert set(alone.times_ms) == {70.0 * S}


def test_what_if_a_job_is_cancelled_a_node_drained_or_another_job_comes() -> None:
    present, roster = line()
    record = of_100_s()
    answer = what_if(present, Change(cancelled=(2,)), roster, record)
    assert answer.jobs[3].change_s == -110.0
    assert (answer.gain, answer.lose) == (1, 0)
    new = what_if(present, Change(submitted=(Job(Ask(0, 0, 0, 0), Kind(gpus=1, user="bob"), uid=2),)), roster, record)
    assert [start.likely_ms for start in new.new.values()] == [290.0 * S]
    two, roster = line(cluster="2x1", sizes=(1, 1, 1, 1))
    drained = what_if(two, Change(drained=(1,)), roster, record)
    assert drained.until_start is not None
    assert drained.until_start.now_s == 70.0
    assert drained.until_start.then_s == (70.0 + 180.0) / 2


def test_what_if_a_policy_decides_that_decides_alike() -> None:
    present, roster = line("fifo", "1x4", (3, 4, 1))
    answer = what_if(present, Change(Deciding("las", {}, roster.deciding.options)), roster, of_100_s())
    assert answer.until_end is not None
    assert answer.until_end.now_s > 0.0
    same = what_if(present, Change(roster.deciding), roster, of_100_s())
    assert same.until_start is not None
    assert (same.until_start.change_s, same.decisions, same.jobs) == (0.0, [], {})


def test_the_worlds_of_futures_are_not_kept() -> None:
    """Forty of them would take gigabytes on a large cluster."""
    present, roster = line()
    record = of_100_s()
    tracemalloc.start()
    try:
        world = present.world.copy()
        of_a_world = tracemalloc.get_traced_memory()[0]
        del world
        tracemalloc.reset_peak()
        what_if(present, Change(cancelled=(2,)), roster, record)
        assert tracemalloc.get_traced_memory()[1] < 5 * of_a_world
    finally:
        tracemalloc.stop()


def test_what_if_another_policy_decides() -> None:
    """Four GPUs: one of 3 runs, and a gang of 4 waits before a job of one."""
    present, roster = line("fifo", "1x4", (3, 4, 1))
    answer = what_if(present, Change(Deciding("fifo-backfill", {}, roster.deciding.options)), roster, of_100_s())
    assert answer.decisions[0] == (0, "start", 3, "then")
    assert answer.jobs[3].change_s < -100
