"""Tables of pandas, pyarrow and polars become workloads, and back; a wrong one is refused with the right call."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.errors import InputError, UsageError

pandas: Any = pytest.importorskip("pandas", reason="pandas is not installed (extra [dev])")
pyarrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra [dev])")

JOBS = pl.DataFrame(
    {
        "job_id": ["a", "b", "c"],
        "submit_s": [0.0, 5.0, 5.5],
        "gpus": [1, 4, 2],
        "duration_s": [60.0, 30.0, 10.0],
        "user": ["ann", None, "bob"],
        "time_limit_s": [100.0, None, 50.0],
        "priority": [1, 0, 0],
    }
)
EXPECTED = pointsman.Workload.of(JOBS).jobs
DF = pandas.DataFrame(JOBS.to_dict(as_series=False))


class Capsule:
    """A table of a library that nobody here knows."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return JOBS.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "table",
    [
        JOBS,
        JOBS.lazy(),
        DF,
        DF.set_index(pandas.Index([7, 3, 9])),
        DF.astype({"user": "category"}),
        pyarrow.Table.from_pandas(DF),
        pyarrow.Table.from_pandas(DF).to_reader(),
        Capsule(),
        JOBS.to_dict(as_series=False),
    ],
    ids=["polars", "lazy", "pandas", "index", "category", "arrow", "reader", "capsule", "mapping"],
)
def test_the_same_table_of_every_kind_is_the_same_workload(table: Any) -> None:
    made = pointsman.Workload.of(table)
    assert made.jobs.equals(EXPECTED)
    assert made.quality.notes == ()


def test_a_workload_and_a_result_go_back_to_every_kind() -> None:
    workload = pointsman.Workload.of(DF)
    back = workload.to_pandas()
    assert isinstance(back, pandas.DataFrame)
    assert pointsman.Workload.of(back).jobs.equals(EXPECTED)
    assert pl.DataFrame(pyarrow.table(workload)).equals(EXPECTED)
    result = pointsman.simulate(workload, "1x4", "fifo")
    assert result.to_pandas()["end_s"].tolist() == result.jobs["end_s"].to_list()
    assert result.to_pandas()["state"].tolist() == ["COMPLETED"] * 3
    assert pyarrow.table(result)["jct_s"].to_pylist() == result.jobs["jct_s"].to_list()


def test_tables_are_taken_where_workloads_are() -> None:
    by_file = pointsman.simulate(pointsman.Workload.of(JOBS), "1x4", "fifo").jobs
    assert pointsman.simulate(DF, "1x4", "fifo").jobs.equals(by_file)
    (cell,) = pointsman.sweep(pyarrow.Table.from_pandas(DF), "1x4", ["fifo", "srtf"]).cells
    assert cell.rows[0].values["jct_mean_s"] == pytest.approx(by_file["jct_s"].mean())


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
import pandas, polars as pl, pointsman
jobs = pl.DataFrame({"submit_s": [0.0, 5.0], "gpus": [1, 2], "duration_s": [3.0, 4.0], "user": ["a", None],
    "time_limit_s": [None, 9.0]})
frame = pandas.DataFrame(jobs.to_dict(as_series=False))
frame["submit_s"] = pandas.to_datetime(frame["submit_s"], unit="s")
workload = pointsman.Workload.of(frame)
assert workload.jobs.equals(pointsman.Workload.of(jobs).jobs), workload.jobs
assert workload.to_pandas()["time_limit_s"].isna().tolist() == [True, False]
try:
    pointsman.Workload.of(frame.assign(gpus=["x", 3]))
except pointsman.errors.InputError as error:
    print(error)
"""


def test_pandas_without_pyarrow_is_read_too() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PYARROW], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "give each column one name and values of one type" in done.stdout


def test_no_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pandas is not installed: pip install pandas"):
        pointsman.Workload.of(JOBS).to_pandas()


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_dates_and_time_spans_are_seconds(zone: str | None) -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    dated = DF.assign(
        submit_s=pandas.to_datetime([at + timedelta(seconds=s) for s in (0, 5, 5.5)]).tz_convert(zone),
        duration_s=pandas.to_timedelta([60, 30, 10], unit="s"),
        time_limit_s=pandas.to_timedelta([100, None, 50], unit="s"),
    )
    made = pointsman.Workload.of(dated)
    assert made.quality.notes == ("dates are seconds since 1970 in UTC: submit_s",)
    assert made.jobs.equals(EXPECTED.with_columns(pl.col("submit_s") + at.timestamp()))


RENAMED = {"submit_s": "Submit", "gpus": "num_gpus"}
DATES = pandas.to_datetime(["2026-01-01"] * 3)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            DF.rename(columns=RENAMED | {"duration_s": "took"}),
            "memory: the columns submit_s, gpus, duration_s must be there (rename yours: df.rename(columns={'Submit': "
            "'submit_s', 'num_gpus': 'gpus', 'COLUMN_WITH_DURATION_S': 'duration_s'}); they are Submit, num_gpus",
        ),
        (JOBS.rename(RENAMED), "df.rename({'Submit': 'submit_s', 'num_gpus': 'gpus'})"),
        (pyarrow.table(JOBS.rename(RENAMED)), "table.rename_columns({'Submit': 'submit_s', 'num_gpus': 'gpus'})"),
        (
            DF.rename(columns={"duration_s": "runtime"}).assign(deadline_s=1.0),
            "df.rename(columns={'runtime': 'duration_s'}); they are runtime, deadline_s)",
        ),
        (
            DF.rename(columns={"submit_s": "Submit Time", "gpus": "ngpus", "duration_s": "duration_h"}),
            "{'Submit Time': 'submit_s', 'ngpus': 'gpus', 'COLUMN_WITH_DURATION_S': 'duration_s'}",
        ),
        (DF[["submit_s"]], "the columns gpus, duration_s must be there (it has no other columns)"),
        (DF.assign(prioritty=1).drop(columns="priority"), "unknown column 'prioritty' (did you mean 'priority'? df."),
        (DF.assign(gpus=["1", "4", "2"]), "the column gpus holds String, not numbers (store it as a number)"),
        (
            DF.assign(submit_s="2026-01-01"),
            "the column submit_s holds String, not numbers (store it as numbers or dates",
        ),
        (DF.assign(gpus=[1, None, 2]), "row 2: gpus is empty (give every job one)"),
        (DF.assign(user=["ann", 7, "bob"]), "Conversion failed for column user"),
        (DF.assign(start_s=DATES), "submit_s holds numbers, start_s dates without a time zone (give all times as"),
        (DF.assign(submit_s=DATES, end_s=DATES.tz_localize("UTC")), "end_s dates with a time zone (give all times as"),
        (DF.iloc[:0], "memory: there is no row (give at least one job)"),
        ({"submit_s": [0.0], "gpus": [1, 2], "duration_s": [1.0]}, "the table cannot be read: "),
    ],
)
def test_a_wrong_table_is_refused_with_the_right_call(table: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        pointsman.simulate(table, "1x4", "fifo")
    assert said in str(refused.value)


def test_a_table_where_a_file_is_needed_is_told_where_it_goes() -> None:
    with pytest.raises(UsageError, match=r"read_workload takes a file, not DataFrame .*; Workload.of takes a table"):
        pointsman.read_workload(DF)


def test_a_column_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"the job table has no column 'gpu' \(did you mean 'gpus'\? known: account, "):
        pointsman.Workload.of(JOBS)["gpu"]


def test_an_empty_text_says_nothing_of_preemption() -> None:
    given = JOBS.with_columns(preemptible=pl.Series(["no", "", " "]))
    assert pointsman.Workload.of(given).jobs["preemptible"].to_list() == [False, None, None]


@pytest.mark.parametrize("given", ["jobs.csv", [1, 2], None, pl.DataFrame])
def test_what_is_no_table_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"Workload.of takes a DataFrame .* read by pointsman.read_workload\(path\)"):
        pointsman.Workload.of(given)
