"""What a real Slurm limits, and what it lacks: tasks of arrays that may run at once, partitions, its own age."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from pointsman.live.backends.facts import Phase
from pointsman.live.backends.slurm.array_tasks import beyond_limits
from pointsman.live.backends.slurm.marks import Partitions
from pointsman.live.backends.slurm.other_daemons import OtherDaemons
from pointsman.live.backends.slurm.records import (
    Controller,
    GpuDemand,
    NodeGpus,
    SlurmJob,
    SlurmNode,
    SlurmPartition,
    Snapshot,
)
from pointsman.live.daemon.slurm.faults import more_faults
from pointsman.live.daemon.slurm.lasting import Lasting, miscounted
from tests.cli.command import pointsman

from .daemons import wait_for
from .slurm_cluster import SlurmCluster, slurm_cluster
from .test_slurm_acting import actor, submit
from .test_slurm_observed import rows, wait_for_ends


@pytest.fixture
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster(4) as cluster:
        yield cluster


def test_no_more_tasks_have_gpus_than_may_run(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Of an array with %2, two: the GPUs that more would have are free for others meanwhile."""
    with actor(slurm, tmp_path / "d", "--policy", "fifo") as daemon:
        array = submit(slurm, "--array=1-4%2", "--nodes=1", "--gpus-per-node=8", seconds=2)
        gang = submit(slurm, "--nodes=2", "--gpus-per-node=8", seconds=2)
        wait_for(lambda: gang in {row["job_id"] for row in daemon.rows("queue", "-t", "R")})
        said = daemon.type("explain", f"{array}_4").stdout
        assert "JobArrayTaskLimit" in said
        found = wait_for_ends(daemon, [gang, *(f"{array}_{k}" for k in range(1, 5))])
        assert {row["state"] for row in found.values()} == {"COMPLETED"}
        of = ",".join(str(found[f"{array}_{k}"]["id"]) for k in range(1, 5))
        spans = rows(daemon, f"SELECT intended_ms, ended_ms FROM attempts WHERE job IN ({of})")
        at_once = [sum(one["intended_ms"] <= at["intended_ms"] < one["ended_ms"] for one in spans) for at in spans]
        assert max(at_once) == 2


def test_which_tasks_wait_for_others() -> None:
    """Those that have been made jobs and wait again come first."""
    jobs = [
        SlurmJob("8_[4-9%3]", 8, state="PENDING", partitions=("inbox",)),
        SlurmJob("8_1", 9, state="RUNNING", partitions=("gpu",)),
        SlurmJob("8_2", 10, state="PENDING", partitions=("inbox",)),
        SlurmJob("8_3", 11, state="COMPLETED", partitions=("gpu",)),
        SlurmJob("7_[1-2]", 7, state="PENDING", partitions=("inbox",)),
    ]
    jobs.sort(key=lambda job: -job.number)

    def waits(job: SlurmJob) -> bool:
        return job.phase == Phase.ACCEPTED and job.partitions == ("inbox",)

    assert beyond_limits(jobs, waits) == {f"8_{k}" for k in (5, 6, 7, 8, 9)}


def test_gpus_that_no_job_has_are_miscounted() -> None:
    """If each look of a minute shows so; a job that gives its GPUs back still has them."""
    nodes = tuple(SlurmNode(f"gpu{k}", gpus=(("a100", 8),), gpus_in_use=8) for k in (1, 2, 3))
    runs = SlurmJob("7", 7, state="RUNNING", gpus=GpuDemand(16, 8), nodes_asked=2, held=(NodeGpus("gpu1", None),))
    ends = SlurmJob("8", 8, state="COMPLETED", flags=("COMPLETING",), held=(NodeGpus("gpu3", 8),))
    lasting, seen = Lasting(), Snapshot(0.0, (runs, ends), nodes, (), Controller("22.05.8", 0, 0))
    assert [lasting.look(miscounted(seen), at_s) for at_s in (0.0, 59.0, 60.0)] == [[], [], ["gpu2"]]
    assert lasting.look(miscounted(replace(seen, nodes=())), 61.0) == []
    assert lasting.look(miscounted(seen), 62.0) == []


def test_doubts_that_last_are_told() -> None:
    """Such as those about a `squeue` that warns of `slurm.conf` at each call: no job that is gone counts as that."""
    partitions = tuple(map(SlurmPartition, ("inbox", "gpu")))
    seen = Snapshot(0.0, (), (), partitions, Controller("22.05.8", 0, 0), ("Slurm answers with an error: odd",))
    lasting = Lasting()
    for at_s, told in ((0.0, 0), (30.0, 0), (60.0, 1)):
        faults = more_faults(seen, Partitions(), OtherDaemons("a"), [], lasting.look(seen.doubts, at_s))
        assert [fault.endswith("may not be whole: Slurm answers with an error: odd") for fault in faults if fault] == (
            [True] * told
        )


def start(slurm: SlurmCluster, folder: Path, *options: str, first: str = "") -> str:
    """What a daemon says that does not start."""
    path = os.pathsep.join((*([first] if first else ()), slurm.path))
    with patch.dict(os.environ, {"PATH": path, "SLURM_CONF": slurm.environment["SLURM_CONF"]}):
        places = ("--state", str(folder / "state"), "--socket", str(folder / "s"))
        done = pointsman("live", "start", "--backend", "slurm", *options, *places)
    assert done.returncode == 2, done.stdout
    return done.stderr


def test_a_partition_that_is_misspelt_has_no_jobs_to_advise(slurm: SlurmCluster, tmp_path: Path) -> None:
    said = start(slurm, tmp_path, "--advise", "--partition", "gpus")
    assert "Slurm has no partition 'gpus' (it has gpu, inbox)" in said


@pytest.mark.parametrize("how", ["--act", "--advise"])
def test_an_older_slurm_is_only_observed(slurm: SlurmCluster, tmp_path: Path, how: str) -> None:
    (tmp_path / "old").mkdir()
    place = shutil.which("scontrol", path=slurm.path)
    script = tmp_path / "old" / "scontrol"
    script.write_text(f'#!/bin/sh\n{place} "$@" | sed s/22.05.8/20.11.9/\n')
    script.chmod(0o755)
    said = start(slurm, tmp_path, how, first=str(tmp_path / "old"))
    assert "Slurm 20.11.9 is older than 22.05: use --observe" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--observe", "--preempt-qos", "a"), "--preempt-qos goes with --act"),
        (("--act", "--partition", "a"), "--partition and --account go with --advise"),
    ],
)
def test_options_of_another_step_are_refused(options: tuple[str, ...], said: str) -> None:
    done = pointsman("live", "start", "--backend", "slurm", *options)
    assert (done.returncode, said in done.stderr) == (2, True)
