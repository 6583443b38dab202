"""Preemptions have a budget a day, and each job has had enough of them, or of waiting, at some time."""

from collections import Counter
from pathlib import Path

import pytest

from pointsman.live.control.limits import DAY_MS, Limits

from .stepped import Stepped
from .test_equality import CLUSTERS, workload
from .test_loop import check_all_is_well
from .toy import Case


def preempted(stepped: Stepped) -> list[tuple[int, int]]:
    """(ms, job) of each, in order."""
    sql = "SELECT stopping_ms, job FROM attempts WHERE cause = 'preempt' ORDER BY stopping_ms, job"
    return [tuple(row) for row in stepped.loop.store.connection.execute(sql)]


def run(policy: str, limits: Limits, path: Path, dies_every: int = 0) -> Stepped:
    case = Case(workload("itp", 120), CLUSTERS["itp"], policy, oversized="drop")
    stepped = Stepped(case, path / "store")
    stepped.loop.limits = limits
    while stepped.turn():
        if dies_every and stepped.loop.turns % dies_every == 0:
            stepped.die()
            stepped.loop.limits = limits
    check_all_is_well(stepped)
    return stepped


@pytest.mark.parametrize("policy", ["las", "srtf", "gittins"])
def test_a_job_is_preempted_so_often_at_most(policy: str, tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    free = Counter(job for _, job in preempted(run(policy, Limits(), tmp_path / "free")))
    assert max(free.values()) > 1
    limited = run(policy, Limits(a_job=1), tmp_path)
    assert set(Counter(job for _, job in preempted(limited)).values()) == {1}


def test_a_day_has_its_budget_which_one_decision_may_exceed(tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    free = preempted(run("las", Limits(), tmp_path / "free"))
    budget = 3
    most = max(Counter(ms for ms, _ in free).values())
    found = preempted(run("las", Limits(a_day=budget), tmp_path))
    assert 0 < len(found) < len(free)
    for ms, _ in found:
        within = [other for other, _ in found if ms - DAY_MS < other <= ms]
        assert len([other for other in within if other < ms]) < budget
        assert len(within) <= budget - 1 + most
    (tmp_path / "none").mkdir()
    assert preempted(run("las", Limits(a_day=0), tmp_path / "none")) == []


def test_who_has_waited_long_enough_is_preempted_no_more(tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    free = len(preempted(run("las", Limits(), tmp_path / "free")))
    some = len(preempted(run("las", Limits(wait_ms=3_600_000), tmp_path)))
    assert 0 < some < free


def test_limits_outlive_the_daemon(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = run("las", Limits(a_day=5, a_job=2), tmp_path / "whole")
    killed = run("las", Limits(a_day=5, a_job=2), tmp_path, dies_every=7)
    assert killed.decisions() == whole.decisions()
