"""What Slurm lists, as jobs that are the same from one look to the next."""

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pointsman.live.backends.facts import Phase
from pointsman.live.backends.slurm.array_tasks import target_of, task_ids, unit_of
from pointsman.live.backends.slurm.controller_clock import describe_skew
from pointsman.live.backends.slurm.other_daemons import OtherDaemons
from pointsman.live.backends.slurm.records import SlurmJob, Snapshot
from pointsman.live.backends.slurm.states import STARTS, state_of_end
from pointsman.live.observe.sight import Run, SeenJob, Sight
from pointsman.live.world.kind import Kind
from pointsman.types import JobState

FREE: Final = ("", "None", "Priority", "Resources")
"""Reasons for which a job waits that another order of jobs could end; whatever else it waits for, it cannot start."""
BEGIN_TIME: Final = "BeginTime"
REMEMBERED_S: Final = 3_600.0
"""For so long a job that is not listed any more may be listed again."""


@dataclass
class _Known:
    key: str
    submit_unix_s: int | None = None
    """None: another looked then."""
    restarts: int = 0
    ended: bool = False
    gone_s: float | None = None
    """Since when it is not listed."""


class Sighting:
    """A job that is requeued has another time of submission, and an id may be given to another job if Slurm has
    forgotten the first: what is the same job is remembered.
    """

    def __init__(self, partitions: frozenset[str] = frozenset()) -> None:
        """`partitions`: in which jobs may be changed, if only in some."""
        self._partitions = partitions
        self._known: dict[str, _Known] = {}
        """By Slurm's id, as long as it is listed, and for `REMEMBERED_S`."""
        self._others = OtherDaemons()
        self.without_gpus: tuple[str, ...] = ()
        """What was listed last and neither has GPUs nor asks for any, as Slurm calls it."""

    def recall(self, keys: Mapping[str, bool]) -> None:
        """Jobs that another saw lately, by their keys, and whether they have ended."""
        self._known |= {key.rpartition("@")[0]: _Known(key, ended=ended) for key, ended in keys.items()}

    def sight(self, snapshot: Snapshot) -> Sight:
        """What is seen in a snapshot: of jobs, those that have GPUs or ask for them."""
        now_unix_s = time.time() + snapshot.skew_s
        found: dict[str, SeenJob] = {}
        self.without_gpus = tuple(record.id for record in snapshot.jobs if _gpus_of(record) == 0)
        for record in sorted(snapshot.jobs, key=lambda record: record.number):  # those of one second in their order
            if (gpus := _gpus_of(record)) > 0:
                for id_ in task_ids(record.id):
                    found |= {job.key: job for job in self._sight_one(id_, record, gpus, now_unix_s)}
        if snapshot.complete:
            listed = {job.shown for job in found.values()}
            found |= {job.key: job for job in self._miss(listed)}
        gpus_of = {node.name: sum(many for _, many in node.gpus) for node in snapshot.nodes if node.gpus}
        nodes = {node.name: node.state for node in snapshot.nodes if node.gpus}
        reasons = {node.name: node.why for node in snapshot.nodes}
        odd = tuple(self._odd(snapshot))
        return Sight(found, nodes, round(1000 * now_unix_s), gpus_of, reasons, odd)

    def _odd(self, snapshot: Snapshot) -> Iterator[str]:
        yield describe_skew(snapshot.skew_s)
        for name in sorted(self._partitions - {partition.name for partition in snapshot.partitions}):
            yield f"Slurm has no partition {name!r:.60} any more: no priorities are changed there"
        for id_ in self._others.look(snapshot.jobs).values():
            yield (
                f"a daemon with --act starts jobs of this Slurm, such as {id_}: what is observed are its decisions, "
                "and priorities hardly matter to it"
            )

    def _miss(self, listed: Collection[str]) -> Iterator[SeenJob]:
        """Jobs that are not listed any more have ended; they are remembered for a while, should Slurm list them again
        because its controller has gone on from an older state.
        """
        now_s = time.monotonic()
        for id_, known in [*self._known.items()]:
            if id_ in listed:
                known.gone_s = None
            elif known.gone_s is None:
                yield from _vanished(id_, known)
                known.ended, known.gone_s = True, now_s
            elif now_s - known.gone_s > REMEMBERED_S:
                del self._known[id_]

    def _sight_one(self, id_: str, record: SlurmJob, gpus: int, now_unix_s: float) -> Iterator[SeenJob]:
        known = self._known.get(id_)
        is_again = known is not None and known.ended and record.phase != Phase.ENDED  # Slurm forgets that jobs ended
        if known is None or is_again or not _is_same(known, record):
            if known is not None:
                yield from _vanished(id_, known)
            known = self._known[id_] = _Known(_new_key(id_, record, known))
        known.submit_unix_s, known.restarts = record.submit_unix_s, record.restarts
        known.ended = record.phase == Phase.ENDED
        yield seen_job(known.key, id_, record, gpus, now_unix_s)


def seen_job(key: str, id_: str, record: SlurmJob, gpus: int, now_unix_s: float) -> SeenJob:
    """A job, or one task of the array of which the record is."""
    submit_ms, end_ms = _ms(record.submit_unix_s or 0), _ms(record.end_unix_s)
    ended = state_of_end(record.state) if record.phase == Phase.ENDED else None
    return SeenJob(
        key, id_, submit_ms or 0, _kind_of(record, gpus), record.nodes_asked, record.uid, _printable(record.name),
        None if record.time_limit_s is None else round(1000 * record.time_limit_s), record.priority, record.nice,
        unit_of(record.id), target_of(record.id), record.requeues,
        _names_nodes(record), _why_held(record, now_unix_s), _run_of(record, gpus), ended, end_ms,
    )  # fmt: skip


def _names_nodes(record: SlurmJob) -> bool:
    """Whether its user says on which nodes it must run: those of a job that was launched are the daemon's."""
    return bool(record.required_nodes) and not record.admin_comment.startswith("pointsman:")


def _why_held(record: SlurmJob, now_unix_s: float) -> str:
    """Why it could not start now, whoever decided. Of a job that waits for a time, Slurm gives another reason while its
    partition is down; that of one that was requeued is for Slurm's own sake.
    """
    if record.phase == Phase.ACCEPTED and record.restarts == 0 and (record.eligible_unix_s or 0) > now_unix_s:
        return BEGIN_TIME
    return "" if record.reason in FREE else record.reason


def _is_same(known: _Known, record: SlurmJob) -> bool:
    if known.submit_unix_s is None:
        return known.key.rstrip(".").endswith(f"@{record.submit_unix_s}") or record.restarts > 0
    # a requeue is counted before the job has its new time of submission
    is_requeued = record.restarts > 0 and record.restarts >= known.restarts
    return record.submit_unix_s == known.submit_unix_s or is_requeued


def _new_key(id_: str, record: SlurmJob, before: _Known | None) -> str:
    """Another than that of the job that had the same id before."""
    key = f"{id_}@{record.submit_unix_s}"
    return f"{before.key}." if before is not None and before.key.rstrip(".") == key else key


def _vanished(id_: str, known: _Known) -> Iterator[SeenJob]:
    """A job that is listed no more without having been seen to end: how it ended is not known."""
    if not known.ended:
        yield SeenJob(known.key, id_, 0, ended=JobState.CANCELLED, is_gone=True)


def _gpus_of(record: SlurmJob) -> int:
    held = sum(part.count or 0 for part in record.held)
    if held:
        return held
    asked = record.gpus
    return asked.total if asked.total is not None else (asked.per_node or 1) * record.nodes_asked


def _kind_of(record: SlurmJob, gpus: int) -> Kind:
    per_node = record.gpus.per_node or None
    even = per_node is not None and per_node * record.nodes_asked == gpus
    return Kind(
        gpus,
        record.nodes_asked if even else None,
        per_node if even else None,
        record.gpus.gpu_type or None,
        ",".join(record.partitions) or None,
        record.qos or None,
        record.account or None,
        record.user or None,
    )


def _run_of(record: SlurmJob, gpus: int) -> Run | None:
    """Its last run, if it has begun."""
    has_nodes = record.phase in (Phase.RUNNING, Phase.ENDED) or record.state in STARTS
    if record.start_unix_s is None or not has_nodes or not record.held:
        return None
    each = record.gpus.per_node or gpus // len(record.held)
    known = any(part.count for part in record.held)  # nothing is listed of a job that gives them back just now
    parts = tuple((part.node, part.count if known and part.count is not None else each) for part in record.held)
    if not (gpus_of := tuple(part for part in parts if part[1] > 0)):
        return None
    return Run(1000 * record.start_unix_s, gpus_of, _ms(record.end_unix_s), record.restarts)


def _printable(name: str) -> str:
    """A name without what a terminal would obey: users may put anything into theirs."""
    return "".join(char if char.isprintable() else "?" for char in name)


def _ms(unix_s: int | None) -> int | None:
    return None if unix_s is None else 1000 * unix_s
