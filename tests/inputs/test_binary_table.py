import io
import os
from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import InputError
from pointsman.inputs import binary_table
from pointsman.inputs.binary_table import expect_table, read_foreign_table


def parquet(frame: pl.DataFrame) -> bytes:
    held = io.BytesIO()
    frame.write_parquet(held)
    return held.getvalue()


def test_a_table_that_was_expected_is_read_by_the_process_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"gpus": [1, 2]})
    path = tmp_path / "jobs"
    path.write_bytes(parquet(frame))
    expect_table(path)
    monkeypatch.setattr(binary_table, "_start", lambda: pytest.fail("a second process"))
    assert read_foreign_table(path.read_bytes(), path=str(path)).equals(frame)
    assert not binary_table._waiting


def test_a_damaged_table_that_was_expected_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.parquet"
    path.write_bytes(parquet(pl.DataFrame({"gpus": [1, 2]}))[:-20])
    expect_table(path)
    with pytest.raises(InputError, match="the Parquet file is truncated or damaged"):
        read_foreign_table(path.read_bytes(), path=str(path))


def test_nothing_is_started_for_what_is_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary_table, "_start", lambda: pytest.fail("started"))
    (tmp_path / "log.csv").write_text("submit_s,gpus,duration_s\n")
    for path in (None, "-", "no\0name", tmp_path, tmp_path / "none.parquet", tmp_path / "log.csv"):
        expect_table(path)


def test_a_pipe_is_left_to_its_reader(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"PAR1 and more")
    expect_table(f"/dev/fd/{reading}")
    assert os.read(reading, 4) == b"PAR1"
    os.close(reading)
    os.close(writing)


def test_a_process_that_is_told_of_no_table_says_nothing() -> None:
    with binary_table._start() as reader:
        assert reader.communicate(b"") == (b"", b"")
    assert reader.returncode == 0
