"""What looks at Slurm goes on looking, and jobs are the same from one look to the next."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.errors import UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.pace import Pace
from pointsman.live.backends.slurm.records import (
    Controller,
    EndedRun,
    GpuDemand,
    NodeGpus,
    SlurmJob,
    SlurmPartition,
    Snapshot,
)
from pointsman.live.observe.sight import Sight
from pointsman.live.observe.slurm.accounts import with_ends
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

    def ended(self, ids: object) -> None:
        """It has no accounts."""


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


@pytest.mark.parametrize(
    ("state", "end_unix_s", "expected"),
    [
        ("FAILED", 1_020, (JobState.FAILED, 1_020_000)),
        ("TIMEOUT", 1_020, (JobState.TIMEOUT, 1_020_000)),
        ("RUNNING", None, (JobState.CANCELLED, None)),
        ("PENDING", None, (JobState.CANCELLED, None)),
        ("", None, (JobState.CANCELLED, None)),
    ],
)
def test_how_a_job_ended_that_is_not_listed_is_asked_of_the_accounts(
    state: str, end_unix_s: int | None, expected: tuple[JobState, int | None]
) -> None:
    """The last of its runs counts."""
    sighting = Sighting()
    sighting.sight(snapshot(RUNS))
    before = EndedRun("7", 7, "REQUEUED", submit_unix_s=990, start_unix_s=991, end_unix_s=995)
    last = EndedRun("7", 7, state, submit_unix_s=1_000, start_unix_s=1_010, end_unix_s=end_unix_s)
    (job,) = with_ends(sighting.sight(snapshot()), lambda ids: [last, before] if state else None).jobs.values()
    assert (job.ended, job.end_unix_ms) == expected


def test_accounts_that_do_not_answer_leave_unknown_how_a_job_ended() -> None:
    def fails(_: object) -> Any:
        raise Unsure("no answer")

    sighting = Sighting()
    sighting.sight(snapshot(RUNS))
    gone = sighting.sight(snapshot())
    assert with_ends(gone, fails) == gone
    assert with_ends(sighting.sight(snapshot()), fails).jobs == {}


def test_a_partition_in_which_jobs_are_to_be_changed_may_go() -> None:
    sighting = Sighting(frozenset({"gpu", "a100"}))
    partitions = (SlurmPartition("gpu", "UP"),)
    odd = sighting.sight(replace(snapshot(WAITS), partitions=partitions)).odd
    assert [said for said in odd if said] == ["Slurm has no partition 'a100' any more: no priorities are changed there"]


def test_a_job_whose_nodes_are_made_ready_has_them() -> None:
    (seen,) = Sighting().sight(snapshot(replace(RUNS, state="CONFIGURING"))).jobs.values()
    assert seen.run is not None and seen.run.gpus == (("gpu1", 4),)


def test_names_of_users_reach_no_terminal() -> None:
    (seen,) = Sighting().sight(snapshot(replace(WAITS, name="a|b\x1b[2J\n\x07é"))).jobs.values()
    assert seen.name == "a|b?[2J??é"


def test_a_job_that_gives_its_gpus_back_has_had_them() -> None:
    """Of a job that is being requeued, or completes, Slurm may list nodes without GPUs."""
    gives_back = replace(RUNS, state="COMPLETING", held=(NodeGpus("gpu1", 0), NodeGpus("gpu2", 0)), nodes_asked=2)
    (seen,) = Sighting().sight(snapshot(gives_back)).jobs.values()
    assert seen.run is not None and seen.run.gpus == (("gpu1", 4), ("gpu2", 4))
