"""What is made of what jobs on a real Slurm say."""

import pytest

from benchmarks.slurm_fidelity import GPUS_EACH, NODES, drawn, intervals, most_a_second


def test_jobs_come_at_load_1() -> None:
    jobs = drawn(1)
    work_gpu_s = sum(job.gpus * job.runs_s for job in jobs)
    assert work_gpu_s / (NODES * GPUS_EACH) == pytest.approx(jobs[-1].at_s, rel=0.1)
    assert all(60 * job.limit_min > 1.5 * job.runs_s - 1e-9 for job in jobs)


def test_a_job_ran_between_its_beginning_and_what_it_said_next() -> None:
    said = [("begin", 1.0), ("stop", 3.0), ("begin", 5.0), ("begin", 6.0), ("end", 8.0)]
    assert intervals(said) == [(1.0, 3.0), (5.0, 6.0), (6.0, 8.0)]


def test_the_busiest_time_counts() -> None:
    assert most_a_second([0.0, 5.0, 9.0, 9.5, 14.0, 15.1], within_s=5.0) == 3 / 5
    assert most_a_second([]) == 0.0
