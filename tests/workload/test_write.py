"""Writing: three formats, packed or not, whole or not at all."""

import stat
from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import InputError, RunError, UsageError
from pointsman.workload import Workload, generate, read_workload, write_workload
from pointsman.workload.readers.origin import remembered

HERE = Path(__file__).parent / "fixtures"


@pytest.fixture
def workload():
    return read_workload(HERE / "native.csv")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.csv.gz", "a.csv.zst", "b.c.csv"])
def test_native_tables_come_back_as_they_were(tmp_path, workload, name):
    write_workload(workload, tmp_path / name)
    assert read_workload(tmp_path / name).jobs.equals(workload.jobs)


@pytest.mark.parametrize("name", sorted(file.name for file in HERE.iterdir() if file.suffix != ".trace"))
def test_what_a_log_is_converted_to_is_a_native_table_again(tmp_path, name):
    """Whatever columns it has: `user,partition` are names of Slurm's fields, too."""
    source = read_workload(HERE / name)
    write_workload(source, tmp_path / "again.csv")
    again = read_workload(tmp_path / "again.csv")
    assert again.provenance.format == "csv"
    assert again.jobs.equals(source.jobs)


def test_packed_files_are_the_same_bytes_every_time(tmp_path, workload):
    for name in ("a.csv.gz", "b.csv.gz", "a.parquet", "b.parquet"):
        write_workload(workload, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@pytest.mark.parametrize("name", ["a.swf", "a.swf.gz"])
def test_swf_keeps_what_it_has_a_place_for(tmp_path, name):
    source = read_workload(HERE / "sacct.txt")
    write_workload(source, tmp_path / name)
    again = read_workload(tmp_path / name)
    assert again.provenance.format == "swf"
    same = ["submit_s", "gpus", "duration_s", "time_limit_s"]
    assert again.jobs.select(same).equals(source.jobs.select(same))
    assert again.jobs["status"].to_list() == ["COMPLETED", None, "FAILED", "CANCELLED"]
    assert again.jobs["user"].to_list() == ["1", "2", "2", "2"]
    assert again.jobs["queue"].to_list() == ["1"] * 4
    assert again.jobs["partition"].to_list() == ["1"] * 4


def test_swf_has_the_waits_that_the_log_tells(tmp_path):
    source = read_workload(HERE / "openb.csv")
    write_workload(source, tmp_path / "a.swf")
    again = read_workload(tmp_path / "a.swf")
    assert again.jobs.select("start_s", "end_s").rows() == [(30.0, 130.0), (10.0, 60.0)]


def test_swf_has_eighteen_fields_and_says_who_is_who(tmp_path):
    write_workload(read_workload(HERE / "sacct.txt"), tmp_path / "a.swf")
    lines = (tmp_path / "a.swf").read_text().splitlines()
    comments = [line for line in lines if line.startswith(";")]
    assert all(len(line.split()) == 18 for line in lines[len(comments) :])
    assert comments[0] == "; Version: 2.2"
    assert {"; MaxJobs: 4", "; MaxProcs: 8", "; User: 1 ann", "; User: 2 bob", "; Queue: 1 gpu"} <= set(comments)


def test_swf_counts_from_the_first_submit_in_milliseconds(tmp_path):
    jobs = pl.DataFrame({"submit_s": [1e9, 1e9 + 0.25], "gpus": [1, 2], "duration_s": [0.0, 1.0006]})
    write_workload(Workload.of(jobs), tmp_path / "a.swf")
    rows = [line.split()[1:5] for line in (tmp_path / "a.swf").read_text().splitlines() if line[0] != ";"]
    assert rows == [["0", "-1", "0", "1"], ["0.25", "-1", "1.001", "2"]]


def test_standard_output_is_csv(workload, capfdbinary):
    write_workload(workload, "-")
    header, *rows = capfdbinary.readouterr().out.decode().splitlines()
    assert header == "job_id,user,queue,fraction,priority,submit_s,gpus,duration_s"
    assert len(rows) == 3


@pytest.mark.parametrize("name", ["a.txt", "a", "a.parquet.gz", "a.gz"])
def test_an_ending_that_says_no_format(tmp_path, workload, name):
    with pytest.raises(UsageError, match="the ending says no format"):
        write_workload(workload, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_nothing_half_written(tmp_path, workload, monkeypatch):
    (tmp_path / "a.csv").write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RunError, match=r"a\.csv: cannot be written: No space left on device"):
        write_workload(workload, tmp_path / "a.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_a_folder_that_is_not_there(tmp_path, workload):
    with pytest.raises(RunError, match="cannot be written: No such file or directory"):
        write_workload(workload, tmp_path / "no" / "a.csv")


def test_files_have_the_usual_rights(tmp_path, workload):
    write_workload(workload, tmp_path / "a.csv")
    (tmp_path / "b.csv").touch()
    rights = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.csv", "b.csv")]
    assert rights[0] == rights[1]


def test_parquet_remembers_where_its_jobs_came_from_and_what_was_dropped(tmp_path):
    log = read_workload(HERE / "sacct.txt", only={"user": "bob"}, command="pointsman trace convert")
    write_workload(log, tmp_path / "a.parquet")
    again = read_workload(tmp_path / "a.parquet")
    assert (again.provenance.format, again.provenance.origin) == ("parquet", log.provenance)
    assert log.quality.dropped["not user=bob"] and any("time zone" in n or "clock" in n for n in log.quality.notes)
    assert again.quality == log.quality
    fewer = read_workload(tmp_path / "a.parquet", only={"status": "failed"})
    write_workload(fewer, tmp_path / "b.parquet")
    twice = read_workload(tmp_path / "b.parquet")
    assert twice.quality.dropped == log.quality.dropped | {"not status=failed": log.quality.kept - twice.quality.kept}
    assert twice.provenance.origin and twice.provenance.origin.origin == log.provenance


def test_generated_jobs_say_so_after_a_trip_through_a_file(tmp_path):
    write_workload(generate("philly", jobs=20, cluster_gpus=64, load=0.5, seed=3), tmp_path / "a.parquet")
    provenance = read_workload(tmp_path / "a.parquet").provenance
    assert str(provenance).endswith("a.parquet (format parquet), from generated like philly")
    made = provenance.origin
    assert made and made.command == "generate(like='philly', jobs=20, cluster_gpus=64, load=0.5, seed=3)"


def test_a_record_of_the_origin_that_is_wrong_is_noticed(tmp_path, workload):
    path = tmp_path / "a.parquet"
    workload.jobs.write_parquet(path, metadata={"pointsman": "{}"})
    with pytest.raises(InputError, match="the record of its origin"):
        read_workload(path)
    workload.jobs.head(1).write_parquet(path, metadata=remembered(workload))
    changed = read_workload(path)
    assert (changed.quality.rows_read, changed.quality.kept) == (1, 1)
    assert "the table was changed since" in changed.quality.notes[-1]
