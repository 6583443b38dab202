"""The first sentence of a comparison names no winner where chance explains the difference."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from pointsman.report.comparison import compare
from pointsman.report.figures.bars import jct_bars
from pointsman.report.figures.style import draw
from pointsman.report.grids.page import _best
from pointsman.report.pages.lead import lead
from pointsman.report.result import Result

CHANCE = "No significant difference in the mean completion time between"


def beside(result: Result, policy: str, later_s: float, **told: str) -> Result:
    """The same jobs under another policy: each ends up to an hour sooner or later, and `later_s` later in the mean."""
    noise_s = np.random.default_rng(3).uniform(-3600, 3600, result.jobs.height)
    moved = result.jobs.with_columns(pl.col("jct_s", "end_s") + (noise_s - noise_s.mean() + later_s))
    return replace(result, jobs=moved, info=result.info | {"policy": policy, **told})


@pytest.mark.parametrize("later_s", [-20.0, 20.0])
def test_chance_has_no_winner(fifo: Result, later_s: float) -> None:
    """Whether the baseline or the other one is ahead."""
    found = compare([fifo, beside(fifo, "las", later_s)])
    said, change = lead(found.groups), found.rows[1].differences["jct_mean_s"]
    assert said.startswith(f"{CHANCE} fifo (the baseline), ")
    assert "least" not in said
    assert change.ratio_interval is not None
    low, high = (f"{100 * end:+.1f} %" for end in change.ratio_interval)
    assert f": {100 * change.ratio:+.1f} % [{low} to {high}]." in said


def test_a_difference_beyond_chance_has_one(fifo: Result) -> None:
    said = lead(compare([fifo, beside(fifo, "las", -3000.0)]).groups)
    assert said.startswith("The mean completion time is")
    assert "under fifo (the baseline) and " in said and " under las: -" in said
    assert "beyond chance" not in said


def test_the_second_may_be_as_good_as_the_best(fifo: Result) -> None:
    best = beside(fifo, "las", -3000.0)
    said = lead(compare([fifo, best, beside(best, "other", 20.0)]).groups)
    assert "under las: -" in said and "%]. No significant difference between las and other: +" in said


def test_the_best_of_those_without_durations_may_be_no_better_than_the_baseline(fifo: Result) -> None:
    rivals = [beside(fifo, "best", -3000.0, knowledge="oracle"), beside(fifo, "las", -20.0)]
    said = lead(compare([fifo, *rivals]).groups)
    assert "Of the policies that require no durations, las has the least, " in said
    assert ", no significant difference from fifo: -" in said


def test_what_a_run_learns_itself_counts_as_told_nothing(fifo: Result) -> None:
    rivals = [beside(fifo, "best", -3000.0, knowledge="oracle"), beside(fifo, "gittins", -2000.0, knowledge="history")]
    said = lead(compare([fifo, *rivals]).groups)
    assert "Of the policies that require no durations, gittins has the least" in said
    said = lead(compare([fifo, rivals[1]]).groups)
    assert said.count("under gittins") == 1 and "knows" not in said


def test_the_best_beyond_chance_is_named_though_another_has_the_least_mean(fifo: Result) -> None:
    """One is 3 s sooner by the mean of jobs that go either way by up to an hour; the other 2 s sooner, every job."""
    every = fifo.jobs.with_columns(pl.col("jct_s", "end_s") - 15.0)
    steady = replace(fifo, jobs=every, info=fifo.info | {"policy": "las"})
    said = lead(compare([fifo, beside(fifo, "other", -20.0), steady]).groups)
    assert "under fifo (the baseline) and " in said and " under las: -" in said
    assert "No significant difference between las and other" in said


def test_a_baseline_that_is_best_is_named_once(fifo: Result) -> None:
    said = lead(compare([fifo, beside(fifo, "las", 3000.0), beside(fifo, "other", 5000.0)]).groups)
    assert said.startswith("The mean completion time is least under fifo (the baseline), ")
    assert said.count("fifo") == 1 and "; next is las: +" in said


def test_a_baseline_that_leaves_jobs_over_has_not_the_least(fifo: Result) -> None:
    """Its own mean is of few jobs; of those that both end, the other is an hour sooner."""
    few = fifo.jobs.sort("jct_s").with_row_index("rank").with_columns(
        pl.when(pl.col("rank") < 20).then(pl.lit("COMPLETED")).otherwise(pl.lit("PENDING")).alias("state"),
        *(pl.when(pl.col("rank") < 20).then(pl.col(name)).alias(name) for name in ("end_s",)),
        jct_s=pl.when(pl.col("rank") < 20).then(pl.col("jct_s") + 3600.0),
    ).drop("rank").sort("row")  # fmt: skip
    serial = replace(fifo, jobs=few, info=fifo.info | {"policy": "serial"})
    said = lead(compare([serial, fifo]).groups)
    assert "least" not in said and "under serial (the baseline) and " in said and " under fifo: -" in said


@pytest.mark.parametrize(("later_s", "said"), [(-20.0, "to fifo, which may be chance."), (-3000.0, "to fifo. In")])
def test_the_figure_says_so_too(fifo: Result, later_s: float, said: str) -> None:
    groups = compare([fifo, beside(fifo, "las", later_s)]).groups
    _, sentence = draw("bars", lambda figure: jct_bars(figure, groups), (6.0, 3.0), "")
    assert said in sentence


@pytest.mark.parametrize(
    ("later_s", "said"),
    [
        (-20.0, "not different beyond chance between fifo and las"),
        (20.0, "not different beyond chance between fifo and las"),
        (-3000.0, "least under las"),
        (3000.0, "least under fifo"),
    ],
)
def test_so_do_grids(fifo: Result, later_s: float, said: str) -> None:
    assert _best(compare([fifo, beside(fifo, "las", later_s)]).rows) == said
