"""The run directory: whole or absent, the same bytes each time, and readable again."""

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

from pointsman.errors import InputError, RunError, UsageError
from pointsman.report.figures.catalogue import KINDS
from pointsman.report.result import Result
from pointsman.report.run_reading import read_run, read_runs
from pointsman.report.rundir import write_comparison, write_run
from pointsman.report.staging import refuse_taken, whole_directory

FILES = {"manifest.json", "config.resolved.yaml", "summary.json", "jobs.parquet", "events.parquet", "series.parquet"}
FIGURES = ["1-jct-cdf", "2-jct-bars", "3-wait-by-gpus", "4-utilisation", "5a-fairness", "5b-tenants", "6-occupancy",
           "7-fragmentation", "8-preemptions"]  # fmt: skip


@pytest.fixture(scope="module")
def written(srtf: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("out") / "run", srtf, command="pointsman simulate log.csv")


def test_everything_is_there(written: Path) -> None:
    assert {path.name for path in written.iterdir()} == FILES | {"report.html", "plots"}
    assert [path.stem for path in sorted((written / "plots").iterdir())] == FIGURES


def test_it_reads_back_what_was_written(written: Path, srtf: Result) -> None:
    again = read_run(written)
    assert again.jobs.equals(srtf.jobs)
    assert again.events is not None
    assert srtf.events is not None
    assert again.events.equals(srtf.events)
    assert again.series.equals(srtf.series)
    assert again.info == json.loads(json.dumps(srtf.info))


def test_changed_values_are_not_believed(srtf: Result, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", srtf, figures=False)
    changed = pl.read_parquet(run / "jobs.parquet").with_columns(pl.col("end_s") - 3600)
    changed.write_parquet(run / "jobs.parquet")
    with pytest.raises(InputError, match=r"jobs\.parquet: this file is damaged or was changed"):
        read_run(run)


def test_events_name_jobs_and_nodes(written: Path, srtf: Result) -> None:
    events = pl.read_parquet(written / "events.parquet")
    start = events.filter(pl.col("kind") == "START").row(0, named=True)
    assert start["job_id"] == f"job-{start['row']}"
    assert start["node_name"] == srtf.info["node_names"][start["node"]]


def test_manifest_and_settings(written: Path) -> None:
    manifest = json.loads((written / "manifest.json").read_text())
    assert manifest["schema_version"] == 1
    assert manifest["command"] == "pointsman simulate log.csv"
    assert manifest["seeds"] == [1]
    assert manifest["input_sha256"] == ["0" * 64]
    assert manifest["versions"]["polars"] == pl.__version__
    settings = yaml.safe_load((written / "config.resolved.yaml").read_text())
    assert settings["policy"] == "srtf"
    assert settings["cluster"] == "8x8"


def test_the_same_run_gives_the_same_bytes(written: Path, srtf: Result, tmp_path: Path) -> None:
    again = write_run(tmp_path / "again", srtf, command="pointsman simulate log.csv")
    for path in sorted(written.rglob("*")):
        if path.is_file() and path.name != "manifest.json":
            assert path.read_bytes() == (again / path.relative_to(written)).read_bytes(), path.name


def test_without_a_plan_log(fifo: Result, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", Result(fifo.jobs, None, fifo.series, fifo.info))
    assert not (run / "events.parquet").exists()
    assert read_run(run).events is None
    assert "the use of the nodes over time is unknown" in (run / "report.html").read_text()


def test_an_existing_directory_is_refused(fifo: Result, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="exists; choose another directory with -o, or replace it with --force"):
        write_run(tmp_path / "out", fifo, figures=False)


def test_force_replaces_a_run_and_nothing_else(fifo: Result, srtf: Result, tmp_path: Path) -> None:
    write_run(tmp_path / "out", fifo, figures=False)
    write_run(tmp_path / "out", srtf, figures=False, force=True)
    assert read_run(tmp_path / "out").info["policy"] == "srtf"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "file").write_text("")
    for name in ("home", "link", "file"):
        with pytest.raises(UsageError, match="not a run directory"):
            write_run(tmp_path / name, fifo, figures=False, force=True)
    assert (tmp_path / "home" / "thesis.tex").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "home", "link", "out"], "nothing else is left"


def test_an_empty_directory_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    refuse_taken(tmp_path / "out", force=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no")])
def test_nothing_is_left_after_an_error(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)), whole_directory(tmp_path / "out") as partial:
        (partial / "half").write_text("half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    full = r"out: No space left on device while it was written"
    with pytest.raises(RunError, match=full) as caught, whole_directory(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_may_not_grow_leaves_nothing(srtf: Result, tmp_path: Path) -> None:
    """A limit on the size of files fails the Parquet writer in the middle, as a full disk does."""
    run = write_run(tmp_path / "run", srtf, figures=False)
    size = (run / "jobs.parquet").stat().st_size

    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

    code = (
        "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from pointsman.inputs import output_path\n"
        "output_path.ROOM = 1\n"  # else it is seen before anything is written
        "from pointsman.report import read_run, write_run\n"
        "write_run(sys.argv[2], read_run(sys.argv[1]), figures=False)"
    )
    arguments = [sys.executable, "-B", "-c", code, str(run), str(tmp_path / "out")]
    # Whoever measures coverage writes a file too, which may not grow either
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(arguments, env=env, capture_output=True, text=True, preexec_fn=few_bytes, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "RunError" in last
    assert "File too large while it was written, so its files were removed" in last
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_no_permission_is_one_sentence(fifo: Result) -> None:
    with pytest.raises(UsageError, match="/proc/pointsman/run: nothing can be written to /proc: "):
        write_run("/proc/pointsman/run", fifo, figures=False)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("manifest.json", "{", "not JSON"),
        ("manifest.json", "[]", "not the manifest of a run"),
        ("manifest.json", '{"kind": "run", "schema_version": 99}', "schema 99 is not 1"),
        ("jobs.parquet", "junk", "damaged or was changed"),
    ],
)
def test_a_damaged_run_is_refused(fifo: Result, tmp_path: Path, name: str, content: str, complaint: str) -> None:
    run = write_run(tmp_path / "run", fifo, figures=False)
    (run / name).write_text(content)
    with pytest.raises(InputError, match=complaint):
        read_run(run)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run found"):
        read_run(tmp_path)


def test_a_comparison_holds_its_runs(many: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.report.figures.catalogue.KINDS", KINDS[:1])  # each takes a second
    write_comparison(tmp_path / "out", many, baseline="srtf")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "manifest.json", "comparison.json", "comparison.csv", "changes.csv", "report.html", "plots", "runs",
    }  # fmt: skip
    runs = sorted(path.name for path in (tmp_path / "out" / "runs").iterdir())
    assert runs == sorted(f"{policy}_s{seed}" for policy in ("fifo", "sjf-backfill", "srtf") for seed in (1, 2, 3))
    assert read_run(tmp_path / "out" / "runs" / "fifo_s2").info["seed"] == 2
    again = read_runs(tmp_path / "out")
    assert [(run.info["policy"], run.info["seed"]) for run in again][:4] == [
        *(("srtf", s) for s in (1, 2, 3)),
        ("fifo", 1),
    ]
    assert [run.info["seed"] for run in read_runs(tmp_path / "out" / "runs" / "fifo_s2")] == [2]
    table = pl.read_csv(tmp_path / "out" / "comparison.csv")
    assert table["policy"].to_list() == ["srtf", "fifo", "sjf-backfill"]
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())["baseline"] == "srtf"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"gpus": "64"}, "info.gpus: must be a whole number"),
        ({"overheads": []}, "info.overheads"),
        ({"profile_error": []}, "info.profile_error: must be a number"),
        ({"engine_s": None}, "info.engine_s: must be a number"),
        ({"rate_model": "x"}, "info.rate_model: there is no rate model 'x'"),
        ({"rate_model": "tree"}, "a run of the rate model 'tree' states 'tree' and 'node_racks'"),
        ({"node_gpus": [8]}, "node_gpus has 1 entries for 8 nodes"),
        ({"gpus": 63}, "63 GPUs are not the 64 of the nodes"),
        ({"node_interference": "table"}, "the column 'slowed_s' is missing"),
    ],
)
def test_a_manifest_is_not_believed_blindly(fifo: Result, tmp_path: Path, change: dict, complaint: str) -> None:
    run = write_run(tmp_path / "run", fifo, figures=False)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"info": manifest["info"] | change}))
    with pytest.raises(InputError, match=complaint):
        read_run(run)


@pytest.mark.parametrize("runs", [None, ["../../run"], [".hidden"], [5], "ab"])
def test_nor_that_of_a_comparison(many: list[Result], tmp_path: Path, runs: object) -> None:
    write_comparison(tmp_path / "out", many, figures=False, runs=False)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    (tmp_path / "out/manifest.json").write_text(json.dumps(manifest | {"runs": runs}))
    with pytest.raises(InputError, match=r"manifest\.json: runs"):
        read_runs(tmp_path / "out")


@pytest.fixture(scope="module")
def older(srtf: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without digests."""
    run = write_run(tmp_path_factory.mktemp("older") / "run", srtf, figures=False)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "output_sha256": {}}))
    return run


def test_older_runs_are_read(older: Path, srtf: Result) -> None:
    assert read_run(older).jobs.equals(srtf.jobs)


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("jobs", lambda table: table.drop("end_s"), "the column 'end_s' is missing"),
        ("jobs", lambda table: table.with_columns(pl.col("wait_s").cast(pl.String)), "wait_s holds String"),
        ("jobs", lambda table: table.with_columns(run_s=pl.lit(float("nan"))), "run_s holds something else"),
        ("jobs", lambda table: table.with_columns(gpus=pl.lit(None, pl.Int64)), "gpus lacks a value"),
        ("jobs", lambda table: table.reverse(), "row does not count the jobs"),
        ("series", lambda table: table.drop("head_gpus"), "the column 'head_gpus' is missing"),
        ("events", lambda table: table.with_columns(row=pl.lit(10**6, pl.Int64)), "row is of none of the "),
        ("events", lambda table: table.with_columns(node=pl.lit(8, pl.Int64)), "node is of none of the 8"),
    ],
)
def test_tables_of_older_runs_are_looked_at(older: Path, tmp_path: Path, name: str, change, complaint: str) -> None:
    run = shutil.copytree(older, tmp_path / "run")
    change(pl.read_parquet(run / f"{name}.parquet")).write_parquet(run / f"{name}.parquet")
    with pytest.raises(InputError, match=complaint):
        read_run(run)
