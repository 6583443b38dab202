"""What is shown of jobs, nodes and the policy, as rows of plain values. Times are seconds since 1970."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pointsman.cluster.hostlist import compress
from pointsman.engine.sdk.live import PYTHON_API, unit
from pointsman.errors import UsageError
from pointsman.explain.room import Room
from pointsman.live.backends.facts import AttemptId, Parts, gpus_in, output_name
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.job_ids import id_of
from pointsman.live.daemon.submission import user_name, user_number
from pointsman.live.records.archive import reading
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.store import job_of, parts_of
from pointsman.live.world.kind import Kind
from pointsman.types import NEVER_MS, NodeState, Reason

Row = dict[str, Any]
PAUSED = "StartFailed"
"""Reasons that no policy has: a user holds the job, or its last start has failed."""
_STATES = {Stage.INTENDED: "STARTING", Stage.SENT: "STARTING", Stage.RUNNING: "RUNNING", Stage.STOPPING: "STOPPING"}


QUEUED = (
    *("job_id", "name", "user", "partition", "queue", "account", "gpus", "nodes", "time_limit_s", "preemptible"),
    *("state", "reason", "run_s", "started_s", "attempt", "node_list"),
)
"""What is said of a job that has not ended."""
_WAITS: Row = {"state": "PENDING", "reason": "", "run_s": 0.0, "started_s": None, "attempt": None, "node_list": ""}
"""The fields of a job that waits, but for why."""


class Views:
    """Everything is looked up when it is asked for, between two turns."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self._asked_of: dict[int, Row] = {}
        """What the jobs that have not ended ask for, by their numbers."""
        self._widest = int(daemon.roster.prepared.layout.node_gpus.max())

    # -- jobs ---------------------------------------------------------------------------------------------

    def queue(self) -> list[Row]:
        """Jobs that have not ended: those that run first, then in the order of submission."""
        return [*self.queue_by_number().values()]

    def queue_by_number(self) -> dict[int, Row]:
        """The queue by our numbers."""
        loop, now_ms, asked_of = self.daemon.loop, self.daemon.clock.now_ms(), self._asked_of
        self._asked_of = {k: asked_of.get(k) or self._request_of(k, job) for k, job in loop.jobs.items()}
        attempts = {k: attempt for k in sorted(loop.jobs) if (attempt := loop.attempt_of(k)) is not None}
        pending = sorted(loop.jobs.keys() - attempts.keys())
        reasons = self.reasons(pending)
        return {
            **{k: self._asked_of[k] | self._holds(attempt, now_ms) for k, attempt in attempts.items()},
            **{k: self._asked_of[k] | _WAITS | {"reason": reasons.get(k, "Priority")} for k in pending},
        }

    def columns_of_queue(self, names: Sequence[str]) -> list[list[Any]]:
        """The queue by columns: of each job only what is named, in that order.

        Raises:
            UsageError: there is no such column.
        """
        if unknown := [name for name in names if name not in QUEUED]:
            raise UsageError(f"jobs have no column {unknown[0]!r:.60} (there are {', '.join(QUEUED)})")
        if len(set(names)) < len(names):
            raise UsageError("a column is named twice")
        return [[row[name] for name in names] for row in self.queue()]

    def _holds(self, attempt: Attempt, now_ms: int) -> Row:
        """What is said of a job that has GPUs, besides what it asks for."""
        started = attempt.started_ms
        return _WAITS | {
            "state": _STATES[attempt.stage],
            "run_s": (now_ms - started) / 1000 if started is not None else 0.0,
            "started_s": self.unix_s(started),
            "attempt": attempt.id.attempt,
            "node_list": nodes_of(attempt.parts),
            "nodes": len(attempt.parts),
        }

    def _request_of(self, number: int, job: Job) -> Row:
        kind = job.kind
        return {
            "job_id": id_of(number, job),
            "name": job.name,
            "user": kind.user or user_name(job.uid),
            "partition": kind.partition or "",
            "queue": kind.queue or "",
            "account": kind.account or "",
            "gpus": kind.gpus,
            "nodes": nodes_asked(kind, self._widest),
            "time_limit_s": job.limit_ms / 1000 if job.limit_ms else None,
            "preemptible": not job.ask.pinned,
        }

    def reasons(self, pending: Iterable[int]) -> dict[int, str]:
        """Why each job waits, in a word."""
        loop, world = self.daemon.loop, self.daemon.loop.world
        room, fits = Room(world.simulation, world.prepared), unit(PYTHON_API).fits
        jobs, address = world.simulation.handle.jobs, world.simulation.handle.address
        by_class: dict[int, str] = {}
        reasons = dict.fromkeys(loop.pauses.ends_ms(), PAUSED) | dict(loop.holds())
        there = [job for job in pending if job not in reasons and job in world.slots]
        slots = [world.slots[job] for job in there]
        for job, j, cls in zip(there, slots, jobs["cls"][slots].tolist(), strict=True):
            if cls not in by_class:
                by_class[cls] = (Reason.Priority if fits(address, cls) else room.reason(jobs[j])[0]).name
            reasons[job] = by_class[cls]
        return reasons

    def job(self, number: int) -> Row:
        """All that is known of one job, which there is."""
        record = self.daemon.store.archive.record_of_job(number)
        assert record is not None
        job = job_of(record["spec"])
        attempts = [self._attempt_row(row) for row in self.daemon.store.archive.attempts_of([number])[number]]
        row = self._request_of(number, job)
        if record["end_ms"] is not None:
            row |= {"state": record["state"], "reason": ""}
        elif (alive := self.daemon.loop.attempt_of(number)) is not None:
            row |= self._holds(alive, self.daemon.clock.now_ms())
        else:
            row |= _WAITS | {"reason": self.reasons([number]).get(number, "Priority")}
        return row | {
            "submitted_s": self.unix_s(record["submit_ms"]),
            "ended_s": self.unix_s(record["end_ms"]),
            "progress": self.daemon.backend.progress(number) if record["end_ms"] is None else None,
            "command": list(job.command),
            "folder": job.folder,
            "output": output_of(job, number, len(attempts)),
            "environment": dict(job.environment),
            "uid": job.uid,
            "attempts": attempts,
        }

    def _attempt_row(self, row: Any) -> Row:
        parts = parts_of(row["parts"])
        return {
            "attempt": row["attempt"],
            "state": row["stage"],
            "cause": row["cause"],
            "node_list": nodes_of(parts),
            "gpus": {node: gpus_in(mask) for node, mask in parts},
            "decided_s": self.unix_s(row["intended_ms"]),
            "started_s": self._begun_s(row),
            "ended_s": self._ended_s(row),
            "exit_code": row["exit_code"],
            "exit_signal": row["exit_signal"],
            "detail": row["detail"],
        }

    def history(self, most: int, user: str | None) -> list[Row]:
        """Jobs that have ended, the last first, read beside the daemon's thread.

        Raises:
            UsageError: there is no such user.
        """
        with reading(self.daemon.store.path) as archive:
            ended = archive.ended_jobs(most, None if user is None else user_number(user))
            rows = {record["id"]: self._ended_row(record) for record in ended}
            attempts = archive.attempts_of([*rows])
        return [row | self._of_attempts(row, attempts[number]) for number, row in rows.items()]

    def _ended_row(self, record: Any) -> Row:
        return self._request_of(record["id"], job_of(record["spec"])) | {
            "state": record["state"],
            "submitted_s": self.unix_s(record["submit_ms"]) or 0.0,
            "ended_s": self.unix_s(record["end_ms"]) or 0.0,
        }

    def _of_attempts(self, row: Row, attempts: list[Any]) -> Row:
        ran = [(self._begun_s(a) or 0.0, self._ended_s(a) or 0.0, a) for a in attempts if a["started_ms"] is not None]
        last = ran[-1][2] if ran else {"exit_code": None, "exit_signal": None}
        ended_s = row["ended_s"]
        return {
            "started_s": ran[0][0] if ran else None,
            "ended_s": ran[-1][1] if ran else ended_s,
            "wait_s": max(0.0, (ran[0][0] if ran else ended_s) - row["submitted_s"]),
            "run_s": sum(max(0.0, ended - begun) for begun, ended, _ in ran),
            "attempts": len(attempts),
            "preemptions": sum(a["cause"] == Cause.PREEMPT for a in attempts[:-1]),  # not if it was done meanwhile
            "exit_code": last["exit_code"],
            "exit_signal": last["exit_signal"],
        }

    # -- nodes and the rest -------------------------------------------------------------------------------

    def nodes(self) -> list[Row]:
        """Every node, with its GPUs."""
        layout, loop = self.daemon.roster.prepared.layout, self.daemon.loop
        used: dict[str, int] = dict.fromkeys(self.daemon.node_names, 0)
        for attempt in loop.attempts.values():
            for node, mask in attempt.parts:
                used[node] += mask.bit_count()
        known, reasons = self.daemon.store.nodes(), loop.node_reasons | self.daemon.store.reasons_of_nodes()
        types = [layout.gpu_types[kind] for kind in layout.node_gpu_type.tolist()]
        return [
            {
                "node": name,
                "state": known.get(name, NodeState.UP).name,
                "gpu_type": gpu_type,
                "gpus": int(gpus),
                "gpus_allocated": used[name],
                "partitions": ",".join(sorted(partitions)),
                "reason": reasons.get(name, ""),
            }
            for name, gpu_type, gpus, partitions in zip(
                self.daemon.node_names, types, layout.node_gpus, layout.node_partitions, strict=True
            )
        ]

    def status(self) -> Row:
        """The daemon, the policy and the cluster in a few numbers."""
        loop, deciding = self.daemon.loop, self.daemon.roster.deciding
        stages = [attempt.stage for attempt in loop.attempts.values()]
        gpus = int(np.sum(self.daemon.roster.prepared.layout.node_gpus))
        due_ms = loop.due_ms
        return {
            "policy": deciding.policy,
            "params": dict(deciding.params),
            "decides": loop.world.simulation.policy.name,
            "gpus": gpus,
            "gpus_allocated": sum(m.bit_count() for a in loop.attempts.values() for _, m in a.parts),
            "pending": len(loop.jobs) - len(stages),
            "running": stages.count(Stage.RUNNING),
            "starting": stages.count(Stage.INTENDED) + stages.count(Stage.SENT),
            "stopping": stages.count(Stage.STOPPING),
            "turns": loop.turns,
            "state": str(self.daemon.setting.folder.resolve()),
            "next_decision_s": self.unix_s(due_ms) if due_ms < NEVER_MS else None,
            "starts_promised": loop.promises.started,
            "starts_as_promised": loop.promises.kept,
            "alarms": [f"{self.instant(at_ms)} {said}" for at_ms, said in loop.alarms.last],
        }

    def _begun_s(self, row: Any) -> float | None:
        """When an attempt began, really if that is known."""
        return self.unix_s(row["started_ms"] if row["real_start_ms"] is None else row["real_start_ms"])

    def _ended_s(self, row: Any) -> float | None:
        return self.unix_s(row["ended_ms"] if row["real_end_ms"] is None else row["real_end_ms"])

    def unix_s(self, at_ms: int | None) -> float | None:
        """What the wall clock showed, or will show, at a time of the store."""
        return None if at_ms is None else self.daemon.clock.unix_ms(at_ms) / 1000

    def instant(self, at_ms: int) -> str:
        """Renders a time as a person writes it."""
        from datetime import datetime

        return datetime.fromtimestamp(self.daemon.clock.unix_ms(at_ms) / 1000).strftime("%Y-%m-%d %H:%M:%S")


@lru_cache(1 << 14)
def nodes_of(parts: Parts) -> str:
    """Their names in Slurm's notation."""
    return compress(node for node, _ in parts)


def nodes_asked(kind: Kind, widest: int) -> int:
    """How many nodes a job needs at least, of which the largest has `widest` GPUs."""
    return kind.nodes_requested or -(-kind.gpus // (kind.gpus_per_node or widest))


def output_of(job: Job, number: int, attempt: int) -> str:
    """The file to which its last attempt writes; nothing if another scheduler runs it."""
    if job.shown:
        return ""  # its own scheduler knows
    name = output_name(job.output, AttemptId(number, attempt))
    return name if name.startswith("/") else f"{job.folder.rstrip('/')}/{name}"
