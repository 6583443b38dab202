"""Quotas, borrowing and reclaim as in Kueue: the worked examples of its documentation, and preemption by hand."""

from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman import Workload
from pointsman.api import open_simulation
from pointsman.errors import InputError, UsageError
from pointsman.experiment import RunOptions
from pointsman.explain.pending import explain
from pointsman.policies.registry import get_policy
from tests.free import simulate

QUOTA = {"team-a": 9, "team-b": 12}
"""https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#borrowing-example, with GPUs for its CPUs."""
CLUSTER = "21x1"


def of(*jobs: tuple[Any, ...]) -> Workload:
    """(submit_s, gpus, duration_s, queue, priority)"""
    rows = [(*job, *[0] * (5 - len(job))) for job in jobs]
    schema = {"submit_s": float, "gpus": int, "duration_s": float, "queue": pl.String, "priority": int}
    return Workload.of(pl.DataFrame(rows, schema=schema, orient="row"))


def singles(queue: str, many: int, submit_s: float = 0.0, duration_s: float = 100.0) -> list[tuple[Any, ...]]:
    return [(submit_s, 1, duration_s, queue)] * many


def started(workload: Workload, at_s: float, cluster: str = CLUSTER, **params: Any) -> dict[str, int]:
    """GPUs that jobs of each queue hold at a time, if they are never preempted."""
    params = {"nominal_quota": QUOTA} | params
    jobs = simulate(workload, cluster, "kueue", params=params, placement="spread", audit=True).jobs
    running = jobs.filter((pl.col("start_s") <= at_s) & (pl.col("end_s") > at_s) & (pl.col("preemptions") == 0))
    return dict(running.group_by("queue").agg(pl.col("gpus").sum()).rows())


def test_a_queue_borrows_what_its_cohort_leaves_unused() -> None:
    """The first scenario of the example: team-b has none, so team-a can have 9 + 12 = 21."""
    assert started(of(*singles("team-a", 30), (500, 1, 1, "team-b")), 0.0) == {"team-a": 21}


def test_a_queue_with_pending_jobs_gets_its_nominal_quota_first() -> None:
    """The second: team-a has used its quota and team-b has pending jobs, which come before any new ones of team-a."""
    jobs = of(*singles("team-a", 30, 0.0), *singles("team-b", 12, 0.0, 50.0), *singles("team-b", 5, 1.0))
    assert started(jobs, 0.0) == {"team-a": 9, "team-b": 12}
    assert started(jobs, 60.0) == {"team-a": 16, "team-b": 5}, "the older jobs of team-a borrow what is left"


def test_a_borrowing_limit_holds() -> None:
    """With a borrowing limit of 1 team-a can have 9 + 1 = 10; team-b, without one, 12 + 9 = 21."""
    limit = {"borrowing_limit": {"team-a": 1}}
    both = ((500, 1, 1, "team-a"), (500, 1, 1, "team-b"))
    assert started(of(*singles("team-a", 30), *both), 0.0, **limit) == {"team-a": 10}
    assert started(of(*singles("team-b", 30), *both), 0.0, **limit) == {"team-b": 21}


def test_without_a_common_cohort_nothing_is_borrowed() -> None:
    jobs = of(*singles("team-a", 30), (500, 1, 1, "team-b"))
    assert started(jobs, 0.0, cohort={"team-b": "other"}) == {"team-a": 9}
    assert started(jobs, 0.0, cohort={"team-a": "one", "team-b": "one"}) == {"team-a": 21}


def test_strict_fifo_blocks_its_queue_alone() -> None:
    """The first job of team-a wants more than is unused; behind it stands a small one."""
    jobs = of((0, 15, 100, "team-b"), (1, 8, 100, "team-a"), (2, 2, 100, "team-a"), (2, 1, 100, "team-b"))
    assert started(jobs, 5.0) == {"team-a": 2, "team-b": 16}
    assert started(jobs, 5.0, queueing_strategy="StrictFIFO") == {"team-b": 16}


def test_a_queue_reclaims_its_nominal_quota() -> None:
    """team-a borrows 12; team-b wants 6 of its own: the six latest jobs of team-a go, and only those."""
    jobs = of(*singles("team-a", 15), *singles("team-a", 6, 1.0), (10, 6, 100, "team-b"))
    assert started(jobs, 20.0) == {"team-a": 21}
    result = simulate(
        jobs, CLUSTER, "kueue", params={"nominal_quota": QUOTA, "reclaim_within_cohort": "Any"}, placement="spread"
    )
    assert result.jobs["preemptions"].to_list() == [0] * 15 + [1] * 6 + [0]
    assert result.jobs["start_s"].to_list()[-1] == 10.0


def test_reclaim_spares_jobs_within_the_quota_and_of_no_lower_priority() -> None:
    within = of(*singles("team-a", 9), *singles("team-b", 12, 0.0), (10, 3, 100, "team-b"))
    reclaim: dict[str, Any] = {"reclaim_within_cohort": "Any"}
    assert started(within, 20.0, **reclaim) == {"team-a": 9, "team-b": 12}
    jobs = of(*singles("team-a", 21), (10, 6, 100, "team-b", 0))
    assert started(jobs, 20.0, reclaim_within_cohort="LowerPriority") == {"team-a": 21}
    higher = of(*singles("team-a", 21), (10, 6, 100, "team-b", 1))
    assert started(higher, 20.0, reclaim_within_cohort="LowerPriority") == {"team-a": 15, "team-b": 6}


def test_a_job_that_would_borrow_reclaims_nothing() -> None:
    jobs = of(*singles("team-a", 21), (10, 13, 100, "team-b"))
    assert started(jobs, 20.0, reclaim_within_cohort="Any") == {"team-a": 21}


def test_jobs_of_the_same_queue_may_be_preempted() -> None:
    jobs = of(*singles("team-b", 12), *singles("team-a", 9, 0.0), (10, 4, 10, "team-a", 2))
    assert started(jobs, 15.0) == {"team-a": 9, "team-b": 12}
    result = simulate(
        jobs, CLUSTER, "kueue", params={"nominal_quota": QUOTA, "within_cluster_queue": "LowerPriority"},
        placement="spread",
    )  # fmt: skip
    assert result.jobs.sort("row")["start_s"][-1] == 10.0
    assert result.jobs.group_by("queue").agg(pl.col("preemptions").sum()).sort("queue").rows() == [
        ("team-a", 4), ("team-b", 0),
    ]  # fmt: skip


def test_a_preemption_that_takes_time_ends_in_the_start() -> None:
    jobs = of(*singles("team-a", 21), (10, 6, 100, "team-b"))
    result = simulate(
        jobs, CLUSTER, "kueue", params={"nominal_quota": QUOTA, "reclaim_within_cohort": "Any"}, placement="spread",
        overheads={"stop_s": 5}, audit=True,
    )  # fmt: skip
    assert result.jobs["start_s"].to_list()[-1] == 15.0
    assert result.jobs["preemptions"].sum() == 6


def test_unnamed_queues_divide_the_rest_and_borrow_by_default() -> None:
    jobs = of(*singles("x", 30), *singles("y", 30), *singles("z", 3))
    result = simulate(jobs, CLUSTER, "kueue", placement="spread").jobs
    running = result.filter(pl.col("start_s") == 0).group_by("queue").len().sort("queue")
    assert running.rows() == [("x", 11), ("y", 7), ("z", 3)], "7 each; z leaves 4, which the older jobs borrow"


def test_explain_names_the_quota_that_is_used_up() -> None:
    jobs = of(*singles("team-a", 15), *singles("team-b", 6), (10, 1, 1, "team-a"))
    spec = get_policy("kueue")
    options = RunOptions(placement="spread")
    made = spec.make({"nominal_quota": {"team-a": 9, "team-b": 12}})
    simulation, prepared = open_simulation(jobs, pointsman.load_cluster("30x1"), spec, made, options)
    answer = explain(simulation, prepared, 21, 11.0)
    assert answer.reason == "QuotaExceeded"
    assert "its queue holds 15 of a nominal quota of 9 and may hold 21; its cohort holds 21 of 21" in answer.said


@pytest.mark.parametrize(
    ("params", "error", "said"),
    [
        ({"nominal_quota": {"nobody": 3}}, UsageError, "kueue.nominal_quota names the queue 'nobody'"),
        ({"cohort": {"nobody": "x"}}, UsageError, "kueue.cohort names the queue 'nobody'"),
        (
            {"nominal_quota": {"team-a": 1}, "borrowing_limit": {"team-a": 0}},
            InputError,
            "never have more than 1 at once",
        ),
        ({"queueing_strategy": "FIFO"}, UsageError, "queueing_strategy"),
        ({"nominal_quota": {"team-a": -1}}, UsageError, "nominal_quota"),
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        simulate(of((0, 2, 1, "team-a"), (0, 2, 1, "team-b")), "8x1", "kueue", params=params, placement="spread")
