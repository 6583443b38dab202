"""Slurm's commands hang under a daemon that acts on it: users are answered at once, from what is known."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .daemons import wait_for
from .slurm_cluster import SlurmCluster, slurm_cluster
from .test_slurm_acting import actor, submit
from .test_slurm_observed import wait_for_ends

AT_ONCE_S = 3.0
"""In which all answers come, on a busy machine; a command may hang for 20 s."""


@pytest.fixture
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster(2) as cluster:
        yield cluster


def hanging(slurm: SlurmCluster, folder: Path, program: str, only: str = "true") -> Path:
    """Where a program is that hangs as long as there is a file ``hang`` beside it, `only` where this is so; it makes
    ``hangs`` then.
    """
    wrap = folder / "bin"
    wrap.mkdir()
    real = shutil.which(program, path=slurm.path)
    hangs = f"while [ -e {wrap}/hang ] && {only}; do : > {wrap}/hangs; sleep 0.1; done"
    (wrap / program).write_text(f'#!/bin/sh\n{hangs}\nexec {real} "$@"\n')
    (wrap / program).chmod(0o755)
    return wrap


@pytest.mark.parametrize("program", ["squeue", "scontrol"])
def test_users_are_answered_while_slurm_hangs(slurm: SlurmCluster, tmp_path: Path, program: str) -> None:
    wrap = hanging(slurm, tmp_path, program)
    one = ("--nodes=1", "--gpus-per-node=8")
    with actor(slurm, tmp_path / "d", "--policy", "fifo", first=str(wrap)) as daemon:
        runs = submit(slurm, *one, seconds=2)
        wait_for(lambda: daemon.get("/status")["running"] == 1)
        (wrap / "hang").touch()
        waits = submit(slurm, *one, seconds=0.1)
        wait_for(lambda: (wrap / "hangs").exists())
        begun_s = time.monotonic()
        assert daemon.get("/status")["running"] == 1
        assert runs in [row["job_id"] for row in daemon.get("/jobs")]
        assert [row["node"] for row in daemon.get("/nodes")] == ["gpu1", "gpu2"]
        assert daemon.get(f"/jobs/{runs}")["state"] == "RUNNING"
        assert time.monotonic() - begun_s < AT_ONCE_S
        (wrap / "hang").unlink()
        ends = wait_for_ends(daemon, [runs, waits])
        assert {row["state"] for row in ends.values()} == {"COMPLETED"}


def test_who_waits_for_a_turn_is_told_that_there_is_none(slurm: SlurmCluster, tmp_path: Path) -> None:
    """The daemon stops after the turn that hangs."""
    wrap = hanging(slurm, tmp_path, "scontrol", "[ $# = 0 ]")  # which makes the changes after a turn
    with actor(slurm, tmp_path / "d", "--policy", "fifo", first=str(wrap)) as daemon, ThreadPoolExecutor(1) as pool:
        (wrap / "hang").touch()
        submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=0.1)
        wait_for(lambda: (wrap / "hangs").exists())
        waits = pool.submit(daemon.type_as_process, "live", "policy", "srtf")
        time.sleep(3.0)  # it comes before the daemon stops or, on a slow machine, after that: it is told the same
        daemon.process.terminate()
        (wrap / "hang").unlink()
        assert daemon.process.wait(30) == 0
        assert waits.result().stderr == "pointsman: the daemon is stopping\n"


@pytest.mark.slow
def test_a_slow_slurm_is_asked_less_often(slurm: SlurmCluster, tmp_path: Path) -> None:
    wrap, slow, asked = tmp_path / "bin", tmp_path / "slow", tmp_path / "asked"
    wrap.mkdir()
    real = shutil.which("squeue", path=slurm.path)
    (wrap / "squeue").write_text(f'#!/bin/sh\n[ ! -e {slow} ] || sleep 1.5\necho >> {asked}\nexec {real} "$@"\n')
    (wrap / "squeue").chmod(0o755)

    def looks(seconds: float) -> int:
        asked.write_text("")
        time.sleep(seconds)
        return len(asked.read_text())

    with actor(slurm, tmp_path / "d", "--policy", "fifo", first=str(wrap)) as daemon:
        slow.touch()
        time.sleep(10.0)
        assert 2 <= looks(20.0) <= 6  # 3.9 s from one to the next, and 1.8 s without that
        slow.unlink()
        time.sleep(10.0)
        job = submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=0.1)
        assert looks(10.0) >= 10
        wait_for_ends(daemon, [job])


def test_a_queue_that_cannot_be_handed_back_is_said(slurm: SlurmCluster, tmp_path: Path) -> None:
    """No more jobs are started then, and no order waits for a turn."""
    wrap, fails = tmp_path / "bin", tmp_path / "fails"
    wrap.mkdir()
    real = shutil.which("squeue", path=slurm.path)
    (wrap / "squeue").write_text(f'#!/bin/sh\n[ ! -e {fails} ] || exit 1\nexec {real} "$@"\n')
    (wrap / "squeue").chmod(0o755)
    with actor(slurm, tmp_path / "d", "--policy", "fifo", first=str(wrap)) as daemon:
        fails.touch()
        stopped = daemon.type("live", "stop", "--hand-back")
        assert stopped.returncode == 5 and "nothing is handed back: squeue failed with 1" in stopped.stderr
        assert "no more jobs are started" in daemon.get("/status")["alarms"][-1]
        begun_s = time.monotonic()
        assert "try 'pointsman live stop --hand-back' again" in daemon.type("live", "policy", "srtf").stderr
        assert time.monotonic() - begun_s < 20.0
        fails.unlink()
        job = submit(slurm, "--nodes=1", "--gpus-per-node=8", seconds=0.1)
        assert daemon.type("live", "stop", "--hand-back").returncode == 0
        assert daemon.process.wait(30) == 0
        slurm.wait(job, "COMPLETED")
