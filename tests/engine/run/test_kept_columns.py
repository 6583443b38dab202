"""Kept columns of the log in the hands of policies, of their results and of those who take over."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman import Workload
from pointsman.engine.run.logged import as_logged
from pointsman.engine.run.view import View
from pointsman.engine.setup.job_columns import OF_RESULTS
from pointsman.engine.state.records import JOB
from pointsman.errors import RunError, UsageError
from pointsman.live.world.roster import Deciding, Roster
from pointsman.policies.registry import get_policy
from pointsman.report.metrics.counted import counted_jobs, submit_window
from tests.free import simulate

from .test_what_if import open_run

OWN = {
    "tenant": ["b", "a", None, "b"],
    "deadline_s": [150.0, None, 130.0, 140.0],
    "weight": [3, 1, 2, None],
    "flag": [True, False, None, True],
}
JOBS = {"submit_s": [100.0, 100.0, 100.0, 101.0], "gpus": [1] * 4, "duration_s": [10.0] * 4}

COMPILED = '''
"""{doc}"""
from typing import ClassVar
import numpy as np
from pointsman.policies.sdk import (
    ACTIVE, OK, PENDING, CompiledPolicy, block, blocked, column_numbers, core, enqueue, on_run, start,
)

COLUMN = column_numbers({columns})


class By(CompiledPolicy):
    name: ClassVar[str] = "by-column"
    needs: ClassVar[str] = "none"
    columns: ClassVar[tuple[str, ...]] = COLUMN._fields
    hooks: ClassVar[str] = __file__


@core
def on_event(S, kind, j):
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        value = {value}
        enqueue(S, j, np.inf if np.isnan(value) else value, np.inf)


@core
def decide(S):
    while S.g[0].active > 0:
        c = S.lists[ACTIVE, 0]
        if blocked(S, c) or start(S, S.buckets[c].first, OK) != OK:
            return
'''


def workload(*columns: str) -> Workload:
    kept = columns or tuple(OWN)
    return Workload.of({**JOBS, **{name: OWN[name] for name in kept}}, columns=kept)


def compiled(folder: Path, value: str, *columns: str) -> str:
    """A policy that starts jobs by a value, smallest first and unknown last; they all request the same."""
    text = COMPILED.format(doc=folder.name, columns=", ".join(map(repr, columns)), value=value)
    (folder / "by.py").write_text(text)
    return f"{folder / 'by.py'}:By"


class Looks:
    """Starts what comes and keeps what it saw first."""

    name, needs = "looks", "none"

    def __init__(self, look: Any) -> None:
        self.look, self.seen = look, []

    def decide(self, view: View) -> None:
        self.seen.append(self.look(view))
        for job in view.pending.tolist():
            view.start(job)


def seen(look: Any, *columns: str) -> list[Any]:
    policy = Looks(look)
    simulate(workload(*columns), "1x4", policy)
    return policy.seen


def test_a_policy_in_python_sees_them_by_name() -> None:
    """Times are since the first submission; texts are codes, in alphabetical order."""
    first, second, *_ = seen(lambda view: ({name: view.jobs[name].tolist() for name in OWN}, dict(view.texts)))
    assert first[1] == {"tenant": ("a", "b")}
    assert first[0]["tenant"] == [1, 0, -1]
    assert first[0]["deadline_s"] == [50.0, pytest.approx(float("nan"), nan_ok=True), 30.0]
    assert first[0]["weight"] == [3.0, 1.0, 2.0]
    assert first[0]["flag"] == [1.0, 0.0, pytest.approx(float("nan"), nan_ok=True)]
    assert second[0]["tenant"] == [1, 0, -1, 1]
    assert np.isnan(second[0]["weight"][3])


def test_records_have_them_as_fields() -> None:
    def look(view: View) -> Any:
        jobs = view.jobs
        assert jobs.dtype.names == (*(JOB.names or ()), *OWN)
        assert len(jobs) == len([*jobs]) == len(np.asarray(jobs))
        last = jobs[-1]
        assert (last["row"], last["asked"], last["tenant"]) == (jobs["row"][-1], 1, jobs["tenant"][-1])
        if view.now_ms == 0:
            assert jobs[jobs["row"] > 0]["weight"].tolist() == [1.0, 2.0]
            assert jobs[[2, 0]]["deadline_s"].tolist() == [30.0, 50.0]
        assert np.asarray(jobs)["submit"].tolist() == jobs["submit"].tolist()
        with pytest.raises(TypeError, match="does not support item assignment"):
            jobs["weight"] = 1.0
        for name in ("weight", "tenant", "state"):
            with pytest.raises(ValueError, match="read-only"):
                jobs[name][0] = 1
        with pytest.raises(ValueError, match="no field of name nothing"):
            jobs["nothing"]
        return True

    assert all(seen(look))


def test_records_are_plain_where_none_is_kept() -> None:
    policy = Looks(lambda view: (view.jobs.dtype == JOB, view.texts))
    simulate(Workload.of(JOBS), "1x4", policy)
    assert policy.seen[0] == (True, {})


@pytest.mark.parametrize(
    ("value", "columns", "order"),
    [
        ("S.job_numbers[j, COLUMN.deadline_s]", ("deadline_s",), [2, 3, 0, 1]),
        ("S.job_numbers[j, COLUMN.weight]", ("flag", "weight"), [1, 2, 0, 3]),
        ("S.job_numbers[j, COLUMN.tenant]", ("tenant",), [2, 1, 0, 3]),
    ],
)
def test_a_compiled_policy_reads_them_by_name(
    value: str, columns: tuple[str, ...], order: list[int], tmp_path: Path
) -> None:
    """One GPU: a job of 10 s after the other, all but the last there from the start."""
    result = simulate(workload(), "1x1", compiled(tmp_path, value, *columns), audit=True)
    assert result.jobs["start_s"].arg_sort().to_list() == order
    fewer = simulate(workload(*columns), "1x1", compiled(tmp_path, value, *columns))
    assert fewer.jobs["start_s"].to_list() == result.jobs["start_s"].to_list()


def test_slots_of_jobs_that_have_ended_get_the_numbers_of_the_next(tmp_path: Path) -> None:
    jobs = Workload.of(
        {"submit_s": [0.0, 20.0, 40.0], "gpus": [1] * 3, "duration_s": [5.0] * 3, "n": [7, 8, 9]}, columns=["n"]
    )
    policy = Looks(
        lambda view: [(int(view.jobs["row"][j]), float(view.jobs["n"][j]), j) for j in view.pending.tolist()]
    )
    simulate(jobs, "1x1", policy)
    assert [each for some in policy.seen for each in some] == [(0, 7.0, 0), (1, 8.0, 0), (2, 9.0, 0)]


# -- results -------------------------------------------------------------------------------------------


def test_a_column_of_text_without_any_text() -> None:
    jobs = Workload.of({**JOBS, "note": pl.Series([None] * 4, dtype=pl.String)}, columns=["note"])
    policy = Looks(lambda view: (view.jobs["note"].tolist(), view.texts["note"]))
    result = simulate(jobs, "1x4", policy)
    assert policy.seen[0] == ([-1] * 3, ())
    assert result.jobs["note"].to_list() == [None] * 4


def test_results_and_events_have_them_as_the_log_says_them(tmp_path: Path) -> None:
    result = simulate(workload(), "1x1", "fifo")
    assert result.jobs.select([*OWN]).equals(workload().jobs.select([*OWN]))
    assert result.events is not None
    starts = result.events.filter(pl.col("kind") == "START")
    assert starts.select("row", "tenant").rows() == [(0, "b"), (1, "a"), (2, None), (3, "b")]
    pointsman.write_run(tmp_path / "out", result, figures=False)
    read = pointsman.read_run(tmp_path / "out")
    assert read.jobs.equals(result.jobs)
    assert read.events is not None and read.events.equals(result.events)


def test_they_change_nothing_else() -> None:
    for policy in ("fifo", "srtf", "multifactor", "gittins"):
        with_them, without = (simulate(jobs, "1x2", policy) for jobs in (workload(), Workload.of(JOBS)))
        assert with_them.jobs.drop([*OWN]).equals(without.jobs)
        assert with_them.events is not None and without.events is not None
        assert with_them.events.drop([*OWN]).equals(without.events)


def test_jobs_that_are_left_out_take_theirs_along() -> None:
    jobs = {**JOBS, "gpus": [1, 9, 1, 1], "n": [1, 2, 3, 4]}
    result = simulate(Workload.of(jobs, columns=["n"]), "1x4", "fifo", oversized="drop")
    assert result.jobs["n"].to_list() == [1, 3, 4]


def test_limits_that_are_enforced_are_no_column_of_the_log() -> None:
    result = simulate(Workload.of({**JOBS, "time_limit_s": [5.0] * 4}), "1x4", "fifo", enforce_limits=True)
    assert "killed" not in result.jobs.columns


def test_the_schedule_of_the_log_has_them() -> None:
    jobs = {**JOBS, "deadline_s": OWN["deadline_s"], "start_s": [100.0, 110.0, 120.0, 130.0]}
    jobs = Workload.of(jobs, columns=["deadline_s"])
    logged = as_logged(jobs, simulate(jobs, "1x1", "fifo"))
    assert logged.jobs["deadline_s"].to_list() == OWN["deadline_s"]


@pytest.mark.parametrize("name", ["level", "asked", "jct_s", "rho"])
def test_a_name_of_the_engine_is_refused_before_the_run(name: str) -> None:
    jobs = Workload.of({**JOBS, name: [1] * 4}, columns=[name])
    with pytest.raises(UsageError, match=f"'{name}' cannot be kept: .* keep it as my_{name}={name}"):
        simulate(jobs, "1x1", "fifo")


def test_every_column_of_a_result_is_such_a_name() -> None:
    result = simulate(Workload.of({**JOBS, "model": ["resnet50"] * 4}), "1x1/gpu=t4", "pollux", log_speeds=True)
    assert result.events is not None
    there = {*counted_jobs(result, submit_window(result)).columns, *result.events.columns, "node_name"}
    known = {*OF_RESULTS, *(JOB.names or ()), *Workload.of(JOBS).jobs.columns}
    assert there - known == set()


# -- what a policy requires ----------------------------------------------------------------------------


class Requires(Looks):
    name, columns = "requires", ("deadline_s",)


def test_a_policy_whose_column_is_not_kept_is_refused(tmp_path: Path) -> None:
    said = "the column deadline_s, and the log's kept columns are tenant: --keep-columns tenant,deadline_s keeps it"
    for policy in (Requires(len), compiled(tmp_path, "S.job_numbers[j, 0]", "deadline_s")):
        with pytest.raises(UsageError, match=said):
            simulate(workload("tenant"), "1x1", policy)
        with pytest.raises(UsageError, match="and no column of the log is kept: --keep-columns deadline_s keeps it"):
            simulate(Workload.of(JOBS), "1x1", policy)


@pytest.mark.parametrize(
    ("kept", "field", "fix"),
    [
        ((), "deadline_s", "--keep-columns deadline_s keeps a column of the log"),
        ((), "pend_sinc", "did you mean 'pend_since'?"),
        (("deadline_s",), "dead_line_s", "did you mean 'deadline_s'?"),
    ],
)
def test_a_field_that_is_not_there_is_answered_with_the_one_that_was_meant(
    kept: tuple[str, ...], field: str, fix: str
) -> None:
    jobs = workload(*kept) if kept else Workload.of(JOBS)
    said = f"policy 'looks' failed at 0.000 s: ValueError: no field of name {field} in the job records ({fix})"
    for look in (lambda view: view.jobs[field], lambda view: view.jobs[0][field]):
        with pytest.raises(RunError, match=re.escape(said)):
            simulate(jobs, "1x1", Looks(look))


def test_columns_are_declared_as_a_tuple() -> None:
    policy: Any = Requires(len)
    policy.columns = "deadline_s"
    with pytest.raises(UsageError, match=r"declares columns = 'deadline_s' \(a tuple of names\)"):
        simulate(workload(), "1x1", policy)


def test_who_takes_over_finds_the_columns_in_its_own_order(tmp_path: Path) -> None:
    """The policy of the run sees tenant, deadline_s, … in this order; the next one wants flag and deadline_s first."""
    simulation = open_run(workload(), "1x1", Looks(lambda view: None))
    simulation.run(0)
    policy = get_policy(compiled(tmp_path, "S.job_numbers[j, COLUMN.deadline_s]", "flag", "deadline_s")).make()
    ahead = simulation.what_if(policy)
    assert ahead.handle.state.job_numbers[1:3, :2].tolist() == [
        [0.0, pytest.approx(np.nan, nan_ok=True)],
        [pytest.approx(np.nan, nan_ok=True), 30.0],
    ]
    there = simulation.adopt(policy)
    there.run()
    assert there.handle.world.outcomes["start"].argsort().tolist() == [0, 2, 3, 1]


def test_a_policy_that_was_told_of_the_jobs_is_relieved_by_one_that_reads_columns() -> None:
    """`multifactor` keeps numbers of its own before them."""
    simulation = open_run(workload(), "1x1", "multifactor")
    simulation.run(0)
    after = simulation.adopt(found := Looks(lambda view: view.jobs["weight"].tolist()[:3]))
    after.run()
    assert found.seen[0] == [3.0, 1.0, 2.0]


def test_who_takes_over_needs_the_columns_to_be_there() -> None:
    simulation = open_run(workload("tenant"), "1x1", Looks(lambda view: None))
    simulation.run(0)
    with pytest.raises(UsageError, match="policy 'requires' requires the column deadline_s"):
        simulation.what_if(Requires(len))


def test_copies_and_forecasts_have_them(tmp_path: Path) -> None:
    policy = get_policy(compiled(tmp_path, "S.job_numbers[j, COLUMN.deadline_s]", "deadline_s")).make()
    simulation = open_run(workload(), "1x1", policy)
    simulation.run(0)
    copy = simulation.copy()
    copy.run()
    assert copy.handle.world.outcomes["start"].argsort().tolist() == [2, 3, 0, 1]
    assert simulation.foreseen().columns.names[0] == "deadline_s"


def test_a_live_cluster_has_no_such_columns(tmp_path: Path) -> None:
    name = compiled(tmp_path, "S.job_numbers[j, 0]", "deadline_s")
    with pytest.raises(UsageError, match="'by-column' cannot run live: it requires the column deadline_s of a job log"):
        Roster(pointsman.load_cluster("1x1"), Deciding(name))
