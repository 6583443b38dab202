"""Native tables are strict: what they accept, and the sentence with which they refuse."""

import io
from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import InputError
from pointsman.workload import Workload, read_workload
from pointsman.workload.columns import SCHEMA

HEADER = "submit_s,gpus,duration_s"


def written(tmp_path, text, name="jobs.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_three_columns_are_enough(tmp_path):
    workload = read_workload(written(tmp_path, f"{HEADER}\n0,1,60\n1.5,8,0\n"))
    assert workload.jobs.schema == pl.Schema(SCHEMA)
    assert workload.jobs["job_id"].to_list() == ["0", "1"]
    assert workload.jobs["priority"].to_list() == [0, 0]
    assert workload.jobs["duration_s"].to_list() == [60.0, 0.0]
    assert workload.jobs["user"].null_count() == 2
    assert (workload.provenance.format, workload.quality.dropped, workload.quality.notes) == ("csv", {}, ())


def test_zero_gpus_are_dropped_and_counted(tmp_path):
    quality = read_workload(written(tmp_path, f"{HEADER}\n0,0,60\n1,1,6\n2,0,6\n")).quality
    assert (quality.rows_read, quality.kept, quality.dropped) == (3, 1, {"asks for no GPU": 2})
    assert "dropped 2: asks for no GPU (lines 2, 4)" in quality.render()


def test_ids_number_the_rows_of_the_file(tmp_path):
    jobs = read_workload(written(tmp_path, f"{HEADER}\n5,0,60\n4,1,6\n2,1,6\n")).jobs
    assert jobs["job_id"].to_list() == ["2", "1"]


def test_rows_out_of_order_are_sorted_stably_and_reported(tmp_path):
    text = f"job_id,{HEADER}\nc,9,1,1\na,3,1,1\nb,3,2,1\nd,3,1,1\n"
    workload = read_workload(written(tmp_path, text))
    assert workload.jobs["job_id"].to_list() == ["a", "b", "d", "c"]
    assert any("out of submit order: 1" in note for note in workload.quality.notes)


def test_fractions_take_a_whole_gpu_and_the_notes_say_so(tmp_path):
    workload = read_workload(written(tmp_path, f"{HEADER},fraction\n0,1,60,0.25\n1,1,6,1\n2,1,6,\n"))
    assert workload.jobs["gpus"].to_list() == [1, 1, 1]
    assert workload.jobs["fraction"].to_list() == [0.25, 1.0, None]
    assert any("part of a GPU: 1; each takes a whole one" in note for note in workload.quality.notes)


@pytest.mark.parametrize(("fraction", "sharing"), [(0.142, 7), (0.428, 2), (0.9, 2), (0.05, 8), (0.5, 2), (0.25, 4)])
def test_the_note_names_the_sharing_for_the_smallest_part(tmp_path, fraction, sharing):
    workload = read_workload(written(tmp_path, f"{HEADER},fraction\n0,1,60,{fraction}\n1,1,6,0.95\n"))
    assert f"--gpu-sharing {sharing} does that" in workload.quality.notes[-1]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\r\n0,1,60\r\n1,2,5\r\n",
        f"\ufeff{HEADER}\n0,1,60\n1,2,5\n",
        f"{HEADER}\n0,1,60\n1,2,5",
        f"{HEADER}\n0,1,60\n1,2,5\n\n\n",
        "submit_s, gpus, duration_s\n0, 1, 60\n1, 2, 5\n",
        f'{HEADER}\n"0","1","60"\n1,2,5\n',
        f"{HEADER}\n0,1.0,6e1\n+1,2,5.\n",
    ],
)
def test_the_same_table_in_many_dresses(tmp_path, text):
    jobs = read_workload(written(tmp_path, text)).jobs
    assert jobs.select("submit_s", "gpus", "duration_s").rows() == [(0.0, 1, 60.0), (1.0, 2, 5.0)]


def test_quoted_cells_may_hold_commas_and_lines(tmp_path):
    text = f'job_id,{HEADER}\n"a,\n1",0,1,60\nb,1,-1,5\n'
    with pytest.raises(InputError, match=r"jobs\.csv:4: gpus '-1' is negative"):
        read_workload(written(tmp_path, text))


GOOD = "0,1,60"
CELLS = [
    ("submit_s", "-1", "is negative"),
    ("submit_s", "", "submit_s is empty"),
    ("submit_s", "soon", "is not a number"),
    ("submit_s", "nan", "is NaN"),
    ("submit_s", "inf", "is infinite"),
    ("submit_s", "1e400", "too large"),
    ("submit_s", "1700000000000", "milliseconds"),
    ("gpus", "-1", "is negative"),
    ("gpus", "0.5", r"not a whole number .*fraction"),
    ("gpus", "", "gpus is empty"),
    ("gpus", "8x", "is not a number"),
    ("gpus", "NaN", "is NaN"),
    ("gpus", "99999999999999999999", "is more than"),
    ("duration_s", "-0.5", "is negative"),
    ("duration_s", "1e12", "longer than 31 years"),
    ("duration_s", "-inf", "is infinite"),
    ("duration_s", "1:30:00", "is not a number"),
    ("duration_s", "1_000", "is not a number"),
    ("fraction", "0", "is not above 0"),
    ("fraction", "1.5", "is not above 0"),
    ("batch_size", "0", "is not from 1"),
    ("batch_size", "1.5", "is not a whole number"),
    ("time_limit_s", "0", "is not positive"),
    ("priority", "high", "is not a number"),
    ("preemptible", "sometimes", "is not true or false"),
    ("priority", "0.1", "is not a whole number"),
    ("priority", "1e300", "is beyond"),
]


@pytest.mark.parametrize(("column", "cell", "said"), CELLS)
def test_a_bad_cell_refuses_the_file_with_its_line(tmp_path, column, cell, said):
    names = [*HEADER.split(","), *([column] if column not in HEADER else [])]
    row = dict(zip(names, [*GOOD.split(","), "1"], strict=False)) | {column: cell}
    good = ",".join([*GOOD.split(","), "1"][: len(names)])
    text = "\n".join([",".join(names), good, good, ",".join(row[name] for name in names), good])
    with pytest.raises(InputError, match=said) as caught:
        read_workload(written(tmp_path, text))
    assert caught.value.line == 4
    assert caught.value.fix
    assert str(tmp_path / "jobs.csv:4: ") in str(caught.value)


def test_the_first_bad_line_is_the_one_named(tmp_path):
    with pytest.raises(InputError) as caught:
        read_workload(written(tmp_path, f"{HEADER}\n0,1,1\n0,1,x\n0,-1,1\nnan,1,1\n"))
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("submit_s,gpus\n0,1\n", r"the column duration_s must be there", 1),
        ("submit_s,gpus,duration\n0,1,5\n", r"is 'duration' meant to be 'duration_s'", 1),
        ("submit_s,gpu,duration_s\n0,1,5\n", r"is 'gpu' meant to be 'gpus'", 1),
        (
            f"{HEADER},pririty\n0,1,5,1\n",
            r"unknown column 'pririty' \(did you mean 'priority'\?; --keep-columns pririty keeps",
            1,
        ),
        (f"{HEADER},vc\n0,1,5,1\n", r"did you mean 'queue'", 1),
        (f"{HEADER},gpus\n0,1,5,1\n", "stands twice in the header", 1),
        (f"{HEADER}\n0,1,5\n0,1\n", "has not 3 cells", 3),
        (f"{HEADER}\n0,1,5\n0,1,5,6\n", "has not 3 cells", 3),
        (f"{HEADER}\n0,1\n0,1,5,6\n", "has not 3 cells", 2),
        (f"{HEADER}\n0,1,5\n\n0,1,5\n", "has not 3 cells", 3),
        (f'{HEADER}\n0,1,5\n"0,1,5\n', "broken quoting", 3),
        (f"job_id,{HEADER}\na,0,1,5\nb,0,1,5\na,0,1,5\n", r"'a' stands twice, first in line 2", 4),
        (f"job_id,{HEADER}\na,0,1,5\n,0,1,5\n", "job_id is empty", 3),
        (f"{HEADER}\n", "no row under the header", None),
        (f"{HEADER}\n0,0,5\n", "every job asks for 0 GPUs", None),
        (HEADER.replace(",", ";") + "\n0;1;5\n", "separated by semicolons", 1),
        (HEADER.encode() + b",user\n0,1,5,\xff\n", "not UTF-8", 2),
        (HEADER.encode() + b"\n0,1,5\n0,\x00,5\n", "NUL bytes", 3),
    ],
)
def test_a_bad_table_is_refused(tmp_path, text, said, line):
    with pytest.raises(InputError, match=said) as caught:
        read_workload(written(tmp_path, text))
    assert caught.value.line == line
    assert caught.value.fix


@pytest.mark.parametrize("place", range(9))
def test_a_megabyte_in_a_cell_is_not_echoed(tmp_path, place):
    names = ["job_id", *HEADER.split(","), "priority", "fraction", "gpu_type", "batch_size", "time_limit_s"]
    row = ["a", *GOOD.split(","), "1", "1", "v100", "1", "5"]
    row[place] = "x" * 1_000_000
    text = "\n".join([",".join(names), ",".join(row), ",".join(row)])
    with pytest.raises(InputError) as caught:
        read_workload(written(tmp_path, text))
    assert len(str(caught.value)) < 300 + len(str(tmp_path))
    names[place] = "x" * 1_000_000
    with pytest.raises(InputError) as caught:
        read_workload(written(tmp_path, "\n".join([",".join(names), ",".join(names)])))
    assert len(str(caught.value)) < 500 + len(str(tmp_path))


@pytest.mark.parametrize("number", [1 << 53, (1 << 53) + 1, -(1 << 53) - 1])
def test_a_priority_that_would_be_rounded_is_refused(tmp_path, number):
    with pytest.raises(InputError, match=r"is beyond .*only their order counts"):
        read_workload(written(tmp_path, f"{HEADER},priority\n0,1,1,{number}\n"))
    with pytest.raises(InputError, match="is beyond"):
        Workload.of(FRAME.with_columns(priority=pl.lit(number)))
    assert read_workload(written(tmp_path, f"{HEADER},priority\n0,1,1,-{(1 << 53) - 1}\n")).jobs["priority"][0] < -9e15


def test_other_columns_are_ignored_and_named(tmp_path):
    workload = read_workload(written(tmp_path, f"{HEADER},remark,colour\n0,1,60,x,red\n"))
    assert workload.quality.notes == ("columns not read: remark, colour",)


def parquet(tmp_path, frame, name="jobs.parquet"):
    path = tmp_path / name
    frame.write_parquet(path)
    return path


FRAME = pl.DataFrame(
    {"submit_s": [0, 5, 3], "gpus": [1, 2, 4], "duration_s": [1.5, 2.5, 3.5], "user": ["a", None, "b"]}
)


def test_parquet_with_any_number_types(tmp_path):
    frame = FRAME.cast({"gpus": pl.UInt8, "duration_s": pl.Float32, "user": pl.Categorical})
    jobs = read_workload(parquet(tmp_path, frame, "named.csv")).jobs
    assert jobs["gpus"].to_list() == [1, 4, 2]
    assert jobs["user"].to_list() == ["a", "b", None]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"gpus": ["1", "2", "4"]}, "holds String, not numbers"),
        ({"gpus": [1.5, 2.0, 4.0]}, "row 1: gpus 1.5 is not a whole number"),
        ({"gpus": [1, 2, None]}, "row 3: gpus is empty"),
        ({"duration_s": [1.0, float("nan"), 1.0]}, "row 2: duration_s nan is NaN"),
        ({"duration_s": [True, False, True]}, "holds Boolean, not numbers"),
        ({"job_id": [7, 8, 7]}, "row 3: job_id '7' stands twice, first in row 1"),
        ({"user": [[1], [2], [3]]}, "the column user holds List"),
    ],
)
def test_bad_parquet_is_refused_by_row(tmp_path, columns, said):
    with pytest.raises(InputError, match=said):
        read_workload(parquet(tmp_path, FRAME.with_columns(**{k: pl.Series(v) for k, v in columns.items()})))


def test_truncated_parquet(tmp_path):
    data = io.BytesIO()
    FRAME.write_parquet(data)
    with pytest.raises(InputError, match="truncated or damaged"):
        read_workload(written(tmp_path, data.getvalue()[:-20], "jobs.parquet"))


def test_a_parquet_file_that_aborts_its_reader():
    """Two changed bytes in a page header: the library ends the process, but not ours."""
    with pytest.raises(InputError, match=r"aborting\.parquet: the Parquet file is truncated or damaged: "):
        read_workload(Path(__file__).parent / "damaged" / "aborting.parquet")


def test_a_frame_in_memory_keeps_the_same_rules():
    assert Workload.of(FRAME).jobs["submit_s"].to_list() == [0.0, 3.0, 5.0]
    with pytest.raises(InputError, match="memory: row 2: gpus -2 is negative"):
        Workload.of(FRAME.with_columns(gpus=pl.Series([1, -2, 4])))


@pytest.mark.parametrize("inside", ["\r", "\n", "\r\n", "a\rb", ","])
def test_a_quoted_cell_keeps_its_line_breaks(tmp_path, inside):
    path = tmp_path / "jobs.csv"
    path.write_bytes(f'submit_s,gpus,duration_s,user\n0,1,5,"x{inside}"\n1,2,6,y\n'.encode())
    assert read_workload(path).jobs["user"].to_list() == [f"x{inside}", "y"]
