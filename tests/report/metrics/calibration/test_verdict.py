"""Whether a model fits a log, worked by hand: 120 jobs that are all there at the start, one after another."""

from collections.abc import Callable

import pytest

import pointsman
from pointsman.engine.run.logged import as_logged
from pointsman.report.metrics.calibration.verdict import LEAST_WAITING, Verdict, judge
from pointsman.report.metrics.groups import group_runs
from tests.free import simulate

from .logs import log

JOBS, LASTS_S = 120, 100.0


def queue(start_of: Callable[[int], float], jobs: int = JOBS, **columns: list) -> pointsman.Workload:
    """Jobs of one GPU and 100 s each; the `k`-th starts in the log at `start_of(k)`, in the simulation at 100 k."""
    starts = [float(start_of(k)) for k in range(jobs)]
    return log(*((0, 1, LASTS_S, start, start + LASTS_S) for start in starts), **columns)


def judged(workload: pointsman.Workload) -> Verdict:
    run = simulate(workload, "1x1", "fifo")
    (logged,), (group,) = group_runs([as_logged(workload, run)]), group_runs([run])
    return judge(group, logged)


def failed(verdict: Verdict) -> list[str]:
    return [check.name for check in verdict.failed]


def test_the_log_of_the_model_itself_fits_exactly() -> None:
    found = judged(queue(lambda k: 100 * k))
    assert found.is_good
    assert [(check.name, check.value) for check in found.checks] == [
        ("mean wait", 0), ("90 % wait", 0), ("mean wait by GPUs", 0), ("mean wait by tenth of the log", 0),
        ("rank correlation of waits", pytest.approx(1)),
    ]  # fmt: skip
    assert (found.jobs, found.waiting, found.wait.logged.mean) == (JOBS, JOBS - 1, 100 * (JOBS - 1) / 2)


def test_waits_that_are_longer_in_the_log_are_a_share_of_its_mean() -> None:
    """The log's waits are 125 s a place in the queue: those of the simulation are a fifth shorter."""
    found = judged(queue(lambda k: 125 * k))
    assert [check.value for check in found.checks[:4]] == [pytest.approx(sign * 0.2) for sign in (-1, -1, 1, 1)]
    assert found.is_good


def test_a_mean_beyond_its_limit_fails_alone() -> None:
    found = judged(queue(lambda k: 140 * k))
    assert failed(found) == ["mean wait"]
    assert not found.is_good


def test_the_same_waits_of_other_jobs_do_not_fit() -> None:
    """Mean and 90th percentile are the same; the last come first."""
    found = judged(queue(lambda k: 100 * (JOBS - 1 - k)))
    assert failed(found) == ["mean wait by tenth of the log", "rank correlation of waits"]
    rank = found.checks[-1].value
    assert rank is not None and rank < -0.99


def test_a_few_places_in_the_queue_do_not_matter() -> None:
    """The jobs of each tenth come in another order, a few places of sixty off."""
    found = judged(queue(lambda k: 100 * (k - k % 12 + 5 * k % 12)))
    assert found.is_good
    assert found.checks[-1].value != pytest.approx(1)


def test_waits_of_wide_jobs_alone_do_not_hide_in_the_mean() -> None:
    """On two GPUs: narrow jobs wait 60 % less in the log than simulated, and wide ones 60 % more."""
    rows = []
    for k in range(JOBS):
        gpus = 2 if k % 2 else 1
        start = 100 * k * (1.6 if gpus == 2 else 0.4)
        rows.append((0, gpus, LASTS_S, start, start + LASTS_S))
    run = simulate(log(*rows), "1x2", "fifo")
    (logged,), (group,) = group_runs([as_logged(log(*rows), run)]), group_runs([run])
    found = judge(group, logged)
    assert "mean wait by GPUs" in failed(found)
    by_gpus = next(check for check in found.checks if check.name == "mean wait by GPUs")
    assert [(part.name, part.jobs) for part in by_gpus.parts] == [("1", JOBS // 2), ("2", JOBS // 2)]


def test_accounts_are_parts_where_the_log_has_several() -> None:
    accounts = ["physics" if k % 2 else "chemistry" for k in range(JOBS)]
    found = judged(queue(lambda k: 100 * k, account=accounts))
    by_account = next(check for check in found.checks if check.name == "mean wait by account")
    assert {part.name for part in by_account.parts} == {"physics", "chemistry"}
    alone = judged(queue(lambda k: 100 * k, account=["physics"] * JOBS))
    assert "mean wait by account" not in [check.name for check in alone.checks]


@pytest.mark.parametrize(("jobs", "enough"), [(LEAST_WAITING, False), (LEAST_WAITING + 1, True)])
def test_few_jobs_that_waited_say_too_little(jobs: int, enough: bool) -> None:
    """The first does not wait."""
    found = judged(queue(lambda k: 100 * k, jobs))
    assert (found.waiting, found.has_enough, found.is_good) == (jobs - 1, enough, enough)


def test_a_model_under_which_no_job_waits_has_no_ranks_and_fails() -> None:
    workload = queue(lambda k: 100 * k)
    run = simulate(workload, "200x1", "fifo")
    (logged,), (group,) = group_runs([as_logged(workload, run)]), group_runs([run])
    found = judge(group, logged)
    assert found.checks[-1].value is None
    assert len(found.failed) == len(found.checks)


def test_a_log_in_which_no_job_waits_is_not_judged() -> None:
    found = judged(log(*((1000.0 * k, 1, LASTS_S, 1000.0 * k, 1000.0 * k + LASTS_S) for k in range(JOBS))))
    assert (found.waiting, found.checks, found.is_good) == (0, [], False)
