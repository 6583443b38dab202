"""Schedulers that take time to decide (``docs/reference/semantics.md`` §7, *Decision time*)."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.errors import UsageError
from tests.free import simulate

ALL = ("lb", "tetris-place", "lif", "random-place", "packed", "packed-lif", "packed-patience", "scorer")


def starts(submit_s: list[float], cluster: str = "2x4/rack=1", policy: str = "packed", **options: Any) -> list[float]:
    """When jobs of one GPU and 100 s start, in seconds."""
    jobs = pl.DataFrame({"submit_s": submit_s, "gpus": 1, "duration_s": 100.0})
    return simulate(pointsman.Workload.of(jobs), cluster, policy, **options).jobs["start_s"].to_list()


@pytest.mark.parametrize("policy", ALL)
def test_a_scheduler_decides_about_one_job_after_another(policy: str) -> None:
    assert starts([0.0] * 3, policy=policy, decision_time=10) == [10, 20, 30]
    assert starts([0.0] * 3, policy=policy) == [0, 0, 0]


def test_a_decision_begins_when_there_is_a_job_and_the_last_one_has_ended() -> None:
    """The third job comes during the second decision, the fourth when the scheduler is idle."""
    assert starts([0.0, 3.0, 11.0, 50.0], decision_time=10) == [10, 20, 30, 60]


def test_ends_are_kept_in_microseconds() -> None:
    assert starts([0.0] * 3, decision_time="2.5ms") == [0.003, 0.005, 0.008]
    assert starts([0.0] * 5, decision_time=0.0004) == [0.001, 0.001, 0.002, 0.002, 0.002]
    assert starts([0.0, 0.001], decision_time=0.0004) == [0.001, 0.002], "0.4 ms and 1.4 ms"


def test_schedulers_decide_side_by_side() -> None:
    """Seed 0 gives each two of these jobs."""
    options = {"params": {"schedulers": 2, "forward": False}, "decision_time": 10}
    assert sorted(starts([0.0] * 4, **options)) == [10, 10, 20, 20]


def test_a_job_that_must_wait_for_gpus_is_decided_about_when_there_are_some() -> None:
    """The first starts at 10 and ends at 110; the second is decided about from then on."""
    assert starts([0.0, 0.0], cluster="1x1", decision_time=10) == [10, 120]


def test_a_decision_is_about_the_jobs_there_are_when_it_ends() -> None:
    """
    The job that asked for the decision is cancelled at 5 s, the next comes at 7 s and is decided about at 10 s; the
    last comes at 12 s, when nothing is under way.
    """
    assert starts([0.0, 7.0, 12.0], decision_time=10, cancels=[(5.0, 0)])[1:] == [10, 22]


QUEUES = (
    "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: limited}, spec: {node_types: "
    "{t: {gpus: 4, gpu_type: v100}}, nodes: [{type: t, count: 2}], queues: {q: {gpu_limit: 1}, r: {}}}}"
)


def test_a_job_above_its_queues_limit_takes_no_decision(tmp_path: Path) -> None:
    """The second job may not start before the first has ended, and the jobs of the other queue go past it."""
    (tmp_path / "limited.yaml").write_text(QUEUES)
    jobs = pl.DataFrame(
        {"submit_s": [0.0, 20.0, 21.0, 22.0], "gpus": 1, "duration_s": 1000.0, "queue": ["q", "q", "r", "r"]}
    )
    for policy in ALL:
        run = simulate(
            pointsman.Workload.of(jobs), str(tmp_path / "limited.yaml"), policy, decision_time=10
        )  # fmt: skip
        assert run.jobs["start_s"].to_list() == [10, 1020, 31, 41], policy


def test_in_rounds_decisions_take_no_time() -> None:
    with pytest.raises(UsageError, match="in rounds every 15 s decisions would end late"):
        starts([0.0], policy="rounds(packed, 15)", decision_time=10)


def test_policies_without_schedulers_take_no_time() -> None:
    with pytest.raises(UsageError, match="policy 'fifo' has no schedulers that take time to decide"):
        starts([0.0], policy="fifo", decision_time=1)
    with pytest.raises(UsageError, match="decision_time"):
        starts([0.0], decision_time=-1)
    with pytest.raises(UsageError, match="at least a microsecond"):
        starts([0.0], decision_time=1e-7)
