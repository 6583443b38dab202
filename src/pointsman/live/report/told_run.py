"""What happened on a live cluster, as the result of a run: `report`, `compare` and `verify` read it as any other."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import polars as pl

from pointsman.cluster import Layout
from pointsman.engine.sdk.live import level_of
from pointsman.live.records.store import parts_of
from pointsman.live.world.plan import with_sign
from pointsman.report.result import Result
from pointsman.types import Event, JobState, Locality, Reason, Verb

Row = dict[str, Any]
SAMPLES: Final = 1000
TOLD: Final = (
    "this happened: it is no simulation",
    "what preemptions destroyed, and what jobs waited for communication, is not known",
)
_ENDS: Final = {Event.FINISH, Event.CANCEL, Event.STOPPED, Event.START_FAILED}
_OF_JOBS: Final = ("job_id", "user", "queue", "partition", "model", "gpu_type", "gpus", "priority", "submit_s")


class Told(NamedTuple):
    """Something that happened to a job, as a row of a plan log."""

    time_ms: int
    kind: Event | Verb
    row: int
    attempt: int = 0
    reason: Reason = Reason.OK
    parts: tuple[tuple[int, int], ...] = ()
    """(node, mask of its GPUs), of a start."""

    @property
    def order(self) -> tuple[int, bool, int]:
        """At one instant GPUs become free before others get them."""
        return self.time_ms, self.kind not in _ENDS, int(self.kind)


def told_run(jobs: Sequence[Row], attempts: Mapping[int, Sequence[Row]], layout: Layout, info: Row) -> Result:
    """The run of all jobs that came, in the order of their submission.

    Args:
        jobs: as a log has them, and ``number``, ``end_ms`` and ``state`` (None: it has not ended).
        attempts: of each number, as the store has them, in order; ``noticed_ms`` is when the end of one was noticed.
        layout: the nodes.
        info: what is to be said of the run, as ``Result.info`` has it.
    """
    names = {name: k for k, name in enumerate(layout.node_names)}
    first_ms = round(1000 * jobs[0]["submit_s"])
    told, rows = [], []
    last_ms = max(
        one["ended_ms"] or one["started_ms"] or one["intended_ms"] for many in attempts.values() for one in many
    )
    for row, job in enumerate(jobs):
        events = [*_events_of(row, job, attempts.get(job["number"], ()), names)]
        told += events
        rows.append(_job_row(row, job, events, last_ms, layout))
    told = [one._replace(time_ms=one.time_ms - first_ms) for one in sorted(told, key=lambda one: one.order)]
    series = _series(
        told, [round(1000 * job["submit_s"]) - first_ms for job in jobs], [job["gpus"] for job in jobs], layout
    )
    return Result(
        pl.DataFrame(rows, infer_schema_length=None), _events_table(told), series, info | {"events": len(told)}
    )


def _events_of(row: int, job: Row, attempts: Sequence[Row], names: Mapping[str, int]) -> Iterator[Told]:
    for one in attempts:
        attempt, end_ms = one["attempt"], one["ended_ms"]
        parts = tuple((names[node], mask) for node, mask in parts_of(one["parts"]) if node in names)
        yield Told(one["intended_ms"], Verb.START, row, attempt, Reason[one["reason"]], parts)
        if one["started_ms"] is None:
            if end_ms is not None:
                yield Told(end_ms, Event.START_FAILED, row, attempt)
            continue
        started_ms = max(
            one["intended_ms"], min(one["started_ms"], one["started_ms"] if end_ms is None else end_ms - 1)
        )
        yield Told(started_ms, Event.STARTED, row, attempt)
        is_last = job["end_ms"] is not None and one["noticed_ms"] == job["end_ms"]
        if one["stopping_ms"] is not None and not is_last:
            yield Told(
                max(started_ms, min(one["stopping_ms"], end_ms or one["stopping_ms"])), Verb.PREEMPT, row, attempt
            )
        if end_ms is not None:
            yield Told(end_ms, _end_of(one, job, is_last=is_last), row, attempt)
    if job["end_ms"] is not None and not any(one["noticed_ms"] == job["end_ms"] for one in attempts):
        yield Told(job["end_ms"], Event.CANCEL, row)


def _end_of(attempt: Row, job: Row, *, is_last: bool) -> Event:
    if is_last:
        return Event.CANCEL if job["state"] == JobState.CANCELLED.name else Event.FINISH
    return Event.STOPPED if attempt["stopping_ms"] is not None else Event.FAIL


def _job_row(row: int, job: Row, events: Sequence[Told], last_ms: int, layout: Layout) -> Row:
    submit_ms = round(1000 * job["submit_s"])
    spent = {"PENDING": 0, "STARTING": 0, "RUNNING": 0, "STOPPING": 0, "ENDED": 0}
    state, since_ms, first_ms, end_ms, preemptions = "PENDING", submit_ms, None, None, 0
    parts: tuple[tuple[int, int], ...] = ()
    for one in events:
        spent[state] += one.time_ms - since_ms
        since_ms = one.time_ms
        if one.kind == Verb.START:
            state, parts = "STARTING", one.parts
            first_ms = one.time_ms if first_ms is None else first_ms
        elif one.kind == Event.STARTED:
            state = "RUNNING"
        elif one.kind == Verb.PREEMPT:
            state, preemptions = "STOPPING", preemptions + 1
        elif one.kind in (Event.FINISH, Event.CANCEL):
            state, end_ms = "ENDED", one.time_ms
        else:
            state = "PENDING"
    if state != "ENDED":
        spent[state] += max(0, last_ms - since_ms)
    held_ms = spent["STARTING"] + spent["RUNNING"] + spent["STOPPING"]
    nodes = [node for node, _ in parts]
    return {
        **{name: job.get(name) for name in _OF_JOBS},
        "duration_s": spent["RUNNING"] / 1000,
        "row": row,
        "estimate_s": None,
        "start_s": None if first_ms is None else first_ms / 1000,
        "end_s": None if end_ms is None else end_ms / 1000,
        "wait_s": None if first_ms is None else (first_ms - submit_ms) / 1000,
        "jct_s": None if end_ms is None else (end_ms - submit_ms) / 1000,
        "pending_s": spent["PENDING"] / 1000,
        "run_s": spent["RUNNING"] / 1000,
        "held_gpu_s": job["gpus"] * held_ms / 1000,
        "preemptions": preemptions,
        "lost_s": 0.0,
        "comm_s": 0.0,
        "nodes": len(nodes),
        "locality": _locality(nodes, job["gpus"], layout) if nodes else None,
        "state": job["state"] or state,
    }


def _locality(nodes: Sequence[int], gpus: int, layout: Layout) -> str:
    level = level_of(nodes, layout.node_rack.tolist(), layout.node_pod.tolist())
    return (Locality.GPU if gpus == 1 or level is None else Locality(level)).name.lower()


def _events_table(told: Sequence[Told]) -> pl.DataFrame:
    rows = [
        {
            "time_ms": one.time_ms, "seq": seq, "kind": one.kind.name, "row": one.row, "attempt": one.attempt, "arg": 0,
            "reason": one.reason.name, "node": node, "gpu_mask": with_sign(mask), "gpus": mask.bit_count(),
        }
        for seq, one in enumerate(told)
        for node, mask in one.parts or ((-1, 0),)
    ]  # fmt: skip
    return pl.DataFrame(rows)


class _Cluster:
    """How many GPUs are free on each node, and which jobs wait, as events are told."""

    def __init__(self, gpus: Sequence[int], layout: Layout) -> None:
        self.gpus, self.sizes = gpus, layout.node_gpus.tolist()
        self.free = list(self.sizes)
        self.held: dict[int, tuple[tuple[int, int], ...]] = {}
        self.running: set[int] = set()
        self.pending: dict[int, None] = {}

    def tell(self, one: Told) -> None:
        if one.kind == Verb.START:
            self.pending.pop(one.row, None)
            self.held[one.row] = one.parts
            self._count(one.parts, -1)
        elif one.kind == Event.STARTED:
            self.running.add(one.row)
        elif one.kind == Verb.PREEMPT:
            self.running.discard(one.row)
        else:
            self._count(self.held.pop(one.row, ()), 1)
            self.running.discard(one.row)
            self.pending.pop(one.row, None)
            if one.kind in (Event.STOPPED, Event.START_FAILED):
                self.pending[one.row] = None

    def _count(self, parts: tuple[tuple[int, int], ...], sign: int) -> None:
        for node, mask in parts:
            self.free[node] += sign * mask.bit_count()

    def sample(self, time_ms: int) -> Row:
        waiting = [self.gpus[row] for row in self.pending]
        return {
            "time_ms": time_ms,
            "used_gpus": sum(self.sizes) - sum(self.free),
            "running": len(self.running),
            "pending": len(waiting),
            "queued_gpus": sum(waiting),
            "largest_free": max(self.free),
            "whole_free_nodes": sum(free == size for free, size in zip(self.free, self.sizes, strict=True)),
            "head_gpus": self.gpus[min(self.pending)] if self.pending else 0,
        }


def _series(told: Sequence[Told], submits_ms: Sequence[int], gpus: Sequence[int], layout: Layout) -> pl.DataFrame:
    cluster = _Cluster(gpus, layout)
    last_ms = max([one.time_ms for one in told], default=0)
    comes = sorted(
        [(at_ms, 0, row) for row, at_ms in enumerate(submits_ms)] + [(t.time_ms, 1, k) for k, t in enumerate(told)]
    )
    samples, rows = [k * last_ms // (SAMPLES - 1) for k in range(SAMPLES)], []
    due = iter(comes)
    coming = next(due, None)
    for sample_ms, _ in groupby(samples):
        while coming is not None and coming[0] <= sample_ms:
            if coming[1] == 0:
                cluster.pending[coming[2]] = None
            else:
                cluster.tell(told[coming[2]])
            coming = next(due, None)
        rows.append(cluster.sample(sample_ms))
    return pl.DataFrame(rows)
