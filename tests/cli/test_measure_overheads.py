"""``pointsman measure overheads`` on a core of this machine."""

import json
import os
import sys
from pathlib import Path

import pytest

from pointsman.measure.overheads import checkpoint_folder

from .conftest import Command, Done
from .measuring import ABOUT, own, rows

pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes")


def overheads(command: Command, *more: str, function: str = "saves") -> Done:
    return command("measure", "overheads", *own(function), "--batch", "1", "--device", "cpu", "-o", "o.yaml", *more)


@pytest.mark.slow
def test_overheads_become_an_overheads_file(command: Command, jobs: str) -> None:
    done = overheads(command, "--rounds", "2", "--format", "json")
    assert done.code == 0, done.err
    table = {row["what"]: row for row in json.loads(done.out)}
    assert list(table) == ["process", "imports", "device", "model", "first_step", "start", "write", "read", "stop"]
    first, second = rows("o.csv")
    for what, row in table.items():
        assert row["least_s"] <= row["seconds"] <= row["most_s"]
        assert 2 * row["seconds"] == pytest.approx(float(first[f"{what}_s"]) + float(second[f"{what}_s"]), rel=1e-3)
    parts = [float(first[f"{what}_s"]) for what in list(table)[:5]]
    assert sum(parts) == pytest.approx(float(first["start_s"]), rel=1e-3)
    assert table["write"]["bytes"] == int(first["checkpoint_bytes"]) > 100_000
    assert all(row[column] for row in (first, second) for column in ABOUT)
    assert sorted(path.name for path in Path().iterdir() if path.name.startswith(("o.", "."))) == ["o.csv", "o.yaml"]
    plan = command("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "--overheads", "o.yaml", "-o", "run")
    assert plan.code == 0, plan.err
    stated = json.loads(Path("run/manifest.json").read_text())
    assert table["stop"]["seconds"] == pytest.approx(find_overheads(stated)["stop_s"], rel=1e-3)
    before = Path("o.yaml").read_text()
    again = overheads(command, "--rounds", "2", "--format", "json")
    assert (again.code, json.loads(again.out)) == (0, json.loads(done.out)), again.err
    assert "o.yaml: rows: 0 measured, 2 kept, 0 failed" in again.err
    assert Path("o.yaml").read_text() == before
    more = overheads(command)
    assert (more.code, "rows: 1 measured, 2 kept" in more.err, len(rows("o.csv"))) == (0, True, 3), more.err
    other = overheads(command, "--precision", "bf16")
    assert (other.code, "o.yaml: exists already" in other.err) == (2, True)
    Path("o.yaml").write_text(before + "checkpoint_every_s: 600\n")
    edited = overheads(command, "--rounds", "4")
    assert "o.yaml: was edited and is kept; remove it, and the same command" in edited.err
    assert Path("o.yaml").read_text().endswith("checkpoint_every_s: 600\n")


@pytest.mark.slow
def test_pytorch_of_a_function_is_a_stage_of_its_own(command: Command) -> None:
    mine = Path(__file__).parents[2] / "examples" / "my_training.py"
    words = ("--batch", "8", "--device", "cpu", "--rounds", "1", "--format", "json", "-o", "o.yaml")
    done = command("measure", "overheads", f"{mine}:my_model", *words)
    assert done.code == 0, done.err
    took = {row["what"]: row["seconds"] for row in json.loads(done.out)}
    assert took["imports"] > took["model"]


def find_overheads(stated: object) -> dict[str, float]:
    """Wherever a manifest has them."""
    if isinstance(stated, dict):
        if "stop_s" in stated:
            return stated
        return next((found for value in stated.values() if (found := find_overheads(value))), {})
    return {}


def test_overheads_go_on_where_they_stopped(command: Command) -> None:
    late = overheads(command, "--minutes", "0")
    assert "3 measurements left out for lack of time: saves, round 1; saves, round 2; saves, round 3" in late.err
    assert (late.code, Path("o.yaml").exists(), Path("o.csv").exists()) == (1, False, False)
    assert overheads(command, "--rounds", "1").code == 0
    Path("o.yaml").unlink()  # as if it had been killed
    first = Path("o.csv").read_text()
    (left := checkpoint_folder(Path(), Path("o.yaml"))).mkdir()
    (left / "saved.pt").write_text("of the run that was killed")
    done = overheads(command, "--rounds", "2")
    assert done.code == 0, done.err
    assert [row["round"] for row in rows("o.csv")] == ["1", "2"]
    assert Path("o.csv").read_text().startswith(first)
    assert not left.exists()


@pytest.mark.slow
def test_failed_overheads_are_rows_and_measured_again(command: Command) -> None:
    for _ in range(2):
        done = overheads(command, "--rounds", "1", function="breaks_when_saved")
        assert (done.code, "nothing was measured: crash: OSError: no room" in done.err) == (1, True), done.err
        assert [row["reason"].partition(" (")[0] for row in rows("o.csv")] == ["crash: OSError: no room"]
    assert [path.name for path in Path().iterdir()] == ["o.csv"]


def test_a_job_without_a_state_has_no_overheads(command: Command) -> None:
    done = command("measure", "overheads", *own("quick"), "--batch", "1", "--device", "cpu", "-o", "o.yaml")
    assert (done.code, "has no state_dict()" in done.err, Path("o.yaml").exists()) == (2, True, False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to everything")
def test_checkpoints_need_a_directory_that_may_be_written(command: Command) -> None:
    Path("full").mkdir(mode=0o555)
    done = overheads(command, "--checkpoint-dir", "full")
    assert (done.code, "full may not be written to; choose another place" in done.err) == (2, True), done.err


def test_a_path_need_not_be_text() -> None:
    assert checkpoint_folder(Path(), Path("o\udcff.yaml")) != checkpoint_folder(Path(), Path("o.yaml"))
