"""Slurm's commands hang under a daemon that acts on it: users are answered at once, from what is known."""

import shutil
import time
from collections.abc import Iterator
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


def hanging(slurm: SlurmCluster, folder: Path, program: str) -> Path:
    """Where a program is that hangs as long as there is a file ``hang`` beside it; it makes ``hangs`` then."""
    wrap = folder / "bin"
    wrap.mkdir()
    real = shutil.which(program, path=slurm.path)
    hangs = f"while [ -e {wrap}/hang ]; do : > {wrap}/hangs; sleep 0.1; done"
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
