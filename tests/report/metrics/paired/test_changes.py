"""Who gains and who loses, on jobs worked by hand and on a log."""

import shlex
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from pointsman.report.metrics.groups import Group, group_runs
from pointsman.report.metrics.paired.changes import changes, largest_loss
from pointsman.report.pages.lead import losers
from pointsman.report.result import Result
from pointsman.report.tables.gpu_time import locality_table
from pointsman.report.tables.losers import change_tables, worst_jobs
from tests.report.small_results import Job, simulate


def pairs(gap_s: int = 100) -> list[Job]:
    """Twenty times the same two jobs on one GPU, ann's of 10 s, and a second later bob's of 2::

    fifo  |ann ann ann ann ann|bob|          srtf  |ann|bob|ann ann ann ann|
          0                  10  12                0   1   3              12
    """
    both = [[Job(2 * k, gap_s * k, 1, 10, "ann"), Job(2 * k + 1, gap_s * k + 1, 1, 2, "bob")] for k in range(20)]
    return [job for two in both for job in two]


def _two(many: int = 40) -> list[Group]:
    """The first so many jobs under both."""
    return group_runs([simulate(pairs()[:many], nodes=1, size=1, policy=name) for name in ("fifo", "srtf")])


def test_who_waits_while_another_goes_first_loses() -> None:
    base, other = _two()
    found = {(one.kind, one.name): one for one in changes(other, base)}
    assert list(found) == [("user", "ann"), ("gpus", "1"), ("user", "bob")], "the greatest loss first"
    ann, bob = found["user", "ann"], found["user", "bob"]
    assert (ann.jobs, ann.jct_mean_baseline_s, ann.jct_mean_s, ann.pending_mean_s) == (20, 10, 12, 2)
    assert (ann.jct_ratio, ann.jct_interval) == (pytest.approx(0.2), pytest.approx((0.2, 0.2)))
    assert (ann.pending_ratio, ann.pending_interval) == (None, None), "no job of hers was pending before"
    assert (bob.jct_mean_baseline_s, bob.jct_mean_s, bob.jct_p95_s) == (11, 2, 2)
    assert bob.pending_ratio == -1
    assert ann.loses and bob.gains and not ann.gains and not bob.loses
    assert largest_loss(list(found.values())) is ann
    few = {(one.kind, one.name): one for one in changes(*_two(38)[::-1])}["user", "ann"]
    assert (few.jobs, few.jct_interval, few.loses) == (19, None, False)
    assert ann.gpu_hours == pytest.approx(200 / 3600)
    assert ann.record()["jct_low"] == pytest.approx(0.2) and "jct_interval" not in ann.record()


def test_the_groups_of_a_kind_together_are_all_jobs(many: list[Result]) -> None:
    """Over three seeds, of which each is a unit of the intervals."""
    base, _, other = group_runs(many)
    found = changes(other, base)
    for kind in ("gpus", "user", "queue"):
        ones = [one for one in found if one.kind == kind]
        assert sum(one.jobs for one in ones) == pytest.approx(300, abs=len(ones)), "those of a run, rounded"
        total_s = sum(one.jobs * one.jct_mean_s for one in ones)
        assert total_s / 300 == pytest.approx(float(np.mean(other.values("jct_s"))), rel=0.02)
        assert sum(one.gpu_hours for one in ones) == pytest.approx(
            float((other.counted["gpus"] * other.counted["duration_s"]).sum()) / 3600 / 3
        )
    assert all(one.jct_interval[0] <= one.jct_ratio <= one.jct_interval[1] for one in found if one.jct_interval)
    assert changes(base, base) == []


def test_seeds_do_not_multiply_the_jobs_of_tables(many: list[Result]) -> None:
    base, *_ = group_runs(many)
    assert sum(row["jobs"] for row in base.broken_down("user")) == pytest.approx(300)
    cells = [row[1] for row in locality_table([base]).rows]
    assert sum(int(cell.split()[0]) for cell in cells) == pytest.approx(300, abs=len(cells))


def test_the_page_names_the_largest_group_that_loses_and_the_jobs_that_fare_worst() -> None:
    base, other = _two()
    found = changes(other, base)
    assert losers(found) == (
        " The largest group that loses under srtf: 20 jobs of user ann, with a mean completion time of 12 s instead of "
        "10 s (+20.0 % [+20.0 % to +20.0 %])."
    )
    assert "No group of jobs takes significantly longer" in losers(found[2:])
    loss, gain = change_tables(found, base.label, [replace(one, policy="sjf") for one in found])
    assert loss.note.endswith(" The largest group that loses under sjf: user ann (+20.0 %).")
    assert [row[0] for row in loss.rows] == ["user ann"] and loss.rows[0][3] == "10 s → 12 s"
    assert [row[0] for row in gain.rows] == ["user bob", "1 GPU"]
    told = {row[:2]: row for row in worst_jobs([base, other], runs=True).rows}
    assert list(told) == [("fifo", "longest pending"), ("srtf", "longest pending"), ("srtf", "most preempted")]
    assert told["srtf", "most preempted"][2] == "job-0" and told["srtf", "most preempted"][-1].endswith(
        "runs/srtf_s0 --at +2s"
    )


def test_the_command_that_asks_why_is_one_word_a_job() -> None:
    result = simulate(pairs(), nodes=1, size=1, policy="srtf")
    odd = replace(result, jobs=result.jobs.with_columns(job_id="it; $(x) " + pl.col("job_id")))
    for row in worst_jobs(group_runs([odd]), runs=True).rows:
        assert shlex.split(row[-1])[:-2] == ["pointsman", "explain", row[2], "--run", "runs/srtf_s0"]


def test_a_width_of_few_jobs_is_shown_without_an_interval() -> None:
    base, other = _two(10)
    (gain,) = change_tables(changes(other, base), base.label)
    assert [row[0] for row in gain.rows] == ["1 GPU"], "users of few jobs are in changes.csv alone"
    assert gain.rows[0][gain.columns.index("95 % CI")] == "–"
    assert gain.note.endswith("Rows without an interval are of fewer jobs, and may be chance.")


def test_the_group_that_is_named_is_not_nearly_everybody() -> None:
    base, other = _two()
    found = {(one.kind, one.name): one for one in changes(other, base)}
    ann, bob = found["user", "ann"], found["user", "bob"]
    everybody = replace(found["gpus", "1"], jct_ratio=0.15, jct_interval=(0.1, 0.2))
    assert everybody.gpu_hours > ann.gpu_hours
    assert largest_loss([everybody, ann, bob]) is ann
    assert largest_loss([everybody, bob]) is everybody, "no other loses"
