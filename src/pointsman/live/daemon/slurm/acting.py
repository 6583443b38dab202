"""The owner of a cluster on which Slurm runs the jobs, and this daemon says which start, and where."""

import asyncio
import json
from dataclasses import asdict
from typing import Final

from pointsman.errors import BackendError, InputError, UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.acting import SlurmBackend
from pointsman.live.control.orders import JobOrder, Order, Verb
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.setting import ACTED, PARTITIONS
from pointsman.live.daemon.slurm.instead import SUBMIT, refuse
from pointsman.live.daemon.submission import Submission
from pointsman.live.observe.loop import LATELY_MS
from pointsman.live.observe.sight import SeenJob
from pointsman.live.observe.slurm.sighting import Sighting
from pointsman.live.records.job import Job
from pointsman.live.world.kind import Kind
from pointsman.types import JobState

ALL: Final = "*"
"""In place of the QOS whose jobs may be preempted: all of them."""
SLACK_MS: Final = 600_000
"""Slurm ends a job that has run for as long as it may; if it has not after so much longer, the daemon has it end."""


class ActingDaemon(Daemon):
    """Its jobs are those that wait at the gate; users submit, hold and cancel them by Slurm's commands."""

    sort = ACTED

    def _recover(self) -> None:
        super()._recover()
        self.slurm: SlurmBackend = self.backend  # ty: ignore
        self._sighting, self._hands_back = Sighting(), False
        self._rows: dict[str, int] = {}
        """Our numbers of the jobs that have not ended, by their keys."""
        self._sighting.recall(self.store.keys_since(self.loop.world.now_ms - LATELY_MS))
        for attempt in self.loop.attempts.values():
            self.slurm.remember(self.loop.jobs[attempt.id.job].command[0], attempt.id)
        self._left_out: set[str] = set()
        with self.store.turn():
            self.store.keep_setting(PARTITIONS, json.dumps(asdict(self.slurm.partitions)))

    async def submit(self, submission: Submission, uid: int) -> int:
        raise UsageError(f"this daemon starts jobs that are submitted to Slurm: use '{SUBMIT}'")

    def check_takes(self, order: Order) -> None:
        if isinstance(order, JobOrder):
            refuse(order, self.loop.jobs[order.job].shown, "starts jobs that users keep in Slurm")

    async def hand_back(self) -> None:
        """All jobs that wait are Slurm's to start, in its own order; no more are launched.

        Raises:
            BackendError: some are not, or it cannot be known.
        """
        self._hands_back = True
        try:
            failed = await asyncio.to_thread(self.slurm.hand_back)
        except Unsure as error:
            raise BackendError(f"nothing is handed back: {error}") from None
        if failed:
            raise BackendError(f"these jobs are not handed back: {', '.join(failed)}")

    def turn(self) -> None:
        if not self._hands_back:
            super().turn()

    def _bring(self) -> tuple[list[Job], list[Order]]:
        """Jobs that have come to the gate, and what their users did with those that wait."""
        snapshot = self.slurm.look()
        if snapshot is None:
            return [], []
        sight = self._sighting.sight(snapshot)
        self._rows = {job.request_key: row for row, job in self.loop.jobs.items() if job.request_key is not None}
        jobs = [job for seen in sight.jobs.values() if (job := self._job_at_gate(seen)) is not None]
        orders = [order for seen in sight.jobs.values() if (order := self._wish(seen)) is not None]
        return jobs, orders

    def _job_at_gate(self, seen: SeenJob) -> Job | None:
        if not self._waits_at_gate(seen) or seen.key in self._rows or seen.key in self._left_out:
            return None
        kind = self._kind_of(seen)
        try:
            if kind is None:
                raise InputError("it does not say how many GPUs it takes of each node")
            number = self.roster.admit(kind)
        except InputError as error:
            self._left_out.add(seen.key)
            with self.store.turn():
                said = f"job {seen.shown} stays at the gate, because it cannot be placed: {error.cause}"
                self.loop.alarms.sound(said, self.clock.now_ms())
            return None
        pinned = not (seen.requeues and self._may_preempt(kind.queue))
        ask = self.roster.ask(number, limit_ms=seen.limit_ms, pinned=pinned)
        limit_ms = None if seen.limit_ms is None else seen.limit_ms + SLACK_MS
        return Job(
            ask, kind, number, seen.name, limit_ms, held=_is_held(seen),
            requeues=not pinned, command=(seen.shown,), uid=seen.uid, request_key=seen.key, shown=seen.shown,
        )  # fmt: skip

    def _waits_at_gate(self, seen: SeenJob) -> bool:
        return seen.ended is None and seen.run is None and seen.kind.partition == self.slurm.partitions.gate

    def _may_preempt(self, qos: str | None) -> bool:
        """Whether jobs of a QOS may be preempted."""
        allowed = self.setting.preempts or frozenset()
        return ALL in allowed or qos in allowed

    def _kind_of(self, seen: SeenJob) -> Kind | None:
        """Its kind, in the partition in which it will run; None if Slurm would choose how many GPUs of each node."""
        kind = seen.kind._replace(partition=self.slurm.partitions.target)
        if kind.gpus_per_node is not None:
            return kind
        return kind._replace(nodes_requested=1, gpus_per_node=kind.gpus) if seen.nodes == 1 else None

    def _wish(self, seen: SeenJob) -> Order | None:
        row = self._rows.get(seen.key)
        if row is None:
            return None
        if seen.ended == JobState.CANCELLED or (seen.ended is not None and self.loop.attempt_of(row) is None):
            return JobOrder(Verb.CANCEL, row, seen.uid)
        if self._waits_at_gate(seen) and _is_held(seen) != (row in self.loop.held):
            return JobOrder(Verb.HOLD if _is_held(seen) else Verb.RELEASE, row, seen.uid)
        return None


def _is_held(seen: SeenJob) -> bool:
    """Whether its user, or anything but the gate, holds it."""
    return seen.held not in ("", "PartitionDown", "PartitionInactive")
