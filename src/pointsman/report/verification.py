"""A run told again from its own files, by somebody who trusts nothing: what its events say of jobs, GPUs and nodes must
be possible, and what its tables and metrics say must follow from them. No part of the engine is used.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import isclose
from operator import itemgetter
from typing import Any, Final

from pointsman.engine.run.result import RunData
from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.report.metrics.comparison_rows import TIMINGS
from pointsman.report.summary import summarise

Gpu = tuple[int, int]
"""Node, and position in it."""
Event = dict[str, Any]

LETS_GO: Final = {"FINISH": "RUNNING", "STOPPED": "STOPPING", "START_FAILED": "STARTING", "CANCEL": "", "NODE_DOWN": ""}
"""Events after which a job holds nothing, and the state in which they find it, if only one."""


class Impossible(Exception):
    """What an event says cannot have happened."""


@dataclass
class _Job:
    state: str = "PENDING"
    since_ms: int = 0
    gpus: list[Gpu] = field(default_factory=list)
    start_ms: int | None = None
    end_ms: int | None = None
    has_run: bool = False
    spent_ms: Counter[str] = field(default_factory=Counter)
    held_gpu_ms: int = 0
    preemptions: int = 0

    def becomes(self, state: str, now_ms: int) -> None:
        """Count the time in the state that it leaves."""
        self.spent_ms[self.state] += now_ms - self.since_ms
        self.held_gpu_ms += len(self.gpus) * (now_ms - self.since_ms)
        self.has_run |= state == "RUNNING"
        self.state, self.since_ms = state, now_ms


def faults(result: RunData, summary: Mapping[str, Any] | None = None) -> list[str]:
    """What is wrong with a run, a sentence each; none: all of it holds.

    Args:
        result: the run, with its events.
        summary: metrics that it is said to have, as in ``summary.json``.
    """
    if result.info.get("logged"):
        return [] if summary is None else list(_metrics(result, summary))
    if result.events is None:
        return ["the run has kept no events, so nothing can be told again"]
    try:
        jobs = _Replay(result).jobs
    except Impossible as impossible:
        return [str(impossible)]
    return [*_books(result, jobs), *([] if summary is None else _metrics(result, summary))]


class _Replay:
    def __init__(self, result: RunData) -> None:
        info = result.info
        self.table = {name: result.jobs[name].to_list() for name in ("job_id", "gpus")}
        first_s = float(result.jobs["submit_s"][0])
        self.submit_ms = [round(1000 * (s - first_s)) for s in result.jobs["submit_s"].to_list()]
        self.sizes: Sequence[int] = info["node_gpus"]
        self.limit = int(info.get("gpu_sharing") or 1)
        self.elastic = info.get("rate_model") == "goodput"
        cost = info["overheads"] if isinstance(info.get("overheads"), Mapping) else {}
        self.start_ms, self.stop_ms, self.restore_ms = (
            round(1000 * float(cost.get(name, 0.0))) for name in ("start_s", "stop_s", "restore_s")
        )
        self.now_ms = 0
        self.on: dict[Gpu, set[int]] = defaultdict(set)
        self.node_state = [0] * len(self.sizes)
        self.jobs = [_Job(since_ms=ms) for ms in self.submit_ms]
        assert result.events is not None
        for _, parts in groupby(result.events.iter_rows(named=True), key=itemgetter("seq")):
            self._tell(list(parts))

    def _tell(self, parts: list[Event]) -> None:
        kind, row = parts[0]["kind"], parts[0]["row"]
        if parts[0]["time_ms"] < self.now_ms:
            raise Impossible(f"time runs back from {self.now_ms} to {parts[0]['time_ms']} ms")
        self.now_ms = parts[0]["time_ms"]
        if row < 0:
            self.node_state[parts[0]["node"]] = parts[0]["arg"]
            return
        job = self.jobs[row]
        if kind == "START":
            self._start(row, job, parts)
        elif kind == "PREEMPT":
            self._preempt(row, job)
        elif kind == "STARTED":
            self._must_be(row, job, "STARTING")
            job.becomes("RUNNING", self.now_ms)
        elif kind in ("RESIZE", "RESIZED", "MOVE"):
            self._change(row, job, kind, parts)
        elif kind in LETS_GO:
            self._end(row, job, kind)

    def _start(self, row: int, job: _Job, parts: list[Event]) -> None:
        self._must_be(row, job, "PENDING")
        if self.now_ms < self.submit_ms[row]:
            raise self._impossible(row, "starts before its submit")
        job.start_ms = self.now_ms if job.start_ms is None else job.start_ms
        delay_ms = self.start_ms + (self.restore_ms if job.has_run else 0)
        job.becomes("STARTING" if delay_ms else "RUNNING", self.now_ms)
        self._hold(row, job, parts)

    def _preempt(self, row: int, job: _Job) -> None:
        self._must_be(row, job, "RUNNING")
        job.preemptions += 1
        job.becomes("STOPPING", self.now_ms)
        if self.stop_ms == 0:
            self._let_go(row, job)

    def _change(self, row: int, job: _Job, kind: str, parts: list[Event]) -> None:
        if kind == "RESIZED":
            self._must_be(row, job, "STARTING")
            job.becomes("RUNNING", self.now_ms)
            return
        self._must_be(row, job, "RUNNING")
        pause_ms = self.stop_ms + self.start_ms + self.restore_ms
        job.becomes("STARTING" if pause_ms else "RUNNING", self.now_ms)
        self._free(row, job)
        self._hold(row, job, parts)

    def _end(self, row: int, job: _Job, kind: str) -> None:
        if LETS_GO[kind]:
            self._must_be(row, job, LETS_GO[kind])
        if kind == "NODE_DOWN" and not any(self.node_state[node] == 2 for node, _ in job.gpus):
            raise self._impossible(row, "is taken down, and none of its nodes is down")
        self._let_go(row, job)
        if kind in ("FINISH", "CANCEL"):
            job.state, job.end_ms = "ENDED", self.now_ms

    def _hold(self, row: int, job: _Job, parts: list[Event]) -> None:
        gpus = [(one["node"], bit) for one in parts for bit in range(64) if one["gpu_mask"] >> bit & 1]
        if not gpus or (len(gpus) != self.table["gpus"][row] and not self.elastic):
            raise self._impossible(row, f"gets {len(gpus)} GPUs and asked for {self.table['gpus'][row]}")
        for node, gpu in gpus:
            if not 0 <= node < len(self.sizes) or gpu >= self.sizes[node]:
                raise self._impossible(row, f"gets GPU {gpu} of node {node}, which there is not")
            if self.node_state[node] != 0:
                raise self._impossible(row, f"gets GPUs of node {node}, which is not up")
            self.on[node, gpu].add(row)
            if len(self.on[node, gpu]) > self.limit:
                others = counted(self.limit, "other holds", "others hold")
                raise self._impossible(row, f"gets GPU {gpu} of node {node}, which {others}")
        job.gpus = gpus

    def _free(self, row: int, job: _Job) -> None:
        for gpu in job.gpus:
            self.on[gpu].discard(row)
        job.gpus = []

    def _let_go(self, row: int, job: _Job) -> None:
        job.becomes("PENDING", self.now_ms)
        self._free(row, job)

    def _must_be(self, row: int, job: _Job, state: str) -> None:
        if job.state != state:
            raise self._impossible(row, f"is {job.state}, and only a job that is {state} can do this")

    def _impossible(self, row: int, what: str) -> Impossible:
        return Impossible(
            f"at {self.now_ms / 1000:.3f} s after the first submit job {self.table['job_id'][row]} {what}"
        )


def _books(result: RunData, jobs: Sequence[_Job]) -> Iterator[str]:
    """Where ``jobs.parquet`` says something else than the events."""
    first_s = float(result.jobs["submit_s"][0])
    for told in result.jobs.iter_rows(named=True):
        job = jobs[told["row"]]
        ended = job.state == "ENDED"
        found = {
            "start_s": None if job.start_ms is None else job.start_ms / 1000 + first_s,
            "end_s": None if job.end_ms is None else job.end_ms / 1000 + first_s,
            "preemptions": job.preemptions,
        }
        if ended:
            found |= {
                "run_s": job.spent_ms["RUNNING"] / 1000,
                "pending_s": job.spent_ms["PENDING"] / 1000,
                "held_gpu_s": job.held_gpu_ms / 1000,
            }
        for name, value in found.items():
            if not _alike(told[name], value):
                yield f"job {told['job_id']}: {name} is {told[name]} in jobs.parquet, and {value} by the events"
                break


def _metrics(result: RunData, summary: Mapping[str, Any]) -> Iterator[str]:
    """Where ``summary.json`` says something else than the tables."""
    window = summary.get("window")
    ends = [window.get(name) for name in ("from_s", "to_s")] if isinstance(window, Mapping) else []
    if window is not None and not all(isinstance(end, int | float) and abs(end) < 1e15 for end in ends or [None]):
        yield f"window is {window!r:.60} in summary.json, and no two times"
        return
    try:
        again = summarise(result, window=(ends[0], ends[1]) if ends else None)
    except UsageError as error:
        yield f"window is {window!r:.60} in summary.json: {error}"
        return
    for name, value in again.items():
        if name in summary and name not in TIMINGS and not _alike(summary[name], value):
            yield f"{name} is {summary[name]!r:.60} in summary.json, and {value!r:.60} by jobs.parquet"


def _alike(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of numbers; lists and tuples of JSON are the same."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float) and abs(one) < 1e300 > abs(other):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)
    return one == other
