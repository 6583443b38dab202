"""A table of any kind, whose columns are named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pointsman import read_workload
from pointsman.errors import InputError, UsageError
from pointsman.workload.readers.named_columns import named

SLURM = {"submit_s": "Submit", "gpus": "TRES", "duration_s": "Elapsed", "user": "Who", "status": "State"}
Table = Callable[[str], Path]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    def write(text: str) -> Path:
        (tmp_path / "any.csv").write_text(text)
        return tmp_path / "any.csv"

    return write


@pytest.mark.parametrize("delimiter", [",", "|", ";", "\t"])
def test_dates_spans_and_lists_of_resources(delimiter: str, table: Table) -> None:
    rows = [
        ["Submit", "Elapsed", "TRES", "Who", "State", "Else"],
        ["2026-01-01T00:00:00", "01:00:00", "gres/gpu=2", "ann", "completed", "x"],
        ["2026-01-01 01:00:00+01:00", "1-00:00:00", "gres/gpu:a100=4", "bob", "Killed", "x"],
        ["2026-01-01 00:05:00", "90", "1", "", "FAILED", "x"],
    ]
    read = read_workload(table("\n".join(delimiter.join(row) for row in rows)), columns=SLURM)
    assert read.jobs["submit_s"].to_list() == [0.0, 0.0, 300.0]
    assert read.jobs["gpus"].to_list() == [2, 4, 1]
    assert read.jobs["duration_s"].to_list() == [3600.0, 86400.0, 90.0]
    assert read.jobs["user"].to_list() == ["ann", "bob", None]
    assert read.jobs["status"].to_list() == ["COMPLETED", "CANCELLED", "FAILED"]
    assert "columns not read: Else" in read.quality.notes
    assert read.provenance.format == "columns"


def test_epochs_and_ends(table: Table) -> None:
    """A duration is the end less the start where none is named; rows without one are dropped and counted."""
    path = table("at,from,to,n\n1700000000,1700000100,1700000150,8\n1700000010,1700000100,,8\n")
    read = read_workload(path, columns={"submit_s": "at", "gpus": "n", "start_s": "from", "end_s": "to"})
    assert read.jobs.select("submit_s", "gpus", "duration_s").rows() == [(1700000000.0, 8, 50.0)]
    assert sum(read.quality.dropped.values()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("submit_s", "is not NAME=COLUMN"),
        ("submit=At", "'submit' is no column of ours (did you mean 'submit_s'?"),
        ("submit_s=A,submit_s=B", "submit_s is named twice, 'A' and 'B'"),
        ("submit_s=A,duration_s=B", "--columns names no gpus: it replaces the reader of a known format"),
        ("submit_s=A,gpus=B,start_s=C", "--columns names no duration_s (or start_s and end_s)"),
    ],
)
def test_what_is_no_list_of_columns(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        named([text])
    assert said in str(caught.value)


def test_a_column_that_is_not_there(table: Table) -> None:
    with pytest.raises(InputError, match=r"any.csv:1: there is no column 'Submit' \(did you mean 'submit'"):
        read_workload(table("submit,Elapsed,TRES,Who,State\n1,2,3,4,5\n"), columns=SLURM)


def test_a_format_and_columns_contradict_each_other(table: Table) -> None:
    with pytest.raises(UsageError, match="leave out the format 'csv'"):
        read_workload(table("a\n1\n"), format="csv", columns=SLURM)


def test_other_units(table: Table) -> None:
    path = table("at,long,n\n1,2,8\n3,1.5,8\n")
    read = read_workload(path, columns={"submit_s": "at", "gpus": "n", "duration_s": "long"}, time_unit="min")
    assert read.jobs.select("submit_s", "duration_s").rows() == [(60.0, 120.0), (180.0, 90.0)]
    with pytest.raises(UsageError, match="time_unit = 'weeks': it must be one of ms, s, min, h"):
        read_workload(path, columns={"submit_s": "at", "gpus": "n", "duration_s": "long"}, time_unit="weeks")


def test_lists_of_muri_are_in_milliseconds(table: Table) -> None:
    rows = "job_id,num_gpu,submit_time,duration,resource_time_0\na,1,1000,60000,5\n"
    read = read_workload(table(rows))
    assert read.jobs.select("submit_s", "duration_s").rows() == [(1.0, 60.0)]
    assert "times are in ms, as in Muri's lists" in read.quality.notes
    assert read_workload(table(rows), time_unit="s").jobs["duration_s"].to_list() == [60000.0]


def test_starts_may_be_dates_like_submissions(table: Table) -> None:
    log = table("At,N,From,To\n2026-01-01T00:00:00,1,2026-01-01T00:01:00,2026-01-01T00:03:00\n")
    read = read_workload(log, columns={"submit_s": "At", "gpus": "N", "start_s": "From", "end_s": "To"})
    assert read.jobs.select("submit_s", "start_s", "end_s", "duration_s").row(0) == (0.0, 60.0, 180.0, 120.0)


def test_a_table_of_no_known_format_is_told_how_to_name_its_columns(table: Table) -> None:
    with pytest.raises(InputError, match="of any other table name the columns: --columns submit_s="):
        read_workload(table("When,N,Dur\n1,2,3\n"))
