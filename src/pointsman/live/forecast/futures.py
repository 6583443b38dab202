"""Futures of a live world: in each, how long jobs run and which jobs come is drawn, and the policy decides."""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import RunError
from pointsman.live.forecast.arrivals import HOUR_MS, WEEK, Hours
from pointsman.live.forecast.calibration import Start, start_of
from pointsman.live.forecast.durations import Draw
from pointsman.live.forecast.present import Known, Present, known_of
from pointsman.live.forecast.record import Record
from pointsman.live.records.job import Job
from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.roster import ask_of
from pointsman.live.world.twin import as_simulation, work_of_arrival
from pointsman.types import Event, JobState, NodeState, Told, Verb

DRAWS: Final = 20
IN_COMMON: Final = 0.5
"""How much of the variance of jobs' durations is that of the batch to which they belong."""
_NORMAL: Final = NormalDist()


class Future(NamedTuple):
    """One of them; times are from now, and what does not happen within a week is infinitely late."""

    log: NDArray[np.void]
    """What was decided (LOG). The world itself is not kept: it takes tens of megabytes."""
    starts_ms: Mapping[int, float]
    """When each pending job starts next, by its row."""
    ends_ms: Mapping[int, float]
    """When each present job ends."""


def starts(present: Present, record: Record, draws: int = DRAWS) -> dict[int, Start]:
    """When each pending job starts, by its row.

    Raises:
        UsageError: nothing can be foretold under this policy.
    """
    futures = [future.starts_ms for future in futures_of(present, record, draws)]
    calibration = record.calibration(present.now_ms)
    return {row: calibration.widen(start_of([future[row] for future in futures])) for row in futures[0]}


def futures_of(present: Present, record: Record, draws: int = DRAWS, *, to_the_end: bool = False) -> Iterator[Future]:
    """So many, each until all has started that waits now, or has ended; of the same record always the same."""
    known = present.known()
    shares, common = _shares(known, draws), _strata("all jobs", draws)
    hours = record.arrivals.hours(present.now_ms)
    for k in range(draws):
        future = _Unfolding(present, record, hours, random.Random(k), common[k])
        begun_first = sorted(known, key=lambda row: known[row].ran_ms <= 0.0)
        left = {row: future.left_ms(known[row], shares[row][k]) for row in begun_first}
        yield future.unfold(left, to_the_end=to_the_end)


def likely_order(present: Present, record: Record) -> list[int]:
    """The pending jobs that may start, in the order in which the policy starts them if each runs as long as half of the
    jobs like it, and none comes.

    Raises:
        UsageError: nothing can be foretold under this policy.
    """
    alone = replace(present, kinds=None)
    future = _Unfolding(alone, record, record.arrivals.hours(present.now_ms), random.Random(0))
    left = {
        row: min(known.may_ms, record.durations.likely_left_ms(known.like, known.ran_ms))
        for row, known in present.known().items()
    }
    starts_ms = future.unfold(left, to_the_end=False).starts_ms
    return sorted(starts_ms, key=lambda row: (starts_ms[row], row))


def _shares(known: Mapping[int, Known], draws: int) -> dict[int, list[float]]:
    """For each job and draw, what share of jobs like it ran shorter. Jobs of a user that are alike are of one mind:
    a batch of them may be longer, all together, than the user's jobs before.
    """
    batches = {job.like.batch: _strata(repr(job.like.batch), draws) for job in known.values()}
    common, own = math.sqrt(IN_COMMON), math.sqrt(1.0 - IN_COMMON)
    return {
        row: [
            _NORMAL.cdf(common * of_batch + own * of_job)
            for of_batch, of_job in zip(batches[job.like.batch], _strata(str(row), draws), strict=True)
        ]
        for row, job in known.items()
    }


def _strata(name: str, draws: int) -> list[float]:
    """A normal number for each draw, one from each of as many equally probable ranges."""
    draw = random.Random(name)
    values = [_NORMAL.inv_cdf((k + 0.001 + 0.998 * draw.random()) / draws) for k in range(draws)]
    draw.shuffle(values)
    return values


class _Unfolding:
    """One future."""

    def __init__(
        self, present: Present, record: Record, hours: Hours, draw: random.Random, common: float = 0.0
    ) -> None:
        self._present, self._hours, self._draw = present, hours, draw
        self._durations = Draw(record.durations, draw, common)
        self._world = present.world.copy()

    def left_ms(self, job: Known, share: float) -> float:
        """How much work a job has left that is longer than a `share` of those like it."""
        if job.ran_ms > 0.0:
            return min(self._durations.left_ms(job.like, job.ran_ms, share), job.may_ms)
        return min(self._durations.whole_ms(job.like, share), job.may_ms)

    def unfold(self, left_ms: Mapping[int, float], *, to_the_end: bool) -> Future:
        """Let it happen."""
        present, world = self._present, self._world
        waiting, there = _rows(world, {row for row, _ in present.pauses})
        for row, until_ms in present.pauses:
            world.tell(Told.RELEASE, row, until_ms)
        for node in present.drained:
            world.tell_node(node, NodeState.DRAIN, present.now_ms)
        for row in present.cancelled:
            world.tell(Event.CANCEL, row, present.now_ms)
        new = {self._submit(job, present.now_ms) for job in present.submitted}
        simulation = as_simulation(world, left_ms, present.now_ms)
        self._run_until_none_of((there if to_the_end else waiting) | new, to_the_end=to_the_end)
        log = simulation.log()
        starts = _first_ms(log[log["kind"] == Verb.START], present.world.rules.start_ms - present.now_ms)
        ends = _first_ms(log[np.isin(log["kind"], (Event.FINISH, Event.CANCEL))], -present.now_ms)
        return Future(
            log,
            {row: starts.get(row, math.inf) for row in waiting | new},
            {row: ends.get(row, math.inf) for row in there | new},
        )

    def _submit(self, job: Job, at_ms: int) -> int:
        world, present = self._world, self._present
        assert present.kinds is not None
        more = {"priority": -job.ask.neg_priority, "limit_ms": job.limit_ms, "pinned": job.ask.pinned}
        ask = ask_of(present.world.prepared, present.world.briefing, present.kinds[job.kind], **more)
        row = world.submit(ask, at_ms)
        work_of_arrival(world, row, self.left_ms(known_of(job), self._draw.random()))
        return row

    def _run_until_none_of(self, rows: set[int], *, to_the_end: bool) -> None:
        """Is there any more, or waits for its start; hour by hour, for a week at most."""
        present, simulation = self._present, self._world.simulation
        wanted = np.array(sorted(rows), np.int64)
        for ahead in range(WEEK if rows else 0):
            first_ms = present.now_ms + ahead * HOUR_MS
            try:
                self._submit_hour(ahead, first_ms)
            except RunError:
                return  # there is no room for more: what waits so long cannot be foretold
            simulation.run(first_ms + HOUR_MS)
            jobs = simulation.handle.jobs
            counts = jobs["state"] != 0 if to_the_end else np.isin(jobs["state"], (JobState.PENDING, JobState.HELD))
            if not np.isin(jobs["row"][counts], wanted).any():
                return

    def _submit_hour(self, ahead: int, first_ms: int) -> None:
        kinds = self._present.kinds or {}
        for since_ms, job in self._hours.drawn(ahead, self._draw):
            if job.kind in kinds:
                self._submit(job, first_ms + since_ms)


def _rows(world: LiveWorld, paused: set[int]) -> tuple[set[int], set[int]]:
    """The pending jobs that will start without their users' doing, and these with all jobs that have GPUs."""
    jobs = world.simulation.handle.jobs
    states = dict(zip(jobs["row"].tolist(), jobs["state"].tolist(), strict=True))
    alive = {row: state for row, state in states.items() if state != 0}
    held = {row for row, state in alive.items() if state == JobState.HELD and row not in paused}
    waiting = {row for row, state in alive.items() if state in (JobState.PENDING, JobState.HELD)} - held
    return waiting, set(alive) - held


def _first_ms(rows: np.ndarray, more_ms: int) -> dict[int, float]:
    """The time of the first row of each job in a part of a log, and so much more, but no less than 0."""
    jobs, first = np.unique(rows["row"], return_index=True)
    times_ms = np.maximum(0, rows["time"][first] + more_ms).astype(float)
    return dict(zip(jobs.tolist(), times_ms.tolist(), strict=True))
