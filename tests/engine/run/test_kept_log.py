"""How much a run may log: an error where the log was asked for, else it goes on without."""

import subprocess
import sys

import pytest

import pointsman
from pointsman.engine.run.kept_log import most_events
from pointsman.errors import RunError, UsageError
from tests.free import simulate

LIMIT = 20_000
MANY = {"jobs": 1500, "cluster_gpus": 16, "load": 1.5, "seed": 3}
"""Jobs that take turns often enough to fill the engine's array of events several times."""


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POINTSMAN_MOST_EVENTS", str(LIMIT))


def turns(**options: object) -> pointsman.Result:
    return simulate(pointsman.generate("philly", **MANY), "2x8", "gandiva", **options)


@pytest.mark.usefixtures("limited")
def test_a_log_that_was_asked_for_is_refused_where_it_becomes_too_large() -> None:
    with pytest.raises(RunError, match=r"at [\d.]+ s the run has logged more than 20,000 events; leave their log out"):
        turns(log=True)


@pytest.mark.usefixtures("limited")
def test_one_that_was_not_is_dropped_and_nothing_else_changes() -> None:
    dropped, without = turns(), turns(log=False)
    assert dropped.events is None
    assert repr(dropped).endswith("seed 0, without events)")
    assert dropped.jobs.equals(without.jobs) and dropped.series.equals(without.series)
    assert any("the plan log became too large and is dropped" in told for told in dropped.info["assumptions"])


def test_below_the_limit_it_is_kept() -> None:
    kept, whole = turns(), turns(log=True)
    assert kept.events is not None and whole.events is not None
    assert kept.events.height > LIMIT
    assert kept.events.equals(whole.events)
    assert kept.jobs.equals(turns(log=False).jobs)


@pytest.mark.usefixtures("limited")
def test_changes_of_speed_have_the_same_limit() -> None:
    with pytest.raises(RunError, match="more than 20,000 changes of speed; leave out --log-speeds"):
        turns(log=False, log_speeds=True)


def test_large_workloads_may_log_more() -> None:
    assert most_events(1000) == 5_000_000
    assert most_events(2_000_000) == 10_000_000


@pytest.mark.parametrize("text", ["", "0", "-1", "1e9", "many", "9" * 5000])
def test_a_limit_that_is_no_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POINTSMAN_MOST_EVENTS", text)
    with pytest.raises(UsageError, match="POINTSMAN_MOST_EVENTS"):
        most_events(1)


MEASURE = """
import resource, sys, pointsman
jobs = pointsman.generate("philly", jobs=100_000, cluster_gpus=2_474, load=1.2, seed=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = pointsman.simulate(jobs, "philly", "gandiva", log=None, overheads="none")
assert result.events is None and result.jobs["preemptions"].sum() > 3_000_000, result.jobs["preemptions"].sum()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_policy_that_preempts_often_takes_little_memory() -> None:
    """Its log alone would take 2 GB."""
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 700_000, "kB"
