"""No row of a log is lost: rows read = jobs kept + rows dropped + rows merged, counted apart from their parsing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import InputError
from pointsman.workload import read_workload
from pointsman.workload.provenance import Quality
from pointsman.workload.readers import rows as rows_of
from pointsman.workload.readers import trace_cleaning
from pointsman.workload.readers.formats import formats
from pointsman.workload.readers.row_count import RowsLostError, check_count
from tests.workload.test_readers import FORMATS, HERE

ITP = "job_id,submission_time,duration,num_gpu"


@pytest.mark.parametrize(("name", "format"), [item for item in FORMATS.items() if item[1] != "csv"])
def test_a_reader_that_loses_a_row_is_a_fault_that_names_it(
    name: str, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the parser had taken two rows for one."""
    whole = trace_cleaning.clean

    def lossy(frame: pl.DataFrame) -> object:
        return whole(frame.head(-1))

    monkeypatch.setattr(trace_cleaning, "clean", lossy)
    with pytest.raises(
        RowsLostError, match=rf"the reader of {format} lost count of .*{name}: \d+ rows are in the file"
    ):
        read_workload(HERE / name)


def test_a_native_table_that_loses_a_row_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(source: object) -> rows_of.Rows:
        found = rows_of.read_rows(source)  # ty: ignore[invalid-argument-type]
        return replace(found, frame=found.frame.head(-1))

    monkeypatch.setattr("pointsman.workload.readers.native.read_rows", lossy)
    with pytest.raises(RowsLostError, match="the reader of csv lost count"):
        read_workload(HERE / "native.csv")
    monkeypatch.undo()
    read_workload(HERE / "native.csv").jobs.write_parquet(tmp_path / "jobs.parquet")
    read: Callable[..., pl.DataFrame] = pl.read_parquet
    monkeypatch.setattr(
        "pointsman.workload.readers.native.read_foreign_table",
        lambda data, path: read(tmp_path / "jobs.parquet").head(1),
    )
    with pytest.raises(RowsLostError, match="the reader of parquet lost count"):
        read_workload(tmp_path / "jobs.parquet")


def test_every_format_is_counted_apart() -> None:
    assert set(FORMATS.values()) | {"parquet", "arrow"} == set(formats())


def test_the_equation() -> None:
    check_count(Quality(6, 3, {"x": 2}, merged={"y": 1}))
    with pytest.raises(RowsLostError, match="6 rows are in the file, but 3 are kept, 2 dropped and 0 merged"):
        check_count(Quality(6, 3, {"x": 2}))


@pytest.mark.parametrize(
    ("lines", "kept", "lost"),
    [
        (['a,1,70"0,1', "b,2,700,1", "c,3,700,1"], ["b", "c"], 0),  # a quote within a cell is one
        (['"a,1,700,1', "b,2,700,1", "c,3,700,1"], ['"a', "b", "c"], 0),
        (["a,1,700,1", '"b,2,700,1', 'c,3,"700",1', "d,4,700,1"], ["a", '"b', "c", "d"], 0),
        (["a,1,700,1", 'b,2,"70"0,1', "c,3,700,1"], ["a", "c"], 0),
        (["a,1,700,1", '"b,2",2,700,1', "c,3,700"], ["a", "b,2"], 1),
        (['"a\n\nb",1,700,1', "c,3,700,1"], ["a\n\nb", "c"], 0),
    ],
)
def test_a_stray_quote_in_a_csv_file_costs_its_line_at_most(
    tmp_path: Path, lines: list[str], kept: list[str], lost: int
) -> None:
    path = tmp_path / "log"
    path.write_text("\n".join([ITP, *lines]) + "\n")
    read = read_workload(path)
    assert read.jobs["job_id"].to_list() == kept
    assert read.quality.rows_read == len(lines)
    assert read.quality.dropped.get("wrong number of cells", 0) == lost


def test_lines_of_dropped_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        f"{ITP}\na,1,700,1\nb,soon,700,1\nc,2026/03/02,700,1\nd,,700,1\ne,1,-5,1\nf,2,700,1,9\ng,x,1,1\nh,y,1,1\n"
    )
    assert [line for line in read_workload(path).quality.render().splitlines() if "dropped" in line] == [
        "dropped 1: negative run time (line 6)",
        "dropped 1: no submit time (line 5)",
        "dropped 4: submit time cannot be read (lines 3, 4, 8, …; line 3 has 'soon')",
        "dropped 1: wrong number of cells (line 7)",
    ]
    with pytest.raises(InputError, match=r"no job is left of 1 row: 1 no run time \(line 2\)"):
        path.write_text(f"{ITP}\na,1,,1\n")
        read_workload(path)


def test_tables_with_bars_or_tabs_have_no_quotes(tmp_path: Path) -> None:
    for mark in ("|", "\t"):
        path = tmp_path / "log"
        path.write_text(
            f'at{mark}n{mark}len{mark}who\n1{mark}2{mark}3{mark}"lea\n2{mark}2{mark}3{mark}k"im\n'.replace("|", mark)
        )
        columns = {"submit_s": "at", "gpus": "n", "duration_s": "len", "user": "who"}
        assert read_workload(path, columns=columns).jobs["user"].to_list() == ['"lea', 'k"im']
        path.write_text(
            path.read_text().replace("at", '"at"', 1).replace('"lea', f'"l{mark}ea"').replace('k"im', "kim")
        )
        assert read_workload(path, columns=columns).jobs["user"].to_list() == [f"l{mark}ea", "kim"]
