"""What looks at Slurm goes on looking, and jobs are the same from one look to the next."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.errors import UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.pace import Pace
from pointsman.live.backends.slurm.records import Controller, GpuDemand, NodeGpus, SlurmJob, Snapshot
from pointsman.live.observe.sight import Sight
from pointsman.live.observe.slurm.sighting import Sighting
from pointsman.live.observe.slurm.watch import SlurmWatch
from pointsman.types import JobState

from .daemons import wait_for

CONTROLLER = Controller("22.05.8", 0, round(time.time()))
WAITS = SlurmJob("7", 7, state="PENDING", submit_unix_s=1_000, gpus=GpuDemand(4, 4))
RUNS = replace(WAITS, state="RUNNING", start_unix_s=1_010, held=(NodeGpus("gpu1", 4),))


def snapshot(*jobs: SlurmJob) -> Snapshot:
    return Snapshot(time.time(), jobs, (), (), CONTROLLER)


class Looking:
    """Fails as it is told, or shows what it is told."""

    def __init__(self) -> None:
        self.pace, self.next, self.looks = Pace(least_s=0.01), lambda: snapshot(WAITS), 0

    def look(self) -> Snapshot:
        self.looks += 1
        return self.next()


def failing(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


@pytest.mark.parametrize("error", [Unsure("no answer"), UsageError("there is no command"), OSError(8), KeyError("x")])
def test_no_failure_ends_the_looks(error: Exception) -> None:
    looking = Looking()
    watch = SlurmWatch(looking, None)  # ty: ignore
    watch.begin({})
    watch.latest()
    looking.next = failing(error)
    wait_for(lambda: watch.trouble)
    assert str(error) in watch.trouble
    wait_for(lambda: watch.latest() is None)
    looking.next = lambda: snapshot(RUNS)
    seen: Sight = wait_for(watch.latest)
    assert [job.run is not None for job in seen.jobs.values()] == [True]
    wait_for(lambda: watch.trouble == "")
    watch.close()


def test_a_job_that_is_listed_again_is_another_one() -> None:
    sighting = Sighting()
    (first,) = sighting.sight(snapshot(WAITS)).jobs
    assert sighting.sight(snapshot()).jobs[first].ended == JobState.CANCELLED
    assert sighting.sight(snapshot()).jobs == {}
    (again,) = sighting.sight(snapshot(WAITS)).jobs
    assert again != first
    recalled = Sighting()
    recalled.recall({first: True, again: False})
    assert [*recalled.sight(snapshot(WAITS)).jobs] == [again]


def test_a_job_whose_nodes_are_made_ready_has_them() -> None:
    (seen,) = Sighting().sight(snapshot(replace(RUNS, state="CONFIGURING"))).jobs.values()
    assert seen.run is not None and seen.run.gpus == (("gpu1", 4),)


def test_names_of_users_reach_no_terminal() -> None:
    (seen,) = Sighting().sight(snapshot(replace(WAITS, name="a|b\x1b[2J\n\x07é"))).jobs.values()
    assert seen.name == "a|b?[2J??é"
