"""Without preemption, too, no job waits for ever if so told (``docs/reference/semantics/policies.md``)."""

import numpy as np
import polars as pl
import pytest

from pointsman import Result
from pointsman.errors import UsageError
from tests.free import simulate
from tests.policies.gittins_runs import jobs_of, opened
from tests.policies.test_bounded_waiting import LIMIT, random_jobs, start_of_the_gang_s, stream

POLICIES = ("fifo-backfill", "sjf-backfill", "kueue", "packed", "packed-patience", "scorer", "lb")
"""`scorer` tries the shortest job first."""
PATIENT = {"patience_s": 1000.0}
LONGER = 17 / 16
"""By how much a prediction may be longer than an exact estimate: a bucket."""


def start_s(result: Result, submit_s: float) -> float:
    return result.jobs.filter(pl.col("submit_s") == submit_s)["start_s"].item()


@pytest.mark.parametrize("policy", POLICIES)
def test_without_a_limit_a_gang_waits_for_the_end_of_the_stream(policy: str) -> None:
    for until_s in (1500.0, 3000.0):
        assert start_of_the_gang_s(simulate(stream(until_s), "1x2", policy)) == until_s + 150


@pytest.mark.parametrize("policy", ["sjf-backfill", "packed-patience", "scorer"])
def test_others_start_before_the_shadow_time_if_they_end_by_it(policy: str) -> None:
    """The gang is overdue at 1010 s, and a head when GPU 1 is free at 1050 s. Its shadow time is 1218.75 s: when the
    job of GPU 0 ends at 17/16 of its duration. In between a job of 100 s starts; jobs of 300 and 150 s wait.

    ::

        GPU 0  |900             |1200  the gang of 500 s   |1700
        GPU 1       |1050 |1060 |1160  ...                 |1700
    """
    jobs = [(float(begin_s), 1, 300.0) for begin_s in range(0, 3000, 150)]
    jobs = jobs_of(sorted([*jobs, (10.0, 2, 500.0), (1060.0, 1, 100.0), (1061.0, 1, 150.0)]))
    params = PATIENT if policy == "sjf-backfill" else PATIENT | {"patience": 0}
    result = simulate(jobs, "1x2", policy, params=params)
    assert start_of_the_gang_s(result) == 1200
    assert start_s(result, 1060) == 1060
    assert start_s(result, 1050) >= 1700
    assert start_s(result, 1061) >= 1700


@pytest.mark.parametrize("policy", ["fifo-backfill", "kueue", "packed", "lb"])
def test_who_is_told_no_durations_learns_them(policy: str) -> None:
    """All jobs take as long as those before: the head waits for the one that runs, and no other starts."""
    result = simulate(stream(6000.0), "1x2", policy, params={"patience_s": 4000.0})
    assert 4010 < start_of_the_gang_s(result) <= 4010 + 2 * 300


def test_gpus_beyond_the_reservation_are_left_to_others() -> None:
    """Jobs that are too long for the gang's GPUs start on the third."""
    narrow = [(float(begin_s), 1, 300.0) for begin_s in range(0, 3000, 150)]
    rows = sorted([*narrow, (10.0, 2, 500.0), (1055.0, 1, 700.0), (1056.0, 1, 700.0)])
    free = simulate(jobs_of(rows), "1x2 + 1x1", "sjf-backfill", params=PATIENT)
    assert start_s(free, 1055) - 1055 < 1000


@pytest.mark.parametrize("policy", ["sjf-backfill", "fifo-backfill", "packed"])
def test_a_gang_for_which_no_nodes_are_up_holds_nobody_back(policy: str) -> None:
    narrow = [(float(begin_s), 1, 300.0) for begin_s in range(0, 100_000, 150)]
    jobs = jobs_of(sorted([*narrow, (10.0, 4, 500.0)]))
    down = [(5.0, "1", "DOWN"), (80_000.0, "1", "UP")]
    result = simulate(jobs, "2x2", policy, params=PATIENT, node_events=down)
    done = result.jobs.filter(pl.col("end_s") < 80_000)
    assert done["duration_s"].sum() > 0.98 * 80_000 * 2
    assert 80_000 <= result.jobs.filter(gpus=4)["start_s"].item() < 82_000


@pytest.mark.parametrize("policy", ["sjf-backfill", "packed-patience"])
@pytest.mark.parametrize("seed", range(6))
def test_with_exact_durations_each_job_starts_by_the_formula(seed: int, policy: str) -> None:
    """By its limit, the end of some job, and the longest prediction for itself and each job that was ahead of it."""
    jobs = simulate(random_jobs(seed), "4x4", policy, params={"patience_s": LIMIT["patience_s"]}).jobs
    submit, start, gpus = (jobs[name].to_numpy() for name in ("submit_s", "start_s", "gpus"))
    waiting = (submit[:, None] > submit) & (submit[:, None] < start)
    queued = (waiting * gpus).sum(axis=1)
    limit = LIMIT["patience_s"] * (1 + queued / 16) * np.sqrt(np.minimum(1, 4 / gpus))
    longest = jobs["duration_s"].max()
    ahead = (start - submit >= limit).sum()
    assert (start - submit <= limit + longest + (1 + ahead) * LONGER * longest).all()
    assert (start - submit > limit).sum() > 10


def test_the_limit_is_that_of_gittins_without_what_preemption_adds() -> None:
    first = [(0.0, 8, 1e6), (1.0, 8, 1e6), (2.0, 1, 1e6)]
    simulation = opened(jobs_of([*first, (3.0, 8, 1e6)]), "4x2", "sjf-backfill", patience_s=900)
    simulation.run(100_000)
    assert simulation.handle.jobs[3]["crowding"] == pytest.approx((1 + 9 / 8) * 0.5)
    assert simulation.handle.jobs[3]["alarm"] == 3000 + int(900_000 * (1 + 9 / 8) * 0.5)


@pytest.mark.parametrize(
    ("policy", "params", "options", "says"),
    [
        ("kueue", {"reclaim_within_cohort": "Any"}, {}, "Never"),
        ("fifo-backfill", {}, {"gpu_sharing": 2}, "whole GPUs"),
        ("packed", {}, {"decision_time": 1.0}, "decision"),
    ],
)
def test_what_does_not_go_with_it_is_refused(policy: str, params: dict, options: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        simulate(stream(1500.0), "1x2", policy, params=PATIENT | params, **options)


def test_explain_says_who_goes_first() -> None:
    """The gang is overdue at 110 s, and gets a reservation until the job of GPU 1 is predicted to end."""
    simulation = opened(stream(1500.0), "1x2", "fifo-backfill", patience_s=100)
    gang = {}
    for now_s in (50, 200):
        simulation.run(now_s * 1000)
        standing = simulation.policy.standing(simulation.handle.state, simulation.handle.jobs[1], now_s * 1000)
        assert standing is not None
        gang[now_s] = standing.said
    assert gang[50] == "in 1 min it will have waited for its limit of 1.67 min, and then goes before others"
    assert gang[200].startswith(
        "it has waited longer than its limit of 1.67 min; it is the next such job; its reservation"
    )
