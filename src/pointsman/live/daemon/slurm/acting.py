"""The owner of a cluster on which Slurm runs the jobs, and this daemon says which start, and where."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final

from pointsman.cluster.hostlist import compress
from pointsman.errors import BackendError, InputError, PointsmanError, UsageError
from pointsman.live.backends.facts import Phase, Unsure
from pointsman.live.backends.slurm.acting import BAD_PLACE, SlurmBackend
from pointsman.live.backends.slurm.array_tasks import beyond_limits, is_named
from pointsman.live.backends.slurm.other_daemons import OtherDaemons
from pointsman.live.backends.slurm.records import SlurmJob, Snapshot
from pointsman.live.control.loop import HELD, ControlLoop
from pointsman.live.control.orders import Changed, JobOrder, Order, UserOrder, Verb
from pointsman.live.daemon.daemon import Daemon
from pointsman.live.daemon.setting import ACTED, PARTITIONS
from pointsman.live.daemon.slurm.check import faults_of
from pointsman.live.daemon.slurm.faults import more_faults
from pointsman.live.daemon.slurm.gate import is_held, kind_at_gate, may_preempt, throttle
from pointsman.live.daemon.slurm.instead import HANDS_BACK, SUBMIT, refuse
from pointsman.live.daemon.slurm.lasting import Lasting, miscounted
from pointsman.live.daemon.submission import Submission
from pointsman.live.observe.inventory import describe_changes
from pointsman.live.observe.loop import LATELY_MS
from pointsman.live.observe.sight import SeenJob
from pointsman.live.observe.slurm.sighting import Sighting
from pointsman.live.records.job import Job
from pointsman.live.world.kind import Kind
from pointsman.types import JobState

TROUBLE_S: Final = 15.0
"""After Slurm has not answered for so long, an alarm says so."""
SLACK_MS: Final = 600_000
"""Slurm ends a job that has run for as long as it may; if it has not after so much longer, the daemon has it end."""
REQUEUED_MS: Final = 7 * 86_400_000
"""No daemon is down for longer while jobs that ended before are requeued."""
_BY_USER: Final = ("", HELD, "JobHeldAdmin")


class ActingLoop(ControlLoop):
    """Jobs at the gate may wait for more than their users."""

    reasons: Mapping[int, str] = {}
    """Slurm's words for why jobs cannot start yet."""

    def act(self) -> None:
        """Nothing yet: Slurm is asked after the turn."""

    def carry_out(self) -> None:
        """What was intended, and is kept, is done; meanwhile there is no turn."""
        super().act()

    def holds(self) -> Mapping[int, str]:
        return {job: self.reasons.get(job, HELD) for job in self.held}

    def why_held(self, job: int) -> str:
        reason = self.reasons.get(job, "")
        return super().why_held(job) if reason in _BY_USER else f"Slurm may not start it yet: {reason}"


class ActingDaemon(Daemon):
    """Its jobs are those that wait at the gate; users submit, hold and cancel them by Slurm's commands."""

    sort = ACTED
    Loop = ActingLoop
    loop: ActingLoop  # ty: ignore

    def _recover(self) -> None:
        super()._recover()
        self.slurm: SlurmBackend = self.backend  # ty: ignore
        self._sighting, self._hands_back = Sighting(), False
        self._asking = asyncio.Lock()
        """Slurm is asked by one thread at a time."""
        self._snapshot: Snapshot | None = None
        """What Slurm listed last, if it answered."""
        self._odd: list[SlurmJob] = []
        """Jobs that it could not start."""
        self._rows: dict[str, int] = {}
        """Our numbers of the jobs that have not ended, by their keys."""
        self._sighting.recall(self.store.keys_since(self.loop.world.now_ms - LATELY_MS))
        for attempt in self.loop.attempts.values():
            self.slurm.remember(self.loop.jobs[attempt.id.job].command[0], attempt.id)
        self._recall_ends()
        self._left_out: dict[str, tuple[tuple[Kind, int | None, bool], str]] = {}
        """By key, what jobs ask for that cannot be placed, and why."""
        self._listed: Sequence[SlurmJob] = ()
        """What Slurm listed last."""
        self._seen_s, self._outage = time.monotonic(), ""
        self._faults: set[str] = set()
        """What is wrong with Slurm."""
        self._others, self._miscounted, self._doubted = OtherDaemons(self.slurm.store), Lasting(), Lasting()
        self._told: set[str] = set()
        """Sentences about jobs that are not placed, of which each is an alarm once."""
        with self.store.turn():
            self.store.keep_setting(PARTITIONS, json.dumps(asdict(self.slurm.partitions)))

    def _recall_ends(self) -> None:
        """A job that had ended before this daemon began, and was requeued since, is not stopped as one that its
        controller forgot.
        """
        now_s, now_ms = time.monotonic(), self.clock.now_ms()
        for attempt, state, ended_ms in self.store.last_ends(now_ms - REQUEUED_MS):
            self.slurm.remember_end(attempt, state.name, now_s - (now_ms - ended_ms) / 1000)

    async def submit(self, submission: Submission, uid: int) -> int:
        raise UsageError(f"this daemon starts jobs that are submitted to Slurm: use '{SUBMIT}'")

    def check_takes(self, order: UserOrder) -> None:
        if isinstance(order, JobOrder):
            refuse(order, self.loop.jobs[order.job].shown, "starts jobs that users keep in Slurm")

    async def hand_back(self) -> None:
        """All jobs that wait are Slurm's to start, in its own order; no more are launched.

        Raises:
            BackendError: some are not, or it cannot be known.
        """
        self._hands_back = True
        try:
            async with self._asking:
                failed = ", ".join(await asyncio.to_thread(self.slurm.hand_back))
            said = f"these jobs are not handed back: {failed}"
        except (Unsure, PointsmanError) as error:
            failed = str(error)
            said = f"nothing is handed back: {error}"
        if failed:
            self._alarm(HANDS_BACK)
            raise BackendError(f"{said}; {HANDS_BACK}")

    def why_left(self, id_: str) -> str:
        there = [job for job in self._listed if job.phase != Phase.ENDED and is_named(id_, job.id)]
        return f"job {id_} {self._why_left(there[0])}" if there else ""

    def _why_left(self, job: SlurmJob) -> str:
        if job.id in self._sighting.without_gpus:
            return "has no GPUs, and is left to Slurm"
        if not self.slurm.partitions.has_at_gate(job):
            return f"is in partition {','.join(job.partitions)}: only jobs at the gate, {self._gate}, are started here"
        stays = [why for key, (_, why) in self._left_out.items() if is_named(key.rpartition("@")[0], job.id)]
        return stays[-1] if stays else "has just come to the gate"

    @property
    def _gate(self) -> str:
        return self.slurm.partitions.gate

    def next_turn_s(self) -> float:
        """Longer while Slurm is slow: each turn asks it."""
        pace = self.slurm.pace
        return pace.interval_s if pace.interval_s > pace.least_s else super().next_turn_s()

    async def take_turn(self) -> None:
        """Slurm is asked beside the daemon's thread, which answers users meanwhile: it may be slow, or hang."""
        async with self._asking:
            if self._hands_back:
                self._send_back(HANDS_BACK)
                return await asyncio.sleep(self.setting.poll_s)
            seen_ms = self.clock.now_ms()
            await asyncio.to_thread(self._look)
            if not self._hands_back:
                self.turn(seen_ms)
                await asyncio.to_thread(self._carry_out)
        if self.slurm.is_behind:
            self._bell.set()

    def _look(self) -> None:
        """What Slurm lists, after which jobs that must wait do."""
        self._snapshot, self._odd = self.slurm.look(), []
        if self._snapshot is not None:
            with self.slurm.together():
                self.slurm.keep_at_gate()
                self.slurm.pass_on(self._snapshot.jobs)
                self._odd = self.slurm.take_back()

    def _carry_out(self) -> None:
        with self.slurm.together():
            self.loop.carry_out()

    def _bring(self) -> tuple[list[Job], list[Order]]:
        """Jobs that have come to the gate, and what their users did with those that wait."""
        self._tell_of_look()
        if self._snapshot is None:
            return [], []
        sight = self._sighting.sight(self._snapshot)
        if changed := describe_changes(sight.gpus, self.loop.world, self.node_names):
            self._alarm(changed)
        if self._snapshot.complete:
            self._left_out = {key: left for key, left in self._left_out.items() if key in sight.jobs}
        later = beyond_limits(self._snapshot.jobs, self.slurm.partitions.has_at_gate)
        seen = [throttle(one) if one.shown in later else one for one in sight.jobs.values()]
        self._rows = {job.request_key: row for row, job in self.loop.jobs.items() if job.request_key is not None}
        self.loop.reasons = {self._rows[one.key]: one.held for one in seen if one.held and one.key in self._rows}
        new = [one for one in seen if one.key not in self._rows and self._waits_at_gate(one)]
        jobs = [job for one in new if (job := self._job_of(one)) is not None]
        self.loop.discrepancies.note_came_again([job.shown for job in jobs], self.clock.now_ms())
        orders: list[Order] = [changed for one in seen if (changed := self._change(one)) is not None]
        return jobs, orders + [order for one in seen if (order := self._wish(one)) is not None]

    def _tell_of_look(self) -> None:
        """Alarms of what hinders jobs, each once."""
        now_s = time.monotonic()
        if self._snapshot is None:
            if now_s - self._seen_s > TROUBLE_S:
                self._outage = f"no job can start: {self.slurm.trouble}"
                self._alarm(self._outage)
            return
        self._seen_s, self._listed = now_s, self._snapshot.jobs
        lasting = (
            self._miscounted.look(miscounted(self._snapshot), now_s),
            self._doubted.look(self._snapshot.doubts, now_s),
        )
        faults = {
            *faults_of(self._snapshot, self.slurm.partitions),
            *more_faults(self._snapshot, self.slurm.partitions, self._others, *lasting),
        } - {""}
        self._told -= {self._outage, *(self._faults - faults)}  # each time that they come back is told
        self._faults = faults
        for fault in sorted(faults):
            self._alarm(fault)
        if self.slurm.failed:
            self._alarm(f"a job was not changed, which is tried again: {self.slurm.failed}")
            self.slurm.failed = ""
        for job in self._odd:
            where = f"on {compress(job.required_nodes)} ({BAD_PLACE})"
            self._alarm(f"job {job.id} cannot start {where}, and is tried again later: {self._to_slurm(job.id)}")

    def _alarm(self, said: str) -> None:
        if said not in self._told:
            self._told.add(said)
            with self.store.turn():
                self.loop.alarms.sound(said, self.clock.now_ms())

    def _to_slurm(self, shown: str) -> str:
        return f"'scontrol update JobId={shown} Partition={self.slurm.partitions.target}' leaves it to Slurm"

    def _job_of(self, seen: SeenJob) -> Job | None:
        """A job that waits at the gate; None if it cannot be placed, which is said once."""
        asked = seen.kind, seen.nodes, seen.names_nodes
        if seen.key in self._left_out and self._left_out[seen.key][0] == asked:
            return None
        try:
            kind = kind_at_gate(seen, self.slurm.partitions)
            number = self.roster.admit(kind)
        except InputError as error:
            stays = f"stays at the gate, because it cannot be placed: {error.cause} ({self._to_slurm(seen.target)})"
            self._left_out[seen.key] = asked, stays
            self._alarm(f"job {seen.target} {stays}")
            return None
        self._left_out.pop(seen.key, None)
        ask = self.roster.ask(number, limit_ms=seen.limit_ms, pinned=not self._may_preempt(seen, kind))
        return Job(
            ask, kind, number, seen.name, seen.limit_ms, SLACK_MS, held=is_held(seen),
            requeues=True, command=(seen.shown,), uid=seen.uid, request_key=seen.key, shown=seen.shown,
        )  # fmt: skip

    def _change(self, seen: SeenJob) -> Changed | None:
        """What a job asks for that is there, if that is something else now; of one that has GPUs, the time limit."""
        row = self._rows.get(seen.key)
        if row is None or seen.ended is not None:
            return None
        before = self.loop.jobs[row]
        if self.loop.attempt_of(row) is not None:
            is_same = seen.limit_ms == before.limit_ms
            return None if is_same else Changed(row, replace(before, limit_ms=seen.limit_ms))
        if not self._waits_at_gate(seen):
            return None
        if seen.key not in self._left_out and not self._asks_for_else(seen, before):
            return None
        asked = self._job_of(seen)
        return None if asked is None else Changed(row, asked)

    def _asks_for_else(self, seen: SeenJob, before: Job) -> bool:
        """Whether a job asks for anything else than it did `before`."""
        try:
            kind = kind_at_gate(seen, self.slurm.partitions)
        except InputError:
            return True
        now = kind, seen.limit_ms, seen.name, not self._may_preempt(seen, kind)
        return now != (before.kind, before.limit_ms, before.name, before.ask.pinned)

    def _waits_at_gate(self, seen: SeenJob) -> bool:
        return seen.ended is None and seen.run is None and seen.kind.partition == self._gate

    def _may_preempt(self, seen: SeenJob, kind: Kind) -> bool:
        return may_preempt(seen, kind, self.setting.preempts or frozenset())

    def _wish(self, seen: SeenJob) -> Order | None:
        row = self._rows.get(seen.key)
        if row is None:
            return None
        if seen.ended == JobState.CANCELLED or (seen.ended is not None and self.loop.attempt_of(row) is None):
            return JobOrder(Verb.CANCEL, row, seen.uid)
        stays = is_held(seen) or seen.key in self._left_out
        if self._waits_at_gate(seen) and stays != (row in self.loop.held):
            return JobOrder(Verb.HOLD if stays else Verb.RELEASE, row, seen.uid)
        return None
