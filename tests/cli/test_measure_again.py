"""What ``pointsman measure`` keeps, measures again, refuses to mix and leaves out."""

import csv
import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pointsman.cli.measure_options import Settings
from pointsman.measure.rounds import Limits
from pointsman.speed.measured_rows import SPREAD_LIMIT

from .conftest import Command
from .measuring import CPU, own, rows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes")


def rewrite(path: str, changed: list[dict[str, str]]) -> None:
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, changed[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(changed)


def test_the_same_command_goes_on_where_it_stopped(command: Command) -> None:
    first = command("measure", "pairs", *own("sleeps", "dozes"), "--batch", "3", *CPU, "--minutes", "0", "-o", "p.csv")
    assert first.code == 1
    assert "nothing was measured: there was no time for any" in first.err
    assert "3 measurements left out for lack of time, about 0.1 min: sleeps beside sleeps; " in first.err
    assert "sleeps beside dozes; dozes beside dozes\n" in first.err
    whole = command("measure", "pairs", *own("sleeps", "dozes"), "--batch", "3", *CPU, "-o", "p.csv")
    assert "p.csv: rows: 3 measured, 0 kept, 0 failed" in whole.err
    text = Path("p.csv").read_text()
    again = command(
        "measure", "pairs", *own("sleeps", "dozes"), "--batch", "3", *CPU, "-o", "p.csv", "--format", "json"
    )
    assert "p.csv: rows: 0 measured, 3 kept, 0 failed" in again.err
    assert Path("p.csv").read_text() == text
    assert [row["model_b"] for row in json.loads(again.out)] == ["sleeps", "dozes", "dozes"]
    bf16 = command("measure", "pairs", *own("quick"), "--batch", "1", *CPU, "-o", "p.csv", "--precision", "bf16")
    assert bf16.code == 2
    assert "precision is 'fp32', and now it is 'bf16'" in bf16.err


@pytest.mark.parametrize("spread", ["2.5", "nan", "as I said"])
def test_unsteady_rows_are_measured_again_alone(command: Command, spread: str) -> None:
    words = ("measure", "step", *own("sleeps"), "--batch", "1,2", *CPU, "-o", "s.csv")
    assert command(*words).code == 0
    steady, unsteady = rows("s.csv")
    rewrite("s.csv", [steady, unsteady | {"spread": spread}])
    kept = command(*words)
    assert "s.csv: rows: 0 measured, 2 kept" in kept.err
    read = command("profile", "fit", "s.csv")
    assert "s.csv: of 2 rows, " in read.err
    assert "measures them again with --again unsteady --spread-limit 0.05" in read.err
    assert "1 row has a spread above 1; --again unsteady measures" in kept.err
    again = command(*words, "--again", "unsteady")
    assert "s.csv: rows: 1 measured, 1 kept" in again.err
    first, second = rows("s.csv")
    assert (first, second["batch_per_gpu"], float(second["spread"]) <= 1) == (steady, "2", True)


def test_who_interrupts_a_measurement_reads_what_is_kept(here: Path) -> None:
    words = ["step", *own("dozes", "sleeps"), "--batch", "dozes=1", "--batch", "sleeps=40000", *CPU, "-o", "s.csv"]
    with subprocess.Popen(
        [sys.executable, "-m", "pointsman", "measure", *words], stderr=subprocess.PIPE, text=True, cwd=here
    ) as process:
        while process.poll() is None and not ((here / "s.csv").exists() and rows("s.csv")):
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert "s.csv: 1 row is kept, and the same command goes on\npointsman: interrupted\n" in said
    assert len(rows("s.csv")) == 1


def test_a_name_that_no_catalogue_has_is_noted_first(command: Command) -> None:
    done = command("measure", "step", *own("dozes"), "--batch", "1", *CPU, "-o", "s.csv", "--gpu-type", "notagpu")
    assert (done.code, done.err.startswith("no GPU type of the catalogue is named 'notagpu'; ")) == (0, True), done.err
    assert command("profile", "fit", "s.csv").code == 3


def test_readers_and_measurements_have_one_limit() -> None:
    assert Settings.spread_limit == Limits().spread == SPREAD_LIMIT


def test_nothing_is_measured_after_the_time(command: Command) -> None:
    words = ("measure", "step", *own("sleeps", "dozes"), "--batch", "sleeps=4000", "--batch", "dozes=1", *CPU)
    begin = time.monotonic()
    done = command(*words, "-o", "s.csv", "--minutes", "0.05")
    assert time.monotonic() - begin < 4.5  # 3 s, and the end of a process
    assert (done.code, "2 measurements left out for lack of time" in done.err) == (1, True), done.err
    assert "sleeps, batch 4000; dozes, batch 1" in done.err
    assert "sleeps, batch 4000 did not end within 2 s" in done.err or "did not end within 3 s" in done.err
    assert "give the same command at least --minutes 0.1; what is in the file is kept" in done.err
    assert "the same command measures" not in done.err


@pytest.mark.parametrize("column", ["device", "driver", "versions", "mode", "precision"])
def test_rows_of_two_environments_are_not_fitted_as_one(command: Command, column: str) -> None:
    words = ("measure", "step", *own("sleeps"), "--batch", "1,2", *CPU, "-o", "s.csv")
    assert command(*words).code == 0
    found = rows("s.csv")
    rewrite("s.csv", [found[0], found[1] | {column: "another"}])
    fitted = command("profile", "fit", "s.csv")
    assert fitted.code == 3
    assert f"s.csv:3: {column} is 'another' here and {found[0][column]!r} on line 2 (rows of one GPU" in fitted.err
    again = command(*words)
    assert again.code == 2
    assert f"has rows whose {column} is 'another', and now it is {found[0][column]!r} (name another" in again.err


def test_both_jobs_of_one_model_have_one_time_alone(command: Command) -> None:
    limits = ("--device", "cpu", "--rounds", "1", "--round-s", "0.05", "--spread-limit", "0.3")
    done = command("measure", "pairs", *own("rests"), "--batch", "1", *limits, "-o", "p.csv")
    assert done.code == 0, done.err
    (row,) = rows("p.csv")
    assert row["alone_s_a"] == row["alone_s_b"]
