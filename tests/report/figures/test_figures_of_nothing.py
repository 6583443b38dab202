"""Whatever is missing of a run, its figures are drawn: nothing where there is nothing."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pointsman.engine.run.logged import as_logged
from pointsman.report.comparison import compare
from pointsman.report.figures.catalogue import KINDS, Kind, _drawing
from pointsman.report.grids.cell import cell_of
from pointsman.report.grids.figures import draw_grid
from pointsman.report.grids.grid import Grid
from pointsman.report.result import Result
from pointsman.workload import Workload
from tests import free

JOBS = pl.DataFrame(
    {
        "submit_s": [0.0, 0.0, 30.0, 60.0, 61.0, 600.0],
        "gpus": [1, 4, 2, 8, 1, 3],
        "duration_s": [100.0, 50.0, 0.0, 700.0, 5.0, 60.0],
        "user": ["ann", "_bob", None, "$x_{", "others", "a\u4e2d\x07" + "u" * 90],
        "start_s": [0.0, 5.0, None, 100.0, 61.0, 700.0],
        "end_s": [100.0, None, 40.0, 800.0, 66.0, 760.0],
        "node_list": ["n0", None, "n1", "n[0-1]", "gpu[", "n9"],
    }
)
SAMPLED = ("used_gpus", "pending", "largest_free", "head_gpus", "running")
NONE = {
    "jobs": 6, "unended": 0, "unstarted": 0, "nulls": set(), "nans": set(), "samples": None, "at_once": False,
    "log": True,
}  # fmt: skip
"""Nothing is taken away."""
TIMES = ("start_s", "end_s", "wait_s", "jct_s")


@pytest.fixture(scope="module")
def whole() -> list[Result]:
    """The log's own schedule and that of two policies."""
    jobs = Workload.of(JOBS)
    runs = [free.simulate(jobs, "2x4", policy) for policy in ("fifo", "srtf")]
    named = [replace(run, info=run.info | {"node_names": ["n0", "n1"]}) for run in runs]
    return [as_logged(jobs, named[0]), *named]


def test_what_a_log_does_not_record_is_no_preemption(whole: list[Result]) -> None:
    groups = compare(whole).groups
    (kind,) = (one for one in KINDS if one.name == "8-preemptions")
    drawing = _drawing(kind, groups)
    assert groups[0].label == "as-logged" and drawing is not None and "as-logged" not in drawing.sentence


@st.composite
def holes(draw: st.DrawFn) -> dict:
    """What to take away: rows, ends, starts, columns of the samples, the samples, the plan log."""
    series = st.sampled_from(SAMPLED)
    return {
        "jobs": draw(st.integers(0, 6)),
        "unended": draw(st.integers(0, 6)),
        "unstarted": draw(st.integers(0, 6)),
        "nulls": draw(st.sets(series)),
        "nans": draw(st.sets(series)),
        "samples": draw(st.sampled_from((0, 1, 2, None))),
        "at_once": draw(st.booleans()),
        "log": draw(st.booleans()),
    }


def with_holes(result: Result, hole: dict) -> Result:
    jobs = result.jobs.head(hole["jobs"])
    if hole["at_once"]:
        jobs = jobs.with_columns(submit_s=pl.lit(0.0))
    row, cut = pl.col("row"), result.info.get("logged")
    for less, times, state in ((hole["unended"], TIMES[1::2], "RUNNING"), (hole["unstarted"], TIMES, "PENDING")):
        gone = row < less
        nulls = {name: pl.when(~gone).then(name) for name in times}
        jobs = jobs.with_columns(
            state=pl.when(gone).then(pl.lit("UNKNOWN" if cut else state)).otherwise("state"), **nulls
        )
    series = result.series.slice(0, hole["samples"])
    series = series.with_columns(pl.lit(None, series.schema[name]).alias(name) for name in hole["nulls"])
    series = series.with_columns(pl.lit(np.nan).alias(name) for name in hole["nans"])
    events = result.events
    if events is not None:
        events = events.filter(pl.col("row") < hole["jobs"]) if hole["log"] else None
    return replace(result, jobs=jobs, series=series, events=events)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
@settings(max_examples=4, deadline=None)
@given(hole=holes(), which=st.sets(st.sampled_from((0, 1, 2)), min_size=1))
@example(hole=NONE | {"nulls": {*SAMPLED}}, which={0, 1})
@example(hole=NONE | {"nans": {*SAMPLED}}, which={1})
@example(hole=NONE | {"unstarted": 6}, which={0, 1, 2})
@example(hole=NONE | {"jobs": 1, "unended": 1}, which={1, 2})
@example(hole=NONE | {"jobs": 0, "samples": 0}, which={1})
def test_every_figure_is_drawn_of_what_there_is(kind: Kind, whole: list[Result], hole: dict, which: set[int]) -> None:
    results = [with_holes(whole[i], hole) for i in sorted(which)]
    drawing = _drawing(kind, compare(results).groups)
    if drawing is not None:
        assert drawing.svg is not None and drawing.sentence
        ET.fromstring(drawing.svg)
        assert " nan" not in drawing.svg, "no coordinate is unknown"


@settings(max_examples=3, deadline=None)
@given(some=st.lists(holes(), min_size=1, max_size=3))
@example(some=[NONE | {"unended": 6}, NONE | {"unstarted": 6}])
def test_every_figure_of_a_grid_is_drawn_of_what_there_is(whole: list[Result], some: list[dict]) -> None:
    cells = [
        cell_of({"load": 0.5 + k}, compare([with_holes(run, hole) for run in whole[1:]])) for k, hole in enumerate(some)
    ]
    for drawing in draw_grid(Grid(cells)):
        assert drawing.svg is not None
        ET.fromstring(drawing.svg)
