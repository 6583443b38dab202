"""`pointsman trace`: data on stdout, reports on stderr, nothing half-written."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pointsman.cli.trace import app
from pointsman.errors import InputError, UsageError
from pointsman.workload import read_workload

HERE = Path(__file__).parents[1] / "workload" / "fixtures"


def run(*arguments, input=None):
    return CliRunner().invoke(app, [str(a) for a in arguments], input=input)


def test_info_prints_figures_and_the_quality_report():
    result = run("info", HERE / "helios.csv")
    assert result.exit_code == 0
    assert "mean_busy_gpus" in result.stdout
    assert "dropped 1: asks for no GPU" in result.stdout
    assert "Asia/Shanghai" in result.stdout
    assert result.stderr == ""
    figures = run("info", HERE / "helios.csv", "--format", "csv")
    assert "Asia/Shanghai" in figures.stderr and "Asia/Shanghai" not in figures.stdout
    assert ["submit_span", "30", "s"] in [line.split() for line in result.stdout.splitlines()]
    assert "50.0 %" in result.stdout


def test_info_as_json_holds_everything():
    record = json.loads(run("info", HERE / "helios.csv", "--format", "json").stdout)
    assert record["jobs"] == 2
    assert record["gpu_hours"] == pytest.approx((8 * 100 + 1) / 3600)
    assert record["mean_busy_gpus"] == pytest.approx((8 * 100 + 1) / 30)
    assert record["quality"]["dropped"] == {"asks for no GPU": 1, "never started": 1}
    assert record["provenance"]["format"] == "helios"
    assert [row["gpus"] for row in record["sizes"]] == ["1", "5-8"]
    assert sum(row["jobs"] for row in record["statuses"]) == 2


def test_the_title_names_the_format_of_every_file(tmp_path):
    logs = {file.name: run("info", file).stdout.split("\n")[0] for file in HERE.glob("*.csv")}
    assert logs["openb.csv"].endswith("openb.csv (format openb)") and logs["native.csv"].endswith(" (format csv)")
    assert all(" (format " in title for title in logs.values()), logs
    run("convert", HERE / "openb.csv", tmp_path / "jobs.parquet")
    assert run("info", tmp_path / "jobs.parquet").stdout.split("\n")[0].count("(format ") == 2


def test_a_slice_counts_at_its_share_of_a_gpu(tmp_path):
    log = tmp_path / "jobs.csv"
    log.write_text("submit_s,gpus,duration_s,fraction\n0,1,3600,0.5\n3600,2,3600,0.5\n7200,1,3600,\n")
    record = json.loads(run("info", log, "--format", "json").stdout)
    assert (record["gpu_hours"], record["mean_busy_gpus"]) == (3.5, 1.75)
    assert [row["gpu_hours"] for row in record["sizes"]] == [1.5, 2.0]


def test_head_as_csv():
    assert run("head", HERE / "itp.csv", "-n", 10**30).exit_code == 0
    result = run("head", HERE / "itp.csv", "-n", 1, "--format", "csv")
    assert result.stdout.splitlines() == ["job_id,priority,submit_s,gpus,duration_s", "a-1,0,100.0,16,700.0"]


def test_convert_keeps_what_only_asks_for(tmp_path):
    out = tmp_path / "blue.parquet"
    result = run("convert", HERE / "gathered.csv", out, "--only", "vc=blue", "--only", "completed")
    assert result.exit_code == 0
    assert read_workload(out).jobs["job_id"].to_list() == ["g1"]
    assert "not queue=blue" not in result.stderr
    assert "dropped 1: not status=completed" in result.stderr


def test_convert_says_what_it_wrote(tmp_path):
    out = tmp_path / "out.parquet"
    assert f"wrote 2 jobs to {out}" in run("convert", HERE / "itp.csv", out).stderr
    assert "wrote 2 jobs to standard output" in run("convert", HERE / "itp.csv", "-").stderr


@pytest.mark.parametrize("place", ["folder.csv", "file/out.csv", "no/such/out.csv", "/dev/full/out.csv"])
def test_a_place_that_takes_no_file_is_refused_before_any_work(tmp_path, place):
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    result = run("convert", tmp_path / "not-there.csv", tmp_path / place)
    assert isinstance(result.exception, UsageError)
    assert "directory" in str(result.exception)


def test_convert_from_standard_input_to_standard_output():
    result = run("convert", "-", "-", input=(HERE / "tiresias.csv").read_bytes())
    assert result.stdout.splitlines()[0] == "job_id,model,submit_s,gpus,duration_s"
    assert len(result.stdout.splitlines()) == 3


def test_convert_does_not_overwrite(tmp_path):
    out = tmp_path / "a.csv"
    out.write_text("old")
    result = run("convert", HERE / "itp.csv", out)
    assert isinstance(result.exception, UsageError)
    assert "exists already" in str(result.exception)
    assert out.read_text() == "old"
    assert run("convert", HERE / "itp.csv", out, "--force").exit_code == 0
    assert read_workload(out).jobs.height == 2


def test_a_refused_log_leaves_nothing(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("submit_s,gpus,duration_s\n0,1,x\n")
    result = run("convert", bad, tmp_path / "out.csv")
    assert isinstance(result.exception, InputError)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_a_bad_ending_is_said_before_any_work(tmp_path):
    result = run("convert", tmp_path / "not-there.csv", tmp_path / "out.xlsx")
    assert "the ending says no format" in str(result.exception)


def test_formats_lists_them_all():
    rows = json.loads(run("formats", "--format", "json").stdout)
    assert {"csv", "parquet", "philly-json", "sacct", "swf"} <= {row["name"] for row in rows}
    assert {row["name"] for row in rows if row["written"] == "yes"} == {"csv", "parquet", "swf"}


def test_the_options_of_a_table_of_any_kind(tmp_path):
    log = tmp_path / "any.txt"
    rows = ["1|03/02/2026 08:00|4|90000|100|RUNNING"]
    rows += ["1.batch|03/02/2026 08:00|4|60||DONE", "2|04/02/2026 08:00|gpu:2|60||DONE"]
    log.write_text("\n".join(["id|at|n|long|most|state", *rows]))
    columns = "job_id=id,submit_s=at,gpus=n,duration_s=long,time_limit_s=most,status=state"
    given = ["info", log, "--columns", columns, "--format", "json"]
    assert isinstance(run(*given, "--steps", "drop").exception, InputError)
    record = json.loads(run(*given, "--steps", "drop", "--date-order", "dmy", "--runaways", "keep").stdout)
    assert (record["jobs"], record["submit_span_s"]) == (2, 86400.0)
    record = json.loads(run(*given, "--steps", "keep", "--date-order", "mdy").stdout)
    assert record["quality"]["dropped"] == {"runaway: still running, far beyond its time limit": 1}


def test_widths_go_in_powers_of_two_to_the_widest_job(command, here):
    (here / "wide.csv").write_text("submit_s,gpus,duration_s\n0,1,9\n1,2,9\n2,3,9\n3,128,9\n")
    rows = [line.split()[0] for line in command("trace", "info", "wide.csv").out.splitlines() if line.strip()]
    assert [word for word in rows if word in ("1", "2", "3-4", "65-128", "2-4", ">32")] == ["1", "2", "3-4", "65-128"]
