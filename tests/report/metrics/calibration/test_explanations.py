"""What may explain that a log and a simulation differ: what is said, and from where on."""

import pytest

import pointsman

from .logs import explained, log

TOO_FEW = "started in the log while this cluster has too few free GPUs"
TOO_MANY = "GPUs were ever in use in the log"
BESIDE_IDLE = "of the time that jobs waited in the log, enough GPUs of this cluster were free"
OVERTAKEN = "of the jobs started in the log before one that was submitted earlier"
LATE = (50_000.0, 1, 10.0, 50_009.0, 50_019.0)
"""Starts 9 s late in the log, so that no policy is exact and something is to be explained."""


@pytest.mark.parametrize(("gpus", "said"), [(10, ""), (11, "1 job (50.0 %)"), (12, "up to 12 were in use")])
def test_gpus_that_the_cluster_lacks(gpus: int, said: str) -> None:
    told = explained(log((0, 2, 100, 0, 100), (5, gpus - 2, 50, 50, 100)), "10x1")
    assert (said in told) and (TOO_FEW in told) is bool(said)
    before = log((0, 8, 50, 0, 50), (0, 8, 100, 50, 150), LATE)
    assert TOO_FEW not in explained(before, "10x1"), "what ends at an instant is free then"


@pytest.mark.parametrize(("most", "said"), [(8, f"At most 8 of the 10 {TOO_MANY}"), (9, "")])
def test_gpus_that_were_never_used(most: int, said: str) -> None:
    told = explained(log((0, most, 100, 0, 100), LATE), "10x1")
    assert (said in told) and (TOO_MANY in told) is bool(said)


@pytest.mark.parametrize(("gap_s", "over"), [(1, True), (2, False)])
def test_a_job_that_was_suspended_did_not_surely_hold_its_gpus(gap_s: int, over: bool) -> None:
    told = explained(log((0, 8, 100, 0, 100 + gap_s), (0, 8, 100, 50, 150)), "10x1")
    assert (TOO_FEW in told) is over


@pytest.mark.parametrize(("wait_s", "said"), [(60, ""), (61, f"For 100.0 % {BESIDE_IDLE} (1 job)")])
def test_a_minute_of_waiting_is_the_schedulers_own(wait_s: int, said: str) -> None:
    told = explained(log((0, 2, 100, wait_s, wait_s + 100), (0, 9, 1000, 0, 1000)), "11x1")
    assert (said in told) and (BESIDE_IDLE in told) is bool(said)


def test_waiting_beside_gpus_that_are_too_few_is_none() -> None:
    """Ten GPUs, of which nine are held to 500 s: the job of two waits beside one, then for half of its 1000 s beside
    ten.
    """
    held = (0, 9, 500, 0, 500)
    assert f"For 50.0 % {BESIDE_IDLE}" in explained(log(held, (0, 2, 100, 1000, 1100)), "10x1")
    assert f"For 100.0 % {BESIDE_IDLE}" in explained(log(held, (0, 1, 100, 1000, 1100)), "10x1")
    late = explained(log((0, 9, 990, 0, 990), (0, 2, 100, 1000, 1100)), "10x1")
    assert BESIDE_IDLE not in late, "1 % of the time is not worth telling"
    assert f"For 1.1 % {BESIDE_IDLE}" in explained(log((0, 9, 989, 0, 989), (0, 2, 100, 1000, 1100)), "10x1")


def test_of_a_partition_only_what_jobs_there_held_counts() -> None:
    """Partition a is full for as long as its second job waits, and b has four free GPUs."""
    jobs = log((0, 4, 500, 0, 500), (0, 1, 100, 500, 600), LATE, partition=["a", "a", "b"])
    assert BESIDE_IDLE not in explained(jobs, "1x4/partition=a+1x4/partition=b")
    jobs = log((0, 4, 500, 0, 500), (0, 4, 100, 500, 600), LATE, partition=["a", "b", "b"])
    assert f"For 100.0 % {BESIDE_IDLE} (1 job)" in explained(jobs, "1x4/partition=a+1x4/partition=b")


def order(second_start_s: float, many: int = 2) -> pointsman.Workload:
    """Pairs of which the second starts at 100 s, the first then: jobs of one GPU on one GPU."""
    rows: list[tuple[float | None, ...]] = []
    for k in range(many):
        at = 10_000.0 * k
        rows += [(at, 1, 50, at + second_start_s, at + second_start_s + 50), (at + 1, 1, 50, at + 100, at + 150)]
    return log(*rows)


@pytest.mark.parametrize(("first_s", "said"), [(160, ""), (161, f"50.0 % {OVERTAKEN}")])
def test_a_job_that_starts_a_minute_before_one_ahead_of_it_overtakes(first_s: int, said: str) -> None:
    told = explained(order(first_s), "1x1")
    assert (said in told) and (OVERTAKEN in told) is bool(said)


def test_jobs_of_other_kinds_do_not_overtake() -> None:
    rows = [(0, 2, 50, 300, 350), (1, 1, 50, 100, 150)]
    assert OVERTAKEN not in explained(log(*rows), "2x1")
    alike = [(0, 1, 50, 300, 350), (1, 1, 50, 100, 150)]
    assert f"50.0 % {OVERTAKEN}" in explained(log(*alike), "2x1")
    assert OVERTAKEN not in explained(log(*alike, gpu_type=["a100", "v100"]), "1x1/gpu=a100+1x1/gpu=v100")


@pytest.mark.parametrize(("of", "said"), [(100, False), (99, True)])
def test_one_job_in_a_hundred_is_not_worth_telling(of: int, said: bool) -> None:
    rows = [(1000.0 * k, 1, 100.0, 1000.0 * k, 1000.0 * k + 100) for k in range(of - 1)]
    told = explained(log(*rows, (1e6, 1, 100, 1e6, 1e6 + 200)), "1x1")
    assert ("1 job did not run all the time from their first start to their end (1.67 min each" in told) is said


@pytest.mark.parametrize(("gap_s", "said"), [(1, False), (2, True)])
def test_a_second_between_start_and_end_is_the_clocks(gap_s: int, said: bool) -> None:
    told = explained(log((0, 1, 100, 0, 100 + gap_s)), "1x1")
    assert ("1 job did not run all the time" in told) is said


def test_jobs_of_which_the_log_does_not_say_when_they_started() -> None:
    told = explained(log((0, 1, 100, 0, 100), (10, 1, 100, None, None), (20, 1, 10, 800, 810)), "2x1")
    assert "The log does not say when 1 job started." in told


def test_queues_priorities_and_what_it_is_not() -> None:
    rows = [(0, 1, 100, 9, 109), (0, 1, 100, 0, 100)]
    told = explained(log(*rows, queue=["a", "b"], priority=[0, 1]), "2x1")
    assert "The log names 2 queues" in told and "Jobs have priorities" in told
    told = explained(log(*rows, queue=["a", "a"], priority=[1, 1]), "2x1")
    assert "queues" not in told and "priorities" not in told and "Overheads" not in told
    assert "Overheads are added to durations" in explained(log(*rows), "2x1", overheads="realistic")
    assert "Models were assigned to jobs" in explained(log(*rows), "2x1/gpu=v100", assign_models=1)


def test_gpu_types_that_the_log_does_not_name() -> None:
    rows, several = [(0, 1, 100, 9, 109), (0, 1, 100, 0, 100)], "2x1/gpu=a100+2x1/gpu=v100"
    said = "The cluster has 2 GPU types, and the log names none: jobs may take any."
    assert said in explained(log(*rows), several)
    assert "GPU types" not in explained(log(*rows), "2x1/gpu=a100+2x1/gpu=a100")
    assert "GPU types" not in explained(log(*rows, gpu_type=["v100", "v100"]), several)
    assert "GPU types" not in explained(log(*rows, gpu_type=["v100", None]), several)
