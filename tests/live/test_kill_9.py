"""A real daemon is killed by SIGKILL again and again while real jobs run: each is done once."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .killing import JOBS, STEPS


def begin(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.live.daemon_to_kill", str(folder)], stdout=subprocess.PIPE, text=True
    )


def check_kills(folder: Path, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    killed = 0
    while True:
        daemon = begin(folder)
        try:
            out, _ = daemon.communicate(timeout=0.8 + draw.random() if killed < kills else 120)
            break
        except subprocess.TimeoutExpired:
            os.kill(daemon.pid, signal.SIGKILL)
            daemon.communicate()
            killed += 1
    assert killed == kills, "all had ended before"
    assert out == "all ended\n"
    for k in range(JOBS):
        own = folder / f"job{k}"
        assert not (own / "twice").exists(), f"job {k}"
        assert (own / "ended").read_text() == "x", f"job {k}"
        assert int((own / "done").read_text()) == STEPS[k]


def test_jobs_of_a_daemon_that_is_killed_are_done_once(tmp_path: Path) -> None:
    check_kills(tmp_path, 3, seed=1)


@pytest.mark.slow
def test_two_hundred_kills(tmp_path: Path) -> None:
    for seed in range(40):
        (tmp_path / str(seed)).mkdir()
        check_kills(tmp_path / str(seed), 5, seed)
