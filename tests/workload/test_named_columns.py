"""A table of any kind, whose columns are named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pointsman import Workload, read_workload
from pointsman.errors import InputError, UsageError
from pointsman.workload.readers.named_columns import parse_columns

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
        ("deadline_s=Due by", "; --keep-columns 'deadline_s=Due by' keeps your own"),
        ("submit_s=A,submit_s=B", "submit_s is named twice, 'A' and 'B'"),
        ("submit_s=A,duration_s=B", "--columns names no gpus (or nodes_requested and gpus_per_node): it replaces"),
        ("submit_s=A,gap_s=B,gpus=C,duration_s=D", "--columns names both submit_s and gap_s"),
        ("gpus=A,duration_s=B", "--columns names no submit_s (or gap_s)"),
        ("submit_s=A,gpus=B,start_s=C", "--columns names no duration_s (or start_s and end_s)"),
    ],
)
def test_what_is_no_list_of_columns(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_columns([text])
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


CASES = Path(__file__).parents[3] / "shared" / "field" / "cases"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not here")
DATED = {"job_id": "id", "gpus": "gpus", "submit_s": "submitted", "start_s": "started", "end_s": "finished"}
LSF = {
    "job_id": "JOBID", "user": "USER", "queue": "QUEUE", "gpus": "GPU_NUM", "submit_s": "SUBMIT_TIME",
    "start_s": "START_TIME", "end_s": "FINISH_TIME", "status": "STAT",
}  # fmt: skip


def gpu_h(read: Workload) -> float:
    return float((read.jobs["gpus"] * read.jobs["duration_s"]).sum()) / 3600


@needs_cases
def test_field_dates_of_many_kinds_in_one_column() -> None:
    read = read_workload(CASES / "f_dates.csv", columns=DATED)
    submitted = dict(read.jobs.select("job_id", "submit_s").iter_rows())
    assert submitted == {"a": pytest.approx(0.123), "b": 0.0, "c": 0.0, "d": 0.0}
    assert read.jobs["duration_s"].to_list() == [3600.0] * 4
    assert (gpu_h(read), read.quality.dropped) == (16.0, {})


@needs_cases
def test_field_epochs_in_milliseconds() -> None:
    read = read_workload(CASES / "f_epoch_ms.csv", columns=DATED)
    assert read.jobs["submit_s"].to_list() == [1772438400.0, 1772438500.0]
    assert gpu_h(read) == 12.0
    assert any("submit_s in ms" in note for note in read.quality.notes)


@needs_cases
def test_field_dates_of_lsf() -> None:
    read = read_workload(CASES / "f_lsf.csv", columns=LSF)
    assert read.jobs["submit_s"].to_list() == [0.0, 300.0]
    assert read.jobs["start_s"].to_list() == [49.0, 349.0]
    assert gpu_h(read) == 6.0
    assert read.jobs["status"].to_list() == ["COMPLETED", "FAILED"]


@pytest.mark.parametrize(
    ("cell", "gpus", "gpu_type", "fraction"),
    [
        ("gpu:4", 4, None, None),
        ("gpu:a100:2(IDX:0-1)", 2, "a100", None),
        ("gres/gpu=2;gres/gpu:a100=2", 2, "a100", None),
        ("1001=3", 3, None, None),
        ("8.0", 8, None, None),
        ("2x A100", 2, "a100", None),
        ("gpu:a100_3g.20gb:1", 1, "a100", 0.428),
        ("0.25", 1, None, 0.25),
    ],
)
def test_cells_of_gpus(cell: str, gpus: int, gpu_type: str | None, fraction: float | None, table: Table) -> None:
    read = read_workload(
        table(f"at|n|long\n0|{cell}|60\n"), columns={"submit_s": "at", "gpus": "n", "duration_s": "long"}
    )
    assert read.jobs.select("gpus", "gpu_type", "fraction").row(0) == (gpus, gpu_type, fraction)


def test_a_named_type_counts_more_than_that_of_the_cell(table: Table) -> None:
    path = table("at|n|long|card\n0|gpu:a100:2|60|NVIDIA H100 80GB HBM3\n")
    read = read_workload(path, columns={"submit_s": "at", "gpus": "n", "duration_s": "long", "gpu_type": "card"})
    assert read.jobs["gpu_type"].to_list() == ["h100"]


def test_what_is_no_share_of_a_gpu_is_left_out_with_its_gpu_hours(table: Table) -> None:
    path = table("at|n|long\n0|gres/shard=4|3600\n0|gpu:1|60\n")
    read = read_workload(path, columns={"submit_s": "at", "gpus": "n", "duration_s": "long"})
    assert read.quality.dropped == {"on slices or shares of GPUs that are no share of one GPU": 1}
    assert any("at most 4.0 GPU-h" in note and "4 shard" in note for note in read.quality.notes)


def test_gaps_in_the_place_of_times(table: Table) -> None:
    path = table("gap,n,long\n5,1,60\n10,2,60\n,4,60\n00:01:30,8,60\n")
    read = read_workload(path, columns={"gap_s": "gap", "gpus": "n", "duration_s": "long"})
    assert read.jobs.select("submit_s", "gpus").rows() == [(0.0, 1), (10.0, 2), (100.0, 8)]
    assert read.quality.dropped == {"no submit time": 1}
    assert any("count as 0" in note for note in read.quality.notes)


def test_what_cannot_be_read_is_not_absent(table: Table) -> None:
    path = table("at,n,long\n0,1,60\nYstday 08:00,1,60\n,1,60\n0,two,60\n0,,60\n0,1,soon\n0,1,\n")
    read = read_workload(path, columns={"submit_s": "at", "gpus": "n", "duration_s": "long"})
    assert read.quality.dropped == {
        "no submit time": 1, "submit time cannot be read": 1, "no GPU count": 1, "GPU count cannot be read": 1,
        "no run time": 1, "run time cannot be read": 1,
    }  # fmt: skip
    report = read.quality.render()
    assert "dropped 1: submit time cannot be read (line 3; line 3 has 'Ystday 08:00')" in report
    assert "dropped 1: GPU count cannot be read (line 5; line 5 has 'two')" in report
    assert "dropped 1: no run time (line 8)" in report


def test_an_end_that_cannot_be_read_is_the_reason_for_no_run_time(table: Table) -> None:
    path = table("at,n,from,to\n0,1,1,2\n0,1,1,Ystday\n0,1,1,\n")
    read = read_workload(path, columns={"submit_s": "at", "gpus": "n", "start_s": "from", "end_s": "to"})
    assert read.quality.dropped == {"no run time": 1, "run time cannot be read": 1}


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("1 days 02:00:00", 93600.0),
        ("0 days 01:00:00.5", 3600.0),
        ("1h30m", 5400.0),
        ("PT2H", 7200.0),
        ("2-01", 176400.0),
    ],
)
def test_durations_as_they_are_written(cell: str, seconds: float, table: Table) -> None:
    read = read_workload(
        table(f"at|n|long\n0|1|{cell}\n"), columns={"submit_s": "at", "gpus": "n", "duration_s": "long"}
    )
    assert read.jobs["duration_s"].to_list() == [seconds]


def test_the_shape_of_a_gang_and_where_it_ran(table: Table) -> None:
    path = table("at|nodes|each|long|qos|where\n0|2|gpu:8|60|high|n[1-2]\n")
    shape = {"nodes_requested": "nodes", "gpus_per_node": "each", "qos": "qos", "node_list": "where"}
    read = read_workload(path, columns={"submit_s": "at", "duration_s": "long", **shape})
    told = read.jobs.select("gpus", "nodes_requested", "gpus_per_node", "qos", "node_list").row(0)
    assert told == (16, 2, 8, "high", "n[1-2]")


SLASHED = {"submit_s": "at", "gpus": "n", "duration_s": "long"}


def test_the_order_of_day_and_month_is_told_by_the_file_or_asked_for(table: Table) -> None:
    told = read_workload(table("at,n,long\n03/02/2026 08:00:00,1,60\n13/02/2026 08:00:00,1,60\n"), columns=SLASHED)
    assert told.jobs["submit_s"].to_list() == [0.0, 10 * 86400.0]
    open_order = table("at,n,long\n03/02/2026 08:00:00,1,60\n04/02/2026 08:00:00,1,60\n")
    with pytest.raises(InputError, match="--date-order dmy"):
        read_workload(open_order, columns=SLASHED)
    for order, days in (("dmy", 1), ("mdy", 31)):
        read = read_workload(open_order, columns=SLASHED, date_order=order)
        assert read.jobs["submit_s"].to_list() == [0.0, days * 86400.0]


STEPPED = "id|at|n|long\n801|0|4|3600\n801.batch|0|4|3600\n801.extern|0|4|3600\n802|0|1|60\n802.0|0|1|60\n"


def test_steps_are_no_jobs(table: Table) -> None:
    columns = {"job_id": "id", **SLASHED}
    with pytest.raises(InputError, match=r"'801.batch' is that of a step of a job.*3 rows.*--steps drop"):
        read_workload(table(STEPPED), columns=columns)
    dropped = read_workload(table(STEPPED), columns=columns, steps="drop")
    assert (dropped.jobs["job_id"].to_list(), dropped.quality.dropped) == (["801", "802"], {"a job step, not a job": 3})
    assert read_workload(table(STEPPED), columns=columns, steps="keep").jobs.height == 5


@pytest.mark.parametrize("name", ["JobID", "jobid", "JOBIDRAW", "job_id"])
def test_steps_are_no_jobs_where_ids_are_not_named(name: str, table: Table) -> None:
    """A table of sacct's fields has its ids, whether `--columns` names them or other ones."""
    path = table(STEPPED.replace("id|", f"{name}|", 1))
    for columns in (SLASHED, SLASHED | {"user": name}, SLASHED | {"job_id": "long"}):
        with pytest.raises(InputError, match=r"'801.batch' is that of a step of a job.*3 rows.*--steps drop"):
            read_workload(path, columns=columns)
        dropped = read_workload(path, columns=columns, steps="drop")
        assert dropped.jobs["gpus"].to_list() == [4, 1]
        assert dropped.quality.dropped == {"a job step, not a job": 3}
    assert read_workload(path, columns=SLASHED, steps="keep").jobs.height == 5
    assert read_workload(table(STEPPED), columns=SLASHED).jobs.height == 5, "ids of other names may be anything"


def test_ids_that_passed_through_a_spreadsheet_are_no_steps(table: Table) -> None:
    read = read_workload(table("id|at|n|long\n801.0|0|4|60\n802.0|0|1|60\n"), columns={"job_id": "id", **SLASHED})
    assert read.jobs["job_id"].to_list() == ["801.0", "802.0"]


def test_a_step_beside_its_job_is_one_even_if_it_is_the_first(table: Table) -> None:
    with pytest.raises(InputError, match=r"'801.0' is that of a step"):
        read_workload(table("id|at|n|long\n801|0|4|60\n801.0|0|4|60\n"), columns={"job_id": "id", **SLASHED})
