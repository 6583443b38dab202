"""Tables that are no CSV, read by the names of their columns."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pointsman import read_workload
from pointsman.errors import InputError

COLUMNS = {"job_id": "id", "submit_s": "at", "gpus": "cards", "duration_s": "ran", "user": "who"}
TYPED = pl.DataFrame(
    {
        "id": [7.0, 8.0],
        "at": [datetime(2026, 3, 2, 8, tzinfo=UTC), datetime(2026, 3, 2, 8, 5, tzinfo=UTC)],
        "cards": [["0", "1"], ["3"]],
        "ran": [timedelta(hours=1), timedelta(seconds=90)],
        "who": ["ann", None],
        "else": [1, 2],
    }
)
RIGHT = [("7", 0.0, 2, 3600.0, "ann"), ("8", 300.0, 1, 90.0, None)]


def jobs(path: Path, columns: dict[str, str] = COLUMNS, **options: Any) -> list[tuple[Any, ...]]:
    return read_workload(path, columns=columns, **options).jobs.select(*COLUMNS).rows()


@pytest.mark.parametrize("write", ["write_parquet", "write_ipc", "write_ipc_stream"])
def test_typed_columns(write: str, tmp_path: Path) -> None:
    getattr(TYPED, write)(tmp_path / "log")
    assert jobs(tmp_path / "log") == RIGHT
    quality = read_workload(tmp_path / "log", columns=COLUMNS).quality
    assert "columns not read: else" in quality.notes
    with pytest.raises(InputError, match=r"no column 'When' \(known: at, cards"):
        jobs(tmp_path / "log", COLUMNS | {"submit_s": "When"})


def test_fields_of_structs(tmp_path: Path) -> None:
    nested = TYPED.select(status=pl.struct(pl.struct("at").alias("times"), "ran"), spec=pl.struct("id", "cards", "who"))
    nested.write_parquet(tmp_path / "log")
    columns = {
        "job_id": "spec.id",
        "submit_s": "status.times.at",
        "gpus": "spec.cards",
        "duration_s": "status.ran",
        "user": "spec.who",
    }
    assert jobs(tmp_path / "log", columns) == RIGHT


def test_whole_numbers_times_without_a_zone_and_rows_that_cannot_be_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"at": [1772438400000, 1772438700000, None], "n": [8, 4, 1], "ran": [60.5, 60.0, 60.0]})
    frame.write_ipc(tmp_path / "log")
    read = read_workload(tmp_path / "log", columns={"submit_s": "at", "gpus": "n", "duration_s": "ran"})
    assert read.jobs.select("submit_s", "gpus", "duration_s").rows() == [
        (1772438400.0, 8, 60.5),
        (1772438700.0, 4, 60.0),
    ]
    assert read.quality.dropped == {"no submit time": 1}


@pytest.mark.parametrize("cut", [100, 300])
@pytest.mark.parametrize("write", ["write_parquet", "write_ipc", "write_ipc_stream"])
def test_a_damaged_table_is_refused(write: str, cut: int, tmp_path: Path) -> None:
    getattr(TYPED, write)(tmp_path / "whole")
    (tmp_path / "log").write_bytes((tmp_path / "whole").read_bytes()[:cut])
    with pytest.raises(InputError, match=r"the (Parquet file|Arrow file|Arrow stream) is truncated or damaged"):
        jobs(tmp_path / "log")


def test_a_native_table_in_arrow(tmp_path: Path) -> None:
    pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [5.0]}).write_ipc(tmp_path / "log")
    assert read_workload(tmp_path / "log").provenance.format == "arrow"


RECORDS = [
    {"id": 7, "at": "2026-03-02T08:00:00Z", "cards": [0, 1], "ran": 3600, "who": "ann", "else": True},
    {"id": "8", "at": 1772438700, "cards": 1, "ran": "00:01:30", "who": None},
]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, RECORDS)),
        json.dumps(RECORDS),
        json.dumps({"cluster": "blue", "jobs": RECORDS}, indent=2),
    ],
    ids=["lines", "list", "held"],
)
def test_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text)
    assert jobs(tmp_path / "log") == RIGHT
    assert "columns not read: else" in read_workload(tmp_path / "log", columns=COLUMNS).quality.notes


def test_keys_within_keys(tmp_path: Path) -> None:
    record = {"metadata": {"name": "a", "labels": {"example.com/gpus": "4"}}, "status": {"startTime": 5, "ran": 60}}
    (tmp_path / "log").write_text(json.dumps(record) + "\n" + json.dumps(record | {"metadata": {}}))
    columns = {
        "job_id": "metadata.name", "gpus": "metadata.labels.example.com/gpus", "submit_s": "status.startTime",
        "duration_s": "status.ran",
    }  # fmt: skip
    read = read_workload(tmp_path / "log", columns=columns)
    assert read.jobs.select("job_id", "gpus", "submit_s").rows() == [("a", 4, 5.0)]
    assert read.quality.dropped == {"no GPU count": 1}


def test_lines_that_are_no_objects_are_counted(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"at":1,"n":1,"ran":5}\n{"at":1,\n[1]\n\n{"at":"x","n":1,"ran":5}\n')
    read = read_workload(tmp_path / "log", columns={"submit_s": "at", "gpus": "n", "duration_s": "ran"})
    assert read.quality.dropped == {"not a JSON object": 2, "submit time cannot be read": 1}
    assert "(line 5; line 5 has 'x')" in read.quality.render()


UNREADABLE = [(column, cell) for column in ("at", "cards", "ran") for cell in ("1e400", "-1e400", "{}")]
UNREADABLE += [(column, cell) for column in ("at", "ran") for cell in ("[]", "[{}]", '{"x": {}}')]


@pytest.mark.parametrize(("column", "cell"), UNREADABLE)
def test_what_is_no_value_of_the_column_is_not_called_absent(column: str, cell: str, tmp_path: Path) -> None:
    rows = [json.dumps(RECORDS[0]), json.dumps(RECORDS[1] | {column: "CELL"}).replace('"CELL"', cell)]
    (tmp_path / "log").write_text("\n".join(rows))
    quality = read_workload(tmp_path / "log", columns=COLUMNS).quality
    (reason,) = quality.dropped
    assert reason.endswith(" cannot be read") and quality.places[reason].lines == (2,) and quality.places[reason].cell


def test_a_reason_has_the_lines_of_all_its_rows(tmp_path: Path) -> None:
    """What is text breaks another rule than what is infinite."""
    rows = [RECORDS[0], RECORDS[0] | {"cards": float("inf")}, RECORDS[0] | {"cards": "some"}]
    (tmp_path / "log").write_text("\n".join(json.dumps(row | {"id": i}) for i, row in enumerate(rows)))
    said = read_workload(tmp_path / "log", columns=COLUMNS).quality.render()
    assert "dropped 2: GPU count cannot be read (lines 2, 3; line 2 has 'inf')" in said


@pytest.mark.parametrize("text", ['[{"at": 1}', '[{"at": 1}, {"a', "[nonsense]"])
def test_broken_json_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(InputError, match="broken JSON"):
        read_workload(tmp_path / "log", columns={"submit_s": "at", "gpus": "n", "duration_s": "ran"})
