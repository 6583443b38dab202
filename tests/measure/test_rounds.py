"""Which steps count, and which rounds are measured again."""

import os
import time
from pathlib import Path

import pytest

from pointsman.measure.messages import Run, Setting, Steps
from pointsman.measure.pool import Pool
from pointsman.measure.process import JobProcess, Slot, TimeIsOver
from pointsman.measure.rounds import Limits, Round, calm_rounds, mean_step_s, measure

OWN = Path(__file__).with_name("own_jobs.py")


def test_steps_count_while_all_jobs_run() -> None:
    a = Steps([0.0, 1.0, 2.0, 5.0, 8.0], 0.0, 0)
    b = Steps([1.5, 2.5, 3.5, 4.5, 5.5], 0.0, 0)
    assert mean_step_s([a, b]) == [3.0, 1.0]  # of the first, from 2 to 5


def test_a_job_alone_counts_from_its_first_step_to_its_last() -> None:
    assert mean_step_s([Steps([3.0, 4.0, 6.0], 0.0, 0)]) == [1.5]


def test_steps_longer_than_the_time_together_count_whole() -> None:
    assert mean_step_s([Steps([0.0, 10.0, 20.0], 0.0, 0), Steps([1.0, 2.0, 3.0], 0.0, 0)]) == [10.0, 1.0]


def test_rounds_far_from_the_median_or_with_others_are_disturbed() -> None:
    rounds = [
        Round((t, u), (0, 0), o) for t, u, o in [(1.0, 2.0, 0), (1.04, 2.0, 0), (1.2, 2, 0), (1, 2.3, 0), (1, 2, 0.1)]
    ]
    assert calm_rounds(rounds, 0.05) == rounds[:2]


def test_rounds_are_repeated_until_enough_are_calm_or_there_are_too_many() -> None:
    looked = []
    with Pool(deadline_s=120.0) as pool:
        jobs = pool.take([(Setting(f"{OWN}:quick", 9), Slot("cpu"))])
        found = measure(jobs, Limits(3, 0.02, 1.0, 9), lambda: looked.append(1))
        assert found.rounds == 3
        assert found.spread <= 1.0
        assert 0.001 < found.step_s[0] < 0.1
        assert found.memory_bytes[0] > 1 << 20
        assert looked == [1]
        restless = measure(jobs, Limits(3, 0.02, 0.0, 4))
    assert (restless.rounds, restless.disturbed >= 3) == (4, True)
    assert restless.spread > 0


def test_rounds_are_not_repeated_after_the_time() -> None:
    with Pool(deadline_s=120.0) as pool:
        jobs = pool.take([(Setting(f"{OWN}:quick", 9), Slot("cpu"))])
        pool.stop_at(time.monotonic() + 0.5)
        found = measure(jobs, Limits(3, 0.1, 0.0, 99))
        assert 3 <= found.rounds <= 5
        with pytest.raises(TimeIsOver):
            measure(pool.take([(Setting(f"{OWN}:quick", 8), Slot("cpu"))]), Limits(3, 0.1, 0.0, 99))


def test_what_cannot_be_over_in_time_is_ended_at_once() -> None:
    with Pool(deadline_s=120.0) as pool:
        jobs = pool.take([(Setting(f"{OWN}:quick", 9), Slot("cpu"))])
        begin_s = time.monotonic()
        pool.stop_at(begin_s + 5.0)
        with pytest.raises(TimeIsOver):
            measure(jobs, Limits(100, 0.1, 0.5, 300))
    assert time.monotonic() - begin_s < 2.5


def test_a_steady_disturbance_is_a_spread() -> None:
    core = min(os.sched_getaffinity(0))
    with Pool(deadline_s=120.0) as pool:
        jobs = pool.take([(Setting(f"{OWN}:dozes", 1), Slot("cpu", (core,)))])
        other = JobProcess(Slot("cpu", (core,)), 120.0)
        try:
            other.prepare(Setting(f"{OWN}:spin", 1), 1)
            other.begin(Run(60.0, 1))
            found = measure(jobs, Limits(2, 0.2, 0.05, 3))
        finally:
            other.close()
    assert (found.rounds, found.disturbed) == (3, 3)
    assert 0.5 < found.spread <= 1
