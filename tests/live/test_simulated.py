"""A daemon whose cluster is simulated, so that policies and commands can be tried without running anything."""

import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.live.backends.paced import ENDLESS, program_of

from .daemons import RunningDaemon, wait_for

SPEED = 1000
LATE_S = 1500.0
"""What a look every 10 ms, and a slow machine, may be late by, in simulated seconds."""
MINUTES = {1: 30, 2: 45, 4: 60, 8: 30}
"""Of jobs, by their GPUs; the last one waits for the others."""


@pytest.mark.slow
def test_jobs_that_sleep_take_as_long_there_as_they_say(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, "--policy", "fifo-backfill", "--simulate", str(SPEED), "--poll", "0.01") as daemon:
        jobs = {daemon.submit("-G", str(gpus), "--", "sleep", f"{m}m"): m for gpus, m in MINUTES.items()}
        endless = daemon.submit("-G", "1", "-t", "30m", "--", "python", "train.py")
        for job, minutes in jobs.items():
            ended = daemon.wait(job, "COMPLETED")
            (attempt,) = ended["attempts"]
            assert abs(attempt["ended_s"] - attempt["started_s"] - 60 * minutes) < LATE_S
            assert 10 <= attempt["started_s"] - attempt["decided_s"] < 10 + LATE_S
        assert daemon.wait(endless, "TIMEOUT")["attempts"][0]["exit_signal"] == 15
        assert not (tmp_path / "state" / "attempts").exists()


def test_what_was_simulated_does_not_outlive_its_daemon(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, "--policy", "fifo", "--simulate", str(SPEED), "--poll", "0.01") as daemon:
        job = daemon.submit("-G", "8", "--requeue", "--", "sleep", "24h")
        daemon.wait(job, "RUNNING")
        daemon.kill()
        daemon.begin()
        again = wait_for(lambda: (found := daemon.job(job))["state"] == "RUNNING" and found)
        assert [one["attempt"] for one in again["attempts"]] == [1, 2]


def test_explain_says_that_a_job_was_preempted_or_has_not_started(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, "--policy", "las", "--simulate", str(SPEED), "--poll", "0.01") as daemon:
        first = daemon.submit("-G", "8", "--requeue", "--", "sleep", "24h")
        daemon.wait(first, "RUNNING")
        assert "preempted" not in daemon.type("explain", str(first)).stdout
        waits = daemon.submit("-G", "8", "-H", "--", "sleep", "1h")
        told = daemon.type("explain", str(waits))
        assert f"job {waits}: PENDING" in told.stdout, told.stderr
        daemon.submit("-G", "8", "--", "sleep", "24h")
        assert daemon.wait(first, "PENDING")["attempts"][0]["cause"] == "preempt"
        assert "; it was preempted once, last at 20" in daemon.type("explain", str(first)).stdout


@pytest.mark.parametrize("speed", ["0", "nan"])
def test_a_speed_is_from_one_on(tmp_path: Path, speed: str) -> None:
    words = ["live", "start", "--cluster", "1x1", "--state", str(tmp_path), "--simulate", speed]
    done = subprocess.run([sys.executable, "-m", "pointsman", *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--simulate: from 1 to 10,000 times as fast" in done.stderr


@pytest.mark.parametrize("words", [("--longest-turn", "0"), ("--poll", "nan"), ("--poll", "-1")])
def test_times_that_make_no_sense_are_refused(words: tuple[str, str], tmp_path: Path) -> None:
    start = ["live", "start", "--cluster", "1x1", "--state", str(tmp_path), *words]
    done = subprocess.run([sys.executable, "-m", "pointsman", *start], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--longest-turn is at least 1 s, and --poll at most 60 s" in done.stderr


def test_only_sleep_is_known() -> None:
    assert program_of(("sleep", "90")).work_ms == 90_000
    assert program_of(("sleep", "1h30m")).work_ms == 5_400_000
    for command in (("sleep",), ("sleep", "long"), ("sleep", "1", "2"), ("python", "90"), ()):
        assert program_of(command) is ENDLESS
