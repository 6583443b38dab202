"""What a killed process has left is cleared up by the next one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.errors import UsageError
from pointsman.report.staging import MARK, refuse_taken, whole_directory

WRITES = """
import sys, time
from pathlib import Path
from pointsman.report.staging import whole_directory
with whole_directory(Path(sys.argv[1]), force=True) as partial:
    (partial / "half").write_text("half")
    print("begun", flush=True)
    time.sleep(60)
"""


def killed_while_it_writes(directory: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", WRITES, str(directory)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


def test_half_a_directory_goes(tmp_path: Path) -> None:
    killed_while_it_writes(tmp_path / "out")
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".partial")
    with whole_directory(tmp_path / "out") as partial:
        (partial / "whole").write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_was_to_be_replaced_gets_its_name_again(tmp_path: Path) -> None:
    """Killed between the two renames."""
    killed_while_it_writes(tmp_path / "out")
    (left,) = tmp_path.iterdir()
    old = left.with_name(left.name.replace(".partial", ".old"))
    old.mkdir()
    (old / MARK).write_text("{}")
    with pytest.raises(KeyboardInterrupt), whole_directory(tmp_path / "out", force=True):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / MARK).read_text() == "{}"


def test_it_is_back_before_the_next_run_begins(tmp_path: Path) -> None:
    """Else that run would find its place taken when it is over."""
    killed_while_it_writes(tmp_path / "out")
    (left,) = tmp_path.iterdir()
    left.rename(left.with_name(left.name.replace(".partial", ".old")))
    with pytest.raises(UsageError, match="exists; choose another directory"):
        refuse_taken(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", WRITES, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        with whole_directory(tmp_path / "out") as partial:
            (partial / "mine").write_text("mine")
        assert len([path for path in tmp_path.iterdir() if path.name.endswith(".partial")]) == 1
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()  # ty: ignore
