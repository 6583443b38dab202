"""Whatever the bytes, a reader returns a sound job table or one `PointsmanError`; never a traceback."""

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.errors import PointsmanError
from pointsman.workload import Workload, read_workload
from pointsman.workload.columns import SCHEMA
from pointsman.workload.readers.formats import formats
from pointsman.workload.rules.refuse import refuse

HERE = Path(__file__).parent / "fixtures"
FIXTURES = {path.name: path.read_bytes() for path in sorted(HERE.iterdir())}
FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""Where each is read in a process of its own."""
FUZZ = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

BINARY = {"arrow", "parquet"}

NASTY = st.sampled_from(
    [
        *(b"", b",", b"\t", b"|", b"\n", b"\r", b"\r\n", b'"', b";", b"\0", b"\xff", b" " * 40, "é١".encode()),
        *(b"-1", b"0", b"1.5", b"1e400", b"nan", b"inf", b"-inf", b"99999999999999999999", b"1" * 400, b"None"),
        *(b"2017-13-45 99:99:99", b"0001-01-01 00:00:00", b"9999-12-31 23:59:59", b"9999-12-31T23:59:59+99:99"),
        *(b"[", b"{", b"]", b"null", b"[[[[", b"gres/gpu=1" + b"0" * 30),
    ]
)


@st.composite
def mutilated(draw, data):
    """`data` with a few spans cut out, replaced or doubled, and perhaps the end torn off."""
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 30)))
        new = draw(st.one_of(NASTY, st.binary(max_size=8), st.just(data[start:end] * 2)))
        data = data[:start] + new + data[end:]
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def any_bytes():
    """Nobody's, or those of a log of any format."""
    return st.one_of(st.binary(), st.sampled_from(list(FIXTURES.values())).flatmap(mutilated))


def check(path, data, **options):
    path.write_bytes(data)
    try:
        workload = read_workload(path, **options)
    except PointsmanError as error:
        assert "\n" not in str(error).strip()
        return
    assert_sound(workload)


def assert_sound(workload: Workload):
    jobs, quality = workload.jobs, workload.quality
    assert jobs.schema == pl.Schema(SCHEMA)
    assert quality.kept == jobs.height > 0
    assert quality.rows_read == quality.kept + sum(quality.dropped.values()) + sum(quality.merged.values())
    assert jobs["submit_s"].is_sorted()
    for name in ("job_id", "submit_s", "gpus", "duration_s", "priority"):
        assert jobs[name].null_count() == 0
    assert (jobs["gpus"] > 0).all()
    refuse(jobs, path="what was read")  # a table written and read again is not refused


@pytest.mark.parametrize("name", FIXTURES)
@FUZZ
@given(data=st.data())
def test_mutilated_logs(tmp_path, name, data):
    check(tmp_path / "log", data.draw(mutilated(FIXTURES[name])))


@pytest.mark.parametrize("format", sorted({*formats()} - BINARY))
@FUZZ
@given(data=st.data())
def test_any_bytes_forced_into_a_format(tmp_path, format, data):
    check(tmp_path / "log", data.draw(any_bytes()), format=format)


@pytest.mark.parametrize("format", sorted(BINARY))
@FEW
@given(data=st.data())
def test_any_bytes_forced_into_a_binary_format(tmp_path, format, data):
    check(tmp_path / "log", data.draw(any_bytes()), format=format)


CELL = st.one_of(st.integers(-5, 200).map(str), st.floats(width=32).map(str), st.text(max_size=5), st.just(""))


@FUZZ
@given(
    names=st.lists(st.one_of(st.sampled_from([*SCHEMA, "vc", "duration", "gpu"]), st.text(max_size=4)), max_size=6),
    rows=st.lists(st.lists(CELL, min_size=1, max_size=8), max_size=6),
)
def test_native_tables_of_random_cells(tmp_path, names, rows):
    lines = [",".join(["submit_s", "gpus", "duration_s", *names]), *(",".join(row) for row in rows)]
    check(tmp_path / "log", "\n".join(lines).encode("utf-8", "replace"))


@FEW
@given(data=st.data())
def test_mutilated_parquet_and_gzip(tmp_path, data):
    whole = tmp_path / "whole.parquet"
    read_workload(HERE / "native.csv").jobs.write_parquet(whole)
    packed = data.draw(st.sampled_from([whole.read_bytes(), gzip.compress(FIXTURES["itp.csv"], mtime=0)]))
    check(tmp_path / "log", data.draw(mutilated(packed)))


@FEW
@given(
    submit=st.lists(st.floats(0, 1e9), min_size=1, max_size=8),
    gpus=st.lists(st.integers(1, 64), min_size=8, max_size=8),
    duration=st.lists(st.floats(0, 1e8), min_size=8, max_size=8),
    users=st.lists(st.one_of(st.none(), st.text(min_size=1, max_size=6)), min_size=8, max_size=8),
)
def test_what_is_written_is_read_again(tmp_path, submit, gpus, duration, users):
    from pointsman.workload import write_workload

    n = len(submit)
    columns = {"submit_s": submit, "gpus": gpus[:n], "duration_s": duration[:n]}
    clean = [
        None if user is None else user.replace("\0", "").encode("utf-8", "replace").decode() or None
        for user in users[:n]
    ]
    frame = pl.DataFrame(columns).with_columns(user=pl.Series(clean, dtype=pl.String))
    workload = Workload.of(frame)
    for name in ("jobs.parquet", "jobs.csv", "jobs.csv.gz", "jobs.csv.zst"):
        write_workload(workload, tmp_path / name)
        assert read_workload(tmp_path / name).jobs.equals(workload.jobs), name
