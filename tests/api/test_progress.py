"""A bar on a terminal and in a notebook, and nothing elsewhere."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import pointsman
from pointsman import progress

SOURCES = str(Path(pointsman.__file__).parents[1])
JOBS = "submit_s,gpus,duration_s\n0,1,10\n5,1,10\n"
CODE = """
import time
import pointsman

class Slow:
    name, needs = "slow", "none"

    def decide(self, view):
        time.sleep(0.5)
        for job in view.pending:
            view.start(int(job))

ends = pointsman.simulate("jobs.csv", "1x2", Slow(), overheads="none").jobs["end_s"].to_list()
"""
AT_ONCE = "from pointsman import progress\nprogress.DELAY_S = 0.0\n"
ASKED = f"{AT_ONCE}{CODE}\nassert ends == [10, 15]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def on_a_terminal(folder: Path, code: str) -> str:
    """What a terminal shows that standard error of this code goes to."""
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": SOURCES}
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=theirs
    ) as it:
        os.close(theirs)
        shown = b"".join(_read(ours))
        assert it.wait() == 0, shown
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            some = os.read(terminal, 1 << 16)
        except OSError:  # Linux, where the other side has closed
            return
        if not some:
            return
        yield some


def test_a_terminal_shows_a_bar(folder: Path) -> None:
    assert "slow ━━━" in on_a_terminal(folder, ASKED)
    half = "with progress.shown('half') as tell:\n    tell(0.5, 'done')\n    time.sleep(1)"
    assert re.search(r"half done ━+.* 50%", on_a_terminal(folder, f"import time\n{AT_ONCE}{half}"))


def test_a_redirected_script_shows_nothing(folder: Path) -> None:
    env = os.environ | {"PYTHONPATH": SOURCES}
    done = subprocess.run([sys.executable, "-c", ASKED], cwd=folder, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_who_is_told_and_a_command_that_has_its_own_see_no_bar(folder: Path) -> None:
    told = ASKED.replace('overheads="none"', 'overheads="none", progress=lambda share: None')
    assert told != ASKED
    assert on_a_terminal(folder, told) == ""
    assert on_a_terminal(folder, f"{AT_ONCE}progress.leave_to_command()\n{CODE}") == ""


@pytest.mark.skipif(find_spec("ipykernel") is None, reason="ipykernel is not installed")
def test_a_notebook_shows_a_bar_that_moves_and_goes(folder: Path) -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(folder), env=os.environ | {"PYTHONPATH": SOURCES})
    said: list[dict[str, Any]] = []
    try:
        reply = client.execute_interactive(ASKED, output_hook=said.append, timeout=60)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply
    kinds = [each["header"]["msg_type"] for each in said]
    pages = [each["content"]["data"]["text/html"] for each in said if "data" in each["content"]]
    assert kinds.count("display_data") == 1
    assert kinds.count("update_display_data") > 3
    assert "stream" not in kinds
    assert "slow" in pages[0] or "slow" in pages[1]
    assert len(set(pages)) > 2, "it moves"
    assert pages[-1] == ""


def test_what_runs_within_something_longer_has_no_bar_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    monkeypatch.setattr(progress, "DELAY_S", 60)
    with progress.shown("outer") as outer, progress.shown("inner") as inner:
        assert isinstance(outer.__self__, progress.Bar)  # type: ignore[attr-defined]
        assert not isinstance(inner.__self__, progress.Bar)  # type: ignore[attr-defined]
    with progress.shown("again") as again:
        assert isinstance(again.__self__, progress.Bar)  # type: ignore[attr-defined]
