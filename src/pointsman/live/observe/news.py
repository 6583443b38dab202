"""What has happened since the last look, as far as the next one shows: in the order of time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from pointsman.live.observe.sight import Run, SeenJob, Sight
from pointsman.types import JobState, NodeState


class What(IntEnum):
    """In the order in which what happened at the same time is told: what the scheduler decides comes last."""

    ENDED = 0
    NODE = 1
    CAME = 2
    HELD = 3
    RELEASED = 4
    STOPPED = 5
    """It was preempted, or requeued, and waits again."""
    STARTED = 6

    @property
    def is_decided(self) -> bool:
        """Whether the scheduler decided it."""
        return self >= What.STOPPED


@dataclass(frozen=True)
class Piece:
    """One thing that has happened."""

    unix_ms: int
    what: What
    key: str
    """The key of a job, or a node's name."""
    job: SeenJob | None = None
    run: Run | None = None
    """That STARTED."""
    state: JobState | NodeState | None = None
    """In which a job ended, or a node is."""


SAME_MS: Final = 60_000
"""A run that another daemon saw is the one that began so soon after it: two clocks are compared, of which one may have
been set meanwhile.
"""


class KnownJob(NamedTuple):
    """What was known of a job before."""

    run: Run | None = None
    """If it runs."""
    held: bool = False
    is_recalled: bool = False
    """Whether another daemon saw that run: of it only the time is known, which may be that when it was seen."""


def news(jobs: Mapping[str, KnownJob], nodes: Mapping[str, NodeState], seen: Sight) -> list[Piece]:
    """What has happened to all jobs and nodes that are known, and which are new. A job that is not seen any more has
    not ended for that: whoever looks finds out how it ended.
    """
    pieces = [piece for job in seen.jobs.values() for piece in _of_job(jobs.get(job.key), job, seen.unix_ms)]
    changed = {name: state for name, state in seen.nodes.items() if nodes.get(name, NodeState.UP) != state}
    pieces += [Piece(seen.unix_ms, What.NODE, name, state=state) for name, state in changed.items()]
    return sorted(pieces, key=lambda piece: (piece.unix_ms, piece.what))


def _of_job(known: KnownJob | None, job: SeenJob, now_ms: int) -> Iterator[Piece]:
    last_ms, changed_ms, run = 0, now_ms, _present_run(job)
    if known is None:
        yield Piece(job.submit_unix_ms, What.CAME, job.key, job)
        known, last_ms, changed_ms = KnownJob(), job.submit_unix_ms, job.submit_unix_ms
    if known.run is not None and (job.ended is None if run is None else not _is_same(run, known)):
        last_ms = _stop_ms(job, known, now_ms)
        yield Piece(last_ms, What.STOPPED, job.key)
        known = KnownJob()
    if known.run is None and run is not None:
        last_ms = max(last_ms, run.begin_unix_ms)
        yield Piece(last_ms, What.STARTED, job.key, job, run)
    elif run is None and job.ended is None and known.held != bool(job.held):
        yield Piece(max(last_ms, changed_ms), What.HELD if job.held else What.RELEASED, job.key)
    if job.ended is not None:
        end_ms = now_ms if job.end_unix_ms is None else job.end_unix_ms
        yield Piece(max(end_ms, last_ms + (run is not None)), What.ENDED, job.key, state=job.ended)


def _present_run(job: SeenJob) -> Run | None:
    """The run that it is in, or in which it ended."""
    return job.run if job.run is not None and (job.run.end_unix_ms is None or job.ended is not None) else None


def _is_same(run: Run, known: KnownJob) -> bool:
    """Nodes that it has given back already make no other run of it; other GPUs do."""
    if known.run is None:
        return False
    if known.is_recalled:
        return run.begin_unix_ms - known.run.begin_unix_ms < SAME_MS
    is_same = run.restarts == known.run.restarts or run.begin_unix_ms == known.run.begin_unix_ms
    return is_same and {*run.gpus} <= {*known.run.gpus}


def _stop_ms(job: SeenJob, known: KnownJob, now_ms: int) -> int:
    """When its run that is over was stopped, as well as is shown."""
    if job.run is None:
        return now_ms
    if not _is_same(job.run, known):
        return min(now_ms, job.run.begin_unix_ms)
    return now_ms if job.run.end_unix_ms is None else job.run.end_unix_ms
