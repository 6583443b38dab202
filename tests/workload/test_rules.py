"""Each rule of a job table, refused in a native table and cleaned in a foreign log."""

from dataclasses import dataclass, replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.errors import InputError
from pointsman.workload.columns import MAX_DURATION_S, REQUIRED, SHAPE
from pointsman.workload.rules.clean import clean, completed
from pointsman.workload.rules.job_rules import RULES
from pointsman.workload.rules.refuse import refuse

GOOD = {
    "job_id": "a", "batch_size": "8", "nodes_requested": "1", "gpus_per_node": "1", "fraction": "0.5",
    "time_limit_s": "60", "priority": "1", "preemptible": "no", "submit_s": "0",
    "gpus": "1", "duration_s": "60", "start_s": "5", "end_s": "65",
}  # fmt: skip
DROPPED = object()
MOST = (1 << 53) - 1


@dataclass(frozen=True)
class Case:
    """A cell that breaks one rule, how it is refused, and what cleaning makes of it."""

    column: str
    what: str
    cell: str | None
    counted: str
    cleaned: object = DROPPED
    fix: str = "correct the cell or leave the row out"
    refused: bool = True
    with_it: str = ""
    """Another column that cleaning empties."""
    alone: bool = False
    """The other column of the shape is empty."""


def known(column: str, counted: str, unreadable: str = "") -> list[Case]:
    """The cases of a cell that holds no finite number."""
    left = DROPPED if column in REQUIRED else None
    text_fix = Case.fix if column in REQUIRED else "correct the cell or leave it empty"
    cases = [
        Case(column, "is not a number", "soon", unreadable or counted, left, text_fix),
        Case(column, "is NaN", "nan", counted, left),
        Case(column, "is infinite or too large", "1e400", unreadable or counted, left),
    ]
    return [*cases, Case(column, "is empty", None, counted, fix="give every job one")] if left is DROPPED else cases


def of_shape(column: str, words: str) -> list[Case]:
    """The cases of one half of a shape."""
    return [
        *known(column, f"unreadable {words} left out"),
        Case(column, "is not a whole number", "0.5", f"fractional {words} left out", None,
             "write it without a fraction"),
        Case(column, "is less than 1", "0", f"{words} below 1 left out", None, EMPTIED),
    ]  # fmt: skip


UNEVEN = "the nodes of a gang have equally many GPUs: leave the cell empty, or the shape out by --ignore shape"
EMPTIED, SECONDS = "correct the cell or leave it empty", "{} are in seconds; are these milliseconds?"
CASES = [
    *known("gpus", "no GPU count", "GPU count cannot be read"),
    Case("gpus", "is 0", "0", "asks for no GPU", refused=False),
    Case("gpus", "is negative", "-1", "negative GPU count"),
    Case("gpus", "is not a whole number", "1.5", "fractional GPU count",
         fix="put a part of one GPU in the column `fraction`"),
    Case("gpus", "is more than 1,048,576", "1048577", "more than 1,048,576 GPUs"),
    *known("submit_s", "no submit time", "submit time cannot be read"),
    Case("submit_s", "is negative", "-1", "negative submit time"),
    Case("submit_s", "is negative", "-1e12", "negative submit time"),
    Case("submit_s", "is too large", "1.7e12", "submit time out of range", fix=SECONDS.format("times")),
    *known("duration_s", "no run time", "run time cannot be read"),
    Case("duration_s", "is negative", "-0.5", "negative run time"),
    Case("duration_s", "is longer than 31 years", "1.1e9", "run time over 31 years", fix=SECONDS.format("durations")),
    Case("job_id", "is empty", None, "no job id", fix="name every job, or leave the column out"),
    Case("job_id", "stands twice", "first", "job id seen before", fix="make the ids unique"),
    *known("batch_size", "unreadable batch size left out"),
    Case("batch_size", "is not a whole number", "1.5", "fractional batch size left out", None,
         "write it without a fraction"),
    Case("batch_size", "is not from 1 to 2^53 - 1", "0", "batch size not from 1 to 2^53 - 1 left out", None, EMPTIED),
    Case("batch_size", "is not from 1 to 2^53 - 1", str(MOST + 1), "batch size not from 1 to 2^53 - 1 left out", None,
         EMPTIED),
    *of_shape("nodes_requested", "number of nodes"),
    *of_shape("gpus_per_node", "number of GPUs per node"),
    Case("gpus_per_node", "times nodes_requested is not gpus", "2",
         "shape that contradicts the number of GPUs left out", None,
         "correct one of the three, or leave the shape out by --ignore shape", with_it="nodes_requested"),
    Case("nodes_requested", "does not divide gpus", "2", "shape of nodes with different numbers of GPUs left out", None,
         UNEVEN, alone=True),
    Case("gpus_per_node", "does not divide gpus", "2", "shape whose GPUs per node do not divide its GPUs left out",
         None, UNEVEN, alone=True),
    *known("fraction", "unreadable fraction left out"),
    Case("fraction", "is not above 0 and at most 1", "0", "fraction not above 0 and at most 1 left out", None, EMPTIED),
    Case("fraction", "is not above 0 and at most 1", "1.5", "fraction not above 0 and at most 1 left out", None,
         EMPTIED),
    *known("time_limit_s", "unreadable time limit left out"),
    Case("time_limit_s", "is not positive", "0", "time limit not positive left out", None,
         "leave it empty where there is no limit"),
    Case("time_limit_s", "is longer than 31 years", "1e10", "time limit over 31 years cut to that", MAX_DURATION_S,
         SECONDS.format("durations")),
    *known("priority", "unreadable priority set to 0"),
    Case("priority", "is not a whole number", "0.5", "fractional priority set to 0", None,
         "write it without a fraction"),
    Case("priority", "is beyond ±(2^53 - 1)", "-1e17", "priority cut to ±(2^53 - 1)", -MOST,
         "only their order counts: use less"),
    Case("preemptible", "is not true or false", "maybe",
         "unreadable preemptible left out, so the job may be preempted", None,
         "write true or false, or leave it empty"),
    *known("start_s", "unreadable start left out"),
    Case("start_s", "is before submit_s", "-1", "start before submission left out", None, EMPTIED),
    Case("start_s", "is too large", "1.7e12", "start out of range left out", None, SECONDS.format("times")),
    *known("end_s", "unreadable end left out"),
    Case("end_s", "is before start_s", "4", "end before start left out", None, EMPTIED),
    Case("end_s", "is before submit_s", "-1", "end before start left out", None, EMPTIED),
    Case("end_s", "is too large", "1.7e12", "end out of range left out", None, SECONDS.format("times")),
]  # fmt: skip


def good(**second: str | None) -> pl.DataFrame:
    """Three jobs that keep every rule, but for the cells given of the second."""
    rows = [GOOD | {"job_id": name} for name in ("first", "second", "third")]
    rows[1] |= second
    return pl.DataFrame(rows, schema=dict.fromkeys(GOOD, pl.String))


def table(case: Case) -> pl.DataFrame:
    others = {name: None for name in SHAPE if case.alone}
    return good(**{**others, case.column: case.cell})


cases = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.column} {case.cell} {case.what}")


def test_every_rule_has_a_case():
    assert {(rule.column, rule.what) for rule in RULES} == {(case.column, case.what) for case in CASES}


@cases
def test_a_native_table_is_refused(case):
    if not case.refused:
        refuse(table(case), path="jobs.csv")
        return
    cell = "" if case.cell is None else f"{case.cell!r} "
    twice = ", first in line 12" if case.what == "stands twice" else ""
    with pytest.raises(InputError) as caught:
        refuse(table(case), path="jobs.csv", line=lambda row: row + 12)
    assert str(caught.value) == f"jobs.csv:13: {case.column} {cell}{case.what}{twice} ({case.fix})"


@cases
def test_a_foreign_log_is_cleaned(case):
    cleaned = clean(table(case))
    if case.cleaned is DROPPED:
        assert (cleaned.dropped, cleaned.changed) == ({case.counted: 1}, {})
        assert cleaned.jobs["job_id"].to_list() == ["first", "third"]
    else:
        assert (cleaned.dropped, cleaned.changed) == ({}, {case.counted: 1})
        assert cleaned.jobs[case.column].to_list()[1] == case.cleaned
        others = [name for name in GOOD if name not in (case.column, case.with_it)]
        sound = table(replace(case, cell=GOOD[case.column]))
        assert cleaned.jobs.select(others).equals(clean(sound).jobs.select(others))
        assert not case.with_it or cleaned.jobs[case.with_it].to_list() == [1, None, 1]


def test_a_sound_table_is_left_alone():
    assert refuse(good(), path="jobs.csv").equals(clean(good()).jobs)
    assert (clean(good()).dropped, clean(good()).changed) == ({}, {})


@pytest.mark.parametrize("column", ["batch_size", *SHAPE, "fraction", "time_limit_s", "priority"])
def test_an_optional_cell_may_be_empty(column):
    frame = good().with_columns(pl.lit(None, pl.String).alias(column))
    refuse(frame, path="jobs.csv")
    assert clean(frame).changed == {}


@pytest.mark.parametrize("absent", [*SHAPE, "start_s"])
def test_a_rule_that_compares_columns_needs_them_all(absent):
    frame = good(nodes_requested="3", gpus_per_node="3", end_s="-1").drop(absent)
    counted = {name.split(" left")[0] for name in clean(frame).changed}
    shapes = {"nodes_requested": "shape whose GPUs per node do not divide its GPUs",
              "gpus_per_node": "shape of nodes with different numbers of GPUs",
              "start_s": "shape that contradicts the number of GPUs"}  # fmt: skip
    assert counted == {shapes[absent], "end before start"}
    with pytest.raises(InputError, match="row 2: end_s"):
        refuse(frame, path="jobs.csv")


def test_a_job_without_gpus_has_no_shape_to_be_wrong():
    frame = good(gpus="0", nodes_requested="4")
    refuse(frame, path="jobs.csv")
    assert clean(frame).changed == {}


def test_a_row_is_counted_once_under_the_first_rule():
    frame = good().with_columns(gpus=pl.Series(["0", "-1", "1"]), duration_s=pl.lit("-1"), fraction=pl.lit("7"))
    cleaned = clean(frame)
    assert cleaned.dropped == {"asks for no GPU": 1, "negative GPU count": 1, "negative run time": 1}
    assert cleaned.changed == {}, "changes count in rows that stay"


def test_of_repeated_ids_the_first_that_stays_counts():
    frame = good().with_columns(job_id=pl.lit("a"), gpus=pl.Series(["0", "1", "2"]))
    assert clean(frame).jobs["gpus"].to_list() == [1.0]
    assert clean(frame).dropped == {"asks for no GPU": 1, "job id seen before": 1}


def test_reasons_found_before_come_first():
    frame = good().with_columns(gpus=pl.lit("0"), dropped=pl.Series([None, "never ran", "never ran"]))
    cleaned = clean(frame)
    assert list(cleaned.dropped.items()) == [("asks for no GPU", 1), ("never ran", 2)]
    assert "dropped" not in cleaned.jobs.columns


def test_rows_without_ids_are_numbered_before_any_is_dropped():
    frame = good().drop("job_id").with_columns(gpus=pl.Series(["0", "1", "1"]))
    assert clean(frame).jobs["job_id"].to_list() == ["1", "2"]


def test_the_first_broken_row_is_refused_whichever_rule_it_breaks():
    frame = good().with_columns(job_id=pl.Series(["a", "a", "b"]), gpus=pl.Series(["1", "1", "-1"]))
    with pytest.raises(InputError, match="row 2: job_id 'a' stands twice, first in row 1"):
        refuse(frame, path="jobs.csv")


CELLS = st.one_of(st.none(), st.sampled_from([case.cell for case in CASES]), st.floats(-5, 5).map(str))


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries(dict.fromkeys(GOOD, st.one_of(CELLS, st.just("1")))), max_size=6))
def test_what_cleaning_leaves_is_not_refused(rows):
    frame = pl.DataFrame(rows, schema=dict.fromkeys(GOOD, pl.String))
    cleaned = clean(frame)
    assert frame.height == cleaned.jobs.height + sum(cleaned.dropped.values())
    refuse(completed(cleaned.jobs)[0], path="cleaned")
