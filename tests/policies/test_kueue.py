"""Quotas, borrowing and reclaim as in Kueue: the worked examples of its documentation, and preemption by hand."""

from pathlib import Path
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


def test_strict_fifo_blocks_its_queue_and_what_would_borrow_from_it() -> None:
    """The first job of team-a wants more than is unused; behind it stand a small one, and one of team-b, which borrows
    already.
    """
    jobs = of((0, 15, 100, "team-b"), (1, 8, 100, "team-a"), (2, 2, 100, "team-a"), (2, 1, 100, "team-b"))
    assert started(jobs, 5.0) == {"team-a": 2, "team-b": 16}
    assert started(jobs, 5.0, queueing_strategy="StrictFIFO") == {"team-b": 15}


GUARANTEED: dict[str, Any] = {"nominal_quota": {"team-a": 8, "team-b": 0}, "queueing_strategy": "StrictFIFO"}
"""As in https://github.com/kubernetes-sigs/kueue/issues/4809: team-b owns nothing, and borrows what team-a leaves."""
PENDING_HEAD = of((0, 4, 100, "team-a"), (10, 8, 50, "team-a"), (20, 4, 300, "team-b"))
"""The second job waits for all eight GPUs of team-a, of which four are free."""


def starts(workload: Workload, cluster: str, **params: Any) -> list[float]:
    jobs = simulate(workload, cluster, "kueue", params=params, placement="spread", audit=True).jobs
    return jobs.sort("row")["start_s"].to_list()


def test_under_strict_fifo_a_pending_head_keeps_its_quota() -> None:
    assert starts(PENDING_HEAD, "8x1", **GUARANTEED) == [0, 100, 150]
    best_effort = GUARANTEED | {"queueing_strategy": "BestEffortFIFO"}
    assert starts(PENDING_HEAD, "8x1", **best_effort) == [0, 320, 20]


def test_a_head_that_can_always_reclaim_keeps_nothing() -> None:
    """The job of team-b borrows, and goes when the head takes its quota back."""
    result = simulate(
        PENDING_HEAD, "8x1", "kueue", params=GUARANTEED | {"reclaim_within_cohort": "Any"}, placement="spread"
    )
    assert result.jobs.sort("row")["start_s"].to_list() == [0, 100, 20]
    assert result.jobs.sort("row")["preemptions"].to_list() == [0, 0, 1]


def test_a_head_keeps_quota_from_later_jobs_that_borrow_alone() -> None:
    """A job with more priority goes ahead of the head; one that does not borrow goes ahead, too."""
    first = of((0, 4, 100, "team-a"), (10, 8, 50, "team-a"), (20, 4, 300, "team-b", 1))
    assert starts(first, "8x1", **GUARANTEED) == [0, 320, 20]
    own = GUARANTEED | {"nominal_quota": {"team-a": 8, "team-b": 4}}
    jobs = of((0, 4, 100, "team-a"), (0, 2, 100, "team-b"), (10, 8, 50, "team-a"), (20, 2, 300, "team-b"))
    assert starts(jobs, "12x1", **own) == [0, 0, 100, 20]


def test_a_head_wider_than_its_quota_keeps_nothing() -> None:
    """It would borrow: nothing guarantees it what it wants."""
    jobs = of((0, 4, 100, "team-a"), (10, 8, 50, "team-a"), (20, 4, 300, "team-b"))
    narrow = GUARANTEED | {"nominal_quota": {"team-a": 6, "team-b": 2}}
    assert starts(jobs, "8x1", **narrow) == [0, 320, 20]


def test_a_quota_of_a_queue_without_jobs_can_be_borrowed() -> None:
    quota = {"team-a": 2, "idle": 6}
    assert starts(of((0, 8, 10, "team-a")), "8x1", nominal_quota=quota) == [0]
    with pytest.raises(InputError, match="never have more than 5 at once"):
        starts(of((0, 8, 10, "team-a")), "8x1", nominal_quota=quota, borrowing_limit={"team-a": 3})
    with pytest.raises(InputError, match="never have more than 2 at once"):
        starts(of((0, 8, 10, "team-a")), "8x1", nominal_quota=quota, cohort={"idle": "other", "team-a": "mine"})


FIELD = Path(__file__).parents[3] / "shared" / "field" / "cases" / "p03_kueue4809.csv"


@pytest.mark.skipif(not FIELD.exists(), reason="the field cases are not here")
def test_the_case_of_the_issue() -> None:
    quota = {"guaranteed": 8, "besteffort": 0}
    jobs = simulate(pointsman.read_workload(FIELD), "1x8", "kueue", params=GUARANTEED | {"nominal_quota": quota}).jobs
    assert dict(jobs.select("job_id", "start_s").rows()) == {"G1": 0, "G2": 1000, "B1": 1500}


def test_explain_names_the_quota_that_is_kept() -> None:
    spec = get_policy("kueue")
    simulation, prepared = open_simulation(
        PENDING_HEAD, pointsman.load_cluster("8x1"), spec, spec.make(GUARANTEED), RunOptions(placement="spread")
    )
    answer = explain(simulation, prepared, 2, 30.0)
    assert answer.reason == "QuotaExceeded"
    assert "its cohort holds 4 of 8; 4 are kept for the first jobs of other queues" in answer.said


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


def test_a_queue_that_holds_its_quota_may_borrow_for_a_job_that_preempts_its_own() -> None:
    """team-a holds all of its four. With one GPU free, one of its jobs makes room for two, and it borrows a fifth."""
    jobs = of(*singles("team-a", 4), *singles("team-b", 2), (10, 2, 10, "team-a", 2))
    params = {"nominal_quota": {"team-a": 4, "team-b": 4}, "within_cluster_queue": "LowerPriority"}
    done = simulate(jobs, "7x1", "kueue", params=params, placement="spread", audit=True).jobs
    assert (done["start_s"][-1], done["preemptions"].sum()) == (10.0, 1)


WITHIN: dict[str, Any] = {"nominal_quota": {"a": 4}, "within_cluster_queue": "LowerPriority"}


def test_the_first_job_of_all_may_be_preempted_and_goes_on_before_later_ones() -> None:
    jobs = of((0, 4, 100, "a"), (5, 4, 50, "a"), (10, 4, 20, "a", 2))
    done = simulate(jobs, "4x1", "kueue", params=WITHIN, audit=True).jobs
    assert (done["preemptions"].to_list(), done["end_s"].to_list()) == ([1, 0, 0], [120.0, 170.0, 30.0])


def test_jobs_that_need_not_go_stay() -> None:
    """The latest job is too small to make room alone; with the one before it, it need not go."""
    jobs = of((0, 3, 100, "a"), (5, 1, 100, "a"), (10, 3, 20, "a", 2))
    done = simulate(jobs, "4x1", "kueue", params=WITHIN, placement="spread", audit=True).jobs
    assert done["preemptions"].to_list() == [1, 0, 0]


def test_what_a_preemption_frees_beyond_its_need_is_given_at_once() -> None:
    """Four GPUs are freed for two; a narrower job gets one of the others at the same instant."""
    jobs = of((0, 4, 100, "a"), (10, 2, 20, "a", 2), (10, 1, 20, "a", 1))
    done = simulate(jobs, "4x1", "kueue", params=WITHIN, placement="spread", audit=True).jobs
    assert done["start_s"].to_list()[1:] == [10.0, 10.0]
    assert done["preemptions"].to_list() == [1, 0, 0]


def test_after_a_preemption_the_quota_is_what_it_was() -> None:
    """Four more jobs of queue a come while the wide one holds its quota, and the cluster has free GPUs."""
    jobs = of(*singles("a", 4), (10, 4, 20, "a", 2), *[(15, 1, 50, "a", 1)] * 4, (500, 1, 1, "b"))
    params = WITHIN | {"nominal_quota": {"a": 4, "b": 8}, "cohort": {"b": "other"}}
    done = simulate(jobs, "12x1", "kueue", params=params, placement="spread", audit=True).jobs
    assert done["preemptions"].to_list() == [1] * 4 + [0] * 6
    assert done["start_s"].to_list()[4:9] == [10.0] + [30.0] * 4


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
        ({"borrowing_limit": {"nobody": 3}}, UsageError, "kueue.borrowing_limit names the queue 'nobody'"),
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


def test_two_parameters_that_do_not_go_together_are_both_named() -> None:
    with pytest.raises(UsageError, match=r"policy 'kueue': patience_s reserves .* set reclaim_within_cohort and"):
        get_policy("kueue").make({"patience_s": 100, "reclaim_within_cohort": "Any"})
