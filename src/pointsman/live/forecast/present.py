"""A live world as it is now, and what is known beside it: what futures begin with."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pointsman.live.forecast.durations import Like
from pointsman.live.records.job import Job
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import LiveWorld
from pointsman.types import JobState


class Known(NamedTuple):
    """What tells how much longer a job will run."""

    like: Like
    may_ms: float = math.inf
    """How much longer it may."""
    ran_ms: float = 0.0
    """In all attempts."""


@dataclass(frozen=True)
class Present:
    """Between two turns."""

    world: LiveWorld
    """Which is copied, and not changed."""
    now_ms: int
    jobs: Mapping[int, Job]
    """All that have not ended, by row."""
    began_ms: Mapping[int, int]
    """When the attempts of those that run began."""
    pauses: tuple[tuple[int, int], ...] = ()
    """(row, ms) of jobs that are tried again then."""
    kinds: Mapping[Kind, int] | None = None
    """Numbers by which the world knows jobs to come; None: none come."""
    drained: tuple[int, ...] = ()
    """Nodes that take no jobs from now on."""
    cancelled: tuple[int, ...] = ()
    """Jobs that end now."""
    submitted: tuple[Job, ...] = ()
    """Jobs that come now."""

    def known(self) -> dict[int, Known]:
        """What tells how long each present job will run, by its row."""
        found = {}
        for row, ran_ms in ran_by_row(self.world, self.now_ms).items():
            job, began_ms = self.jobs[row], self.began_ms.get(row)
            found[row] = known_of(job, 0 if began_ms is None else self.now_ms - began_ms, ran_ms)
        return found


def ran_by_row(world: LiveWorld, now_ms: int) -> dict[int, float]:
    """For how long each job that is there has run by now, in all attempts."""
    jobs = world.simulation.handle.jobs
    there, runs = jobs["state"] != 0, jobs["state"] == JobState.RUNNING
    ran_ms = jobs["executed"] + runs * (now_ms - jobs["settled"])
    return dict(zip(jobs["row"][there].tolist(), ran_ms[there].tolist(), strict=True))


def known_of(job: Job, ran_now_ms: float = 0.0, ran_ms: float = 0.0) -> Known:
    """What tells how long a job will run that has run so long in this attempt and in all."""
    may_ms = math.inf if job.limit_ms is None else max(1.0, job.limit_ms - ran_now_ms)
    return Known(like_of(job), may_ms, ran_ms)


def like_of(job: Job) -> Like:
    """What tells how long a job may run."""
    return Like(job.uid, job.name, job.kind.gpus)
