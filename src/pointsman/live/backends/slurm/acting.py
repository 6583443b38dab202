"""Attempts as jobs of Slurm, which their users submit: they wait in a partition that is down, the gate, and are moved
to nodes by name. Slurm runs them, and enforces their time limits.
"""

import math
import time
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from pointsman.cluster import Cluster
from pointsman.errors import PointsmanError
from pointsman.live.backends.facts import (
    AttemptId,
    Denied,
    Launch,
    Observation,
    Phase,
    Refused,
    Stop,
    Unsure,
)
from pointsman.live.backends.protocol import Patience
from pointsman.live.backends.slurm.array_tasks import target_of, task_ids
from pointsman.live.backends.slurm.as_facts import Mark, fact_of, node_fact
from pointsman.live.backends.slurm.changes import cancel, leave, let_start, move, requeue_and_hold
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.handing_back import HandingBack
from pointsman.live.backends.slurm.marks import Marks, Partitions
from pointsman.live.backends.slurm.pace import Pace
from pointsman.live.backends.slurm.reader import Reader
from pointsman.live.backends.slurm.records import SlurmJob, Snapshot

CHANGING_S: Final = 2.0
"""After changes have taken so long, the others wait for the next look."""
_NEVER: Final = ("", -math.inf)
"""It has not ended, as far as was seen."""
_BOOT_SLACK_S: Final = 2.0
"""When a controller booted is known to a second."""
BAD_PLACE: Final = "BadConstraints"
"""Slurm's reason for a job that its nodes can never run, such as those that it excludes; it holds the job then."""


class SlurmBackend:
    """Slurm's jobs are known again by their marks, which name the store in `folder`."""

    def __init__(
        self,
        cluster: Cluster,
        folder: Path,
        partitions: Partitions,
        commands: Commands | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.cluster, self.partitions = cluster, partitions
        layout = cluster.layout()
        self._declared: dict[str, int] = dict(zip(layout.node_names, layout.node_gpus.tolist(), strict=True))
        """GPUs by node."""
        self.patience = Patience(start_ms=120_000, lost_ms=60_000, stop_ms=120_000, blames=False)
        self._commands = commands or Commands()
        self.pace = pace or Pace()
        """When to look again."""
        self._reader = Reader(self._commands, self.pace)
        self._marks = Marks(folder, partitions)
        self._ahead: Snapshot | Unsure | None = None
        """What was seen of which is not observed yet, or why nothing was."""
        self._marked: list[tuple[Mark, SlurmJob]] = []
        """The jobs in it that were launched."""
        self.trouble = ""
        """Why the last look showed nothing; empty if it did."""
        self.failed = ""
        """Why a change was not made that a person may have to mend."""
        self._changing_s = 0.0
        """How long changes have taken since then."""
        self.is_behind = False
        """Whether changes wait for the next look, because others have taken so long."""
        self._passed: set[str] = set()
        """Jobs without GPUs that are left to Slurm."""
        self._ends: dict[AttemptId, tuple[str, float]] = {}
        """By attempt whose job is still listed: the state in which it ended, and when that was seen first."""
        self._living: dict[str, SlurmJob] = {}
        """Those that have not ended, by their ids; each task of an array."""

    @property
    def store(self) -> str:
        """The name of the store, which marks have."""
        return self._marks.store

    def remember(self, id_: str, attempt: AttemptId) -> None:
        """Another process has launched a job, which is known even if its mark is gone."""
        self._marks.remember(id_, attempt)

    def remember_end(self, attempt: AttemptId, state: str, seen_s: float) -> None:
        """Another process has seen that the job of an attempt had ended in a state, by `time.monotonic`."""
        self._ends[attempt] = state, seen_s

    def together(self) -> AbstractContextManager[None]:
        """Many changes are made at once meanwhile, by one thread."""
        return self._commands.together()

    def describe(self) -> Cluster:
        return self.cluster

    def look(self) -> Snapshot | None:
        """What is observed next, so that jobs that have come and what became of others are heard in one turn; None if
        Slurm does not answer.
        """
        self._changing_s, self.is_behind, self.trouble = 0.0, False, ""
        try:
            self._ahead = self._reader.look([job.number for _, job in self._marked])
        except (Unsure, PointsmanError) as error:  # it may pass: commands are being replaced, rights are given
            self.trouble = str(error)
            self._ahead = Unsure(self.trouble)
            return None
        return self._ahead

    @contextmanager
    def _change(self) -> Generator[None]:
        """Something is changed of Slurm's jobs, unless that has taken too long since the last look.

        Raises:
            Unsure: it has.
        """
        if self._changing_s > CHANGING_S:
            self.is_behind = True
            raise Unsure("Slurm is slow: the next look comes first")
        begun_s = time.monotonic()
        try:
            yield
        except (Refused, Unsure) as error:
            if isinstance(error, Unsure | Denied):
                self.failed = str(error)
            raise
        finally:
            self._changing_s += time.monotonic() - begun_s

    def observe(self) -> Observation:
        if self._ahead is None:
            self.look()
        seen, self._ahead = self._ahead, None
        assert seen is not None
        if isinstance(seen, Unsure):
            raise seen
        self._marks.recall(seen.jobs)
        self._marked = [(mark, job) for job in seen.jobs if (mark := self._marks.of(job)) is not None]
        self._note_ends(is_all=seen.complete)
        self._living = {id_: job for job in seen.jobs if job.phase != Phase.ENDED for id_ in task_ids(job.id)}
        ours = self._gpus_in_use()
        facts = tuple(fact_of(mark, job, is_back=self.partitions.has_at_gate(job)) for mark, job in self._marked)
        listed = {node.name: node for node in seen.nodes}
        nodes = tuple(node_fact(name, gpus, listed.get(name), ours[name]) for name, gpus in self._declared.items())
        return Observation(facts, nodes, seen.complete, round(1000 * seen.unix_s))

    def _note_ends(self, *, is_all: bool) -> None:
        """`is_all`: what is not listed now will not be listed again."""
        now_s = time.monotonic()
        if is_all:
            listed = {mark.attempt for mark, _ in self._marked}
            self._ends = {attempt: end for attempt, end in self._ends.items() if attempt in listed}
        for mark, job in self._marked:
            if job.phase == Phase.ENDED and self._ends.get(mark.attempt, _NEVER)[0] != job.state:
                self._ends[mark.attempt] = job.state, now_s

    def _is_to_run_again(self, attempt: AttemptId) -> bool:
        """Whether the job of an attempt that had ended waits because Slurm ended it with its node or partition, or
        because somebody has requeued it: not because its controller, which has booted since, has forgotten that.
        """
        state, seen_s = self._ends.get(attempt, _NEVER)
        return state == "NODE_FAIL" or self._reader.remembers_since_s() + _BOOT_SLACK_S < seen_s

    def _gpus_in_use(self) -> Counter[str]:
        """How many GPUs of each node our jobs have, or may have by now: nodes are asked a moment after jobs."""
        used: Counter[str] = Counter()
        for mark, job in self._marked:
            if job.phase == Phase.RUNNING:
                used.update(job.gpus_by_node)
            elif job.phase == Phase.ACCEPTED and job.restarts == mark.restarts:
                used.update(dict.fromkeys(job.required_nodes, job.gpus_each))
        return used

    def launch(self, launch: Launch) -> None:
        (id_,) = launch.command
        if any(mark.attempt == launch.id and not self.partitions.has_at_gate(job) for mark, job in self._marked):
            return  # it is there, or has ended
        with self._change():
            self._launch(launch, id_)

    def _launch(self, launch: Launch, id_: str) -> None:
        job = self._job(id_)
        mark = Mark(launch.id, job.restarts)
        comment = self._marks.comment(mark)
        launched = mark, replace(job, partitions=(self.partitions.target,), admin_comment=comment)
        before = self._marks.put(id_, mark)
        self._marked.append(launched)  # it may be there from now on, even if no answer comes
        try:
            move(self._commands, id_, self.partitions.target, [node for node, _ in launch.parts], comment)
        except Refused:
            if self._was_moved(id_, mark):  # by a request of which no answer came
                return
            self._marked.remove(launched)
            self._marks.put(id_, before)
            raise
        if job.priority == 0 or job.restarts > 0:
            let_start(self._commands, replace(job, id=id_))

    def _was_moved(self, id_: str, mark: Mark) -> bool:
        """Whether a job was moved by a request that was refused.

        Raises:
            Unsure: that cannot be known now.
        """
        try:
            job = self._reader.job(id_)
        except PointsmanError as error:  # commands are being replaced
            raise Unsure(str(error)) from None
        return self._marks.of(job) == mark and not self.partitions.has_at_gate(job)

    def _job(self, id_: str) -> SlurmJob:
        """As it was seen last.

        Raises:
            Refused: it is not there any more.
        """
        if id_ not in self._living:
            raise Refused(f"Slurm has no job {id_} that has not ended")
        return self._living[id_]

    def stop(self, attempt: AttemptId, how: Stop) -> None:
        for mark, job in self._marked:
            if mark.attempt == attempt:
                with self._change():
                    self._stop(mark, job)

    def _stop(self, mark: Mark, job: SlurmJob) -> None:
        if job.phase == Phase.ENDED:
            return
        if job.phase == Phase.ACCEPTED:
            if job.restarts > mark.restarts:
                return
            with suppress(Refused):  # it has begun meanwhile
                return move(self._commands, job.id, self.partitions.gate, [], "")
        with suppress(Refused):
            requeue_and_hold(self._commands, job.id)

    def forget(self, attempts: Iterable[AttemptId], jobs: Iterable[int]) -> None:
        gone = {*jobs}
        for mark, job in self._marked if gone else ():
            if mark.attempt.job in gone and job.phase == Phase.ACCEPTED and not self._is_to_run_again(mark.attempt):
                with suppress(Refused, Unsure), self._change():
                    cancel(self._commands, job.id)

    def pass_on(self, jobs: Iterable[SlurmJob]) -> None:
        """Jobs at the gate that take no GPUs are Slurm's to start, in its own order."""
        here = {job.id for job in jobs if self.partitions.has_at_gate(job) and job.gpus.total == 0}
        self._passed &= here
        for id_ in here - self._passed:
            with suppress(Unsure):
                with suppress(Refused), self._change():  # what is refused is not asked for again
                    leave(self._commands, target_of(id_), self.partitions.target)
                self._passed.add(id_)

    def take_back(self) -> list[SlurmJob]:
        """Jobs that Slurm cannot start where they were to run wait at the gate again."""
        odd = [job for _, job in self._marked if job.reason == BAD_PLACE and job.phase == Phase.ACCEPTED]
        for job in odd:
            with suppress(Refused, Unsure), self._change():
                move(self._commands, job.id, self.partitions.gate, [], job.admin_comment)
                let_start(self._commands, job)
        return odd

    def keep_at_gate(self) -> None:
        """What was requeued by others, be it because its node died, is not Slurm's to start again."""
        for mark, job in self._marked:
            waits = job.phase == Phase.ACCEPTED and job.priority > 0 and not self.partitions.has_at_gate(job)
            if waits and job.restarts > mark.restarts:
                with suppress(Refused, Unsure), self._change():
                    move(self._commands, job.id, self.partitions.gate, [], job.admin_comment)

    def hand_back(self) -> list[str]:
        """All jobs that wait are Slurm's to start, in its own order, and those that are being requeued once they wait.
        Which could not be handed back, and why.

        Raises:
            Unsure: Slurm does not answer.
        """
        return HandingBack(self._commands, self.partitions, self._marks).run()

    def progress(self, job: int) -> float | None:
        return None

    def close(self) -> None:
        """There is nothing to let go of."""
