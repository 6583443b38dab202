"""Ctrl-C on a terminal goes to the command and to all its workers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pointsman.cli.run import run

SLOW = '''
import time


class Slow:
    """Starts nothing, and takes its time."""

    name = "slow"
    needs = "none"

    def decide(self, view):
        with open("busy", "w"):
            time.sleep(60)
'''


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("moment", ["start", pytest.param("middle", marks=pytest.mark.slow)])
def test_interrupted_workers_say_nothing(moment: str, here: Path, jobs: str) -> None:
    Path("slow.py").write_text(SLOW)
    given = ["compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", "slow.py:Slow", "--workers", "2"]
    started = subprocess.Popen(
        [sys.executable, "-m", "pointsman", *given, "-q"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    # two trackers of resources and a first worker, that is still importing; or work that goes on
    while not (Path("busy").exists() if moment == "middle" else len(children(started.pid)) > 2):
        assert started.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    os.killpg(started.pid, signal.SIGINT)
    assert started.communicate(timeout=60)[1] == "pointsman: interrupted\n"
    assert started.returncode == 130


LEAVES = """
from joblib.externals.loky.backend import resource_tracker

from pointsman.parallel.pool import workers

with workers(at_once=2) as two:
    assert list(two(abs, [(-1,), (-2,)])) == [1, 2]
resource_tracker.register("/of-nobody", "semlock")
"""


def test_what_workers_leave_behind_is_removed_without_a_word() -> None:
    """An interrupt may fall between removing a semaphore and saying so to the process that keeps the list of them."""
    done = subprocess.run([sys.executable, "-c", LEAVES], stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_that_somebody_swallows_is_not_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a finalizer does, in which it may arrive."""

    def swallows(name: str) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            raise SystemExit(0) from None

    monkeypatch.setattr("pointsman.policies.registry.get_policy", swallows)
    assert run(["policy", "show", "fifo"]) == 130
    assert capsys.readouterr().err == "pointsman: interrupted\n"
