"""Slurm's controller has another clock than the daemon, and either is set while it runs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .daemons import RunningDaemon, wait_for
from .skewed import SkewedCommands
from .slurm_cluster import SlurmCluster, slurm_cluster
from .test_slurm_observed import book, rows

AHEAD_S = 400
RAN = """
SELECT spec, submit_ms, ifnull(real_start_ms, started_ms) AS started_ms, ifnull(real_end_ms, ended_ms) AS ended_ms
  FROM attempts JOIN jobs ON job = id
"""
SOON_MS = 12_000
"""In which a job starts that is to begin in 3 s, and that Slurm looks at now and then."""


@pytest.fixture
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster(4, scheduler="sched/backfill") as cluster:
        yield cluster


def daemon_of(slurm: SlurmCluster, skewed: SkewedCommands, folder: Path, *does: str) -> RunningDaemon:
    folder.mkdir(exist_ok=True)
    path = os.pathsep.join((str(skewed.folder), slurm.path))
    of = ("--backend", "slurm", *does, "--poll", "0.5", "--policy", "fifo")
    return RunningDaemon(folder, of=of, PATH=path, SLURM_CONF=slurm.environment["SLURM_CONF"])


def ended(daemon: RunningDaemon, job: str) -> bool:
    return book(daemon).get(job, {}).get("state") == "COMPLETED"


@pytest.mark.slow
@pytest.mark.parametrize(("does", "gate"), [("--act", ("--partition=inbox",)), ("--observe", ())])
def test_a_clock_that_is_wrong_and_is_set(
    slurm: SlurmCluster, tmp_path: Path, does: str, gate: tuple[str, ...]
) -> None:
    """How long jobs wait and run is right all the same, also of one during which it is set, and of one with a time."""
    skewed = SkewedCommands(tmp_path / "skewed", slurm, -AHEAD_S)
    job = (*gate, "--nodes=1", "--gpus-per-node=1")
    with daemon_of(slurm, skewed, tmp_path / "d", does) as daemon:
        jobs = [slurm.submit(*job, does="sleep 3")]
        wait_for(lambda: ended(daemon, jobs[0]))
        for by_s in (AHEAD_S, -AHEAD_S):
            jobs.append(slurm.submit(*job, does="sleep 5"))
            slurm.wait(jobs[-1], "RUNNING")
            skewed.step_to(by_s)
            jobs.append(slurm.submit(*job, "--begin=now+3", does="sleep 3"))
            wait_for(lambda: ended(daemon, jobs[-1]) and ended(daemon, jobs[-2]))
        of = {json.loads(row["spec"])["shown"]: row for row in rows(daemon, RAN)}
        ran_s = {job: (of[job]["ended_ms"] - of[job]["started_ms"]) / 1000 for job in jobs}
        assert ran_s == {job: pytest.approx(5 if k in (1, 3) else 3, abs=2) for k, job in enumerate(jobs)}
        assert all(of[job]["started_ms"] - of[job]["submit_ms"] < SOON_MS for job in jobs)
        alarms = daemon.get("/status")["alarms"]
        assert [("behind" in alarm, "ahead" in alarm) for alarm in alarms] == [
            (True, False),
            (False, True),
            (True, False),
        ]
        assert "the clock of Slurm's controller is 7 min behind this machine's" in alarms[0]
