"""A look at a cluster that Slurm runs, by what its commands print. It needs reading rights only.

A look asks `squeue` and `sinfo`, which is four requests of the controller. The configuration is asked (two more) at the
first look, now and then, after trouble, and where a job is missing. The details of a job, such as the indexes of its
GPUs, are asked when it is first seen waiting and first seen with nodes: two requests a job, or one for all.
"""

import math
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from pointsman.live.backends.facts import Phase, Unsure
from pointsman.live.backends.slurm.answers.accounting import OPTIONS, read_runs
from pointsman.live.backends.slurm.answers.json_answers import read_jobs_json
from pointsman.live.backends.slurm.answers.queue import QUEUE, read_queue
from pointsman.live.backends.slurm.answers.scontrol import read_controller, read_job
from pointsman.live.backends.slurm.answers.sinfo import NODES, read_sinfo
from pointsman.live.backends.slurm.answers.table import new_mark
from pointsman.live.backends.slurm.commands import Answer, Commands, Load
from pointsman.live.backends.slurm.controller_clock import ControllerClock
from pointsman.live.backends.slurm.pace import Pace
from pointsman.live.backends.slurm.records import (
    Controller,
    EndedRun,
    NodeGpus,
    SlurmJob,
    SlurmNode,
    SlurmPartition,
    Snapshot,
)
from pointsman.live.backends.slurm.rights import check_sees_all

_NO_ACCOUNTS: Final = "accounting storage is disabled"


@dataclass(frozen=True)
class Habits:
    """When a look asks more than `squeue` and `sinfo`."""

    settled_s: float = 10.0
    """After its boot a controller is believed that a job is gone: it may not have read its state before."""
    config_s: float = 60.0
    """Between two questions for the configuration, if nothing else calls for one."""
    alone: int = 4
    """Details of more jobs than this are asked for all jobs at once."""
    most_alone: int = 20
    """Details asked in one look where all at once is not possible."""
    json_s: float = 600.0
    """After a question for all at once that failed, until the next one."""


class _Run(NamedTuple):
    """What details of a job are valid for."""

    number: int
    submit_unix_s: int | None
    restarts: int
    held: tuple[str, ...]


class _Details(NamedTuple):
    held: tuple[NodeGpus, ...]
    excluded_nodes: tuple[str, ...] | None


class Reader:
    """Looks at the cluster again and again, and remembers what need not be asked twice.

    Args:
        commands: how Slurm is asked.
        pace: learns how long it takes; `pace.interval_s` is when to look again.
        habits: when more is asked.
    """

    def __init__(self, commands: Commands, pace: Pace | None = None, habits: Habits | None = None) -> None:
        self.pace = pace or Pace()
        self._commands, self._habits = commands, habits or Habits()
        self._controller: Controller | None = None
        self._clock = ControllerClock()
        self._asked_s = 0.0
        self._troubled, self._failed_s = False, -math.inf
        self._living: frozenset[int] = frozenset()
        self._ended: frozenset[int] = frozenset()
        self._details: dict[_Run, _Details] = {}
        self._json_again_s = 0.0

    def remembers_since_s(self) -> float:
        """Since when the controller has forgotten nothing, by `time.monotonic`, to a second: it has not booted since,
        and has always answered. Another that takes over may have booted long before.
        """
        return max(self._failed_s, time.monotonic() - self._clock.up_s())

    def load(self) -> dict[str, Load]:
        """What looking asks of the controller, by the command."""
        return self._commands.load()

    def look(self, expected: Collection[int] = ()) -> Snapshot:
        """Everything, now.

        Args:
            expected: numbers of jobs that should be there; if one is not, the controller is asked when it booted.

        Raises:
            Unsure: it could not be asked, or did not answer whole. UsageError, BackendError: a person must mend it.
        """
        begun_s = time.monotonic()
        try:
            found = self._look(frozenset(expected), begun_s)
        except Unsure:
            self._troubled, self._failed_s = True, time.monotonic()
            self.pace.note(time.monotonic() - begun_s)
            raise
        self._troubled = False
        return found

    def job(self, id_: int | str) -> SlurmJob:
        """One job, or task of an array, with all details, asked now.

        Raises:
            Unsure: there is no such job, or no answer.
        """
        return read_job(self._commands.ask("scontrol", "--local", "-d", "show", "job", str(id_)).text)

    def ended(self, ids: Collection[str]) -> list[EndedRun] | None:
        """The runs of these jobs, as the accounts have them; None if no accounts are kept.

        Raises:
            Unsure: no answer.
        """
        command = ("sacct", *OPTIONS, f"--jobs={','.join(ids)}")
        answer = self._commands.run(*command)
        if _NO_ACCOUNTS in answer.errors.casefold():
            return None
        if answer.code != 0 or answer.errors:
            raise Unsure(f"sacct failed with {answer.code}: {answer.errors:.200}")
        return read_runs(answer.text)

    def _look(self, expected: frozenset[int], begun_s: float) -> Snapshot:
        jobs, of_jobs = self._ask_jobs()
        nodes, partitions, of_nodes = self._ask_nodes()
        missing = (self._living | expected) - {job.number for job in jobs}
        was_set = self._clock.seems_set(jobs, begun_s)
        ended = frozenset(job.number for job in jobs if job.phase == Phase.ENDED)
        waits_again = bool(self._ended & {job.number for job in jobs if job.phase != Phase.ENDED})
        self._ended = ended
        controller = self._ask_controller(at_once=bool(missing) or was_set or waits_again)
        self.pace.note(max(of_jobs.took_s, of_nodes.took_s))
        jobs = self._with_details(jobs)
        unix_s = self._clock.unix_s(begun_s)
        doubts = (*self._doubts(controller), *_complaints(of_jobs, of_nodes))
        living = frozenset(job.number for job in jobs if job.phase != Phase.ENDED)
        self._living = living if not doubts else self._living | living
        return Snapshot(unix_s, tuple(jobs), tuple(nodes), tuple(partitions), controller, doubts, self._clock.skew_s())

    def _ask_jobs(self) -> tuple[list[SlurmJob], Answer]:
        return ask_jobs(self._commands, "--states=all")

    def _ask_nodes(self) -> tuple[list[SlurmNode], list[SlurmPartition], Answer]:
        mark = new_mark()
        answer = self._commands.ask("sinfo", "--local", "--all", "--Node", NODES.format(mark))
        return *read_sinfo(answer.text, mark), answer

    # -- the controller -----------------------------------------------------------------------------------

    def _ask_controller(self, *, at_once: bool) -> Controller:
        """The controller, asked again if that may matter: after the jobs, so that a boot in between is noticed."""
        old = time.monotonic() > self._asked_s + self._habits.config_s
        if self._controller is None or old or self._troubled or at_once:
            asked_s = time.monotonic()
            controller = read_controller(self._commands.ask("scontrol", "--local", "show", "config").text)
            self._clock.hear(controller, asked_s)
            check_sees_all(self._commands, controller)
            self._controller, self._asked_s = controller, time.monotonic()
        return self._controller

    def _doubts(self, controller: Controller) -> Iterator[str]:
        if (up_s := self._clock.up_s()) < self._habits.settled_s:
            yield f"the controller booted {up_s:.0f} s ago, and may have forgotten jobs"

    # -- details ------------------------------------------------------------------------------------------

    def _with_details(self, jobs: Sequence[SlurmJob]) -> list[SlurmJob]:
        """The jobs with the indexes of their GPUs and their excluded nodes, as far as those are known."""
        runs = {_run(job): job for job in jobs if job.phase != Phase.ENDED or _run(job) in self._details}
        self._details = {run: self._details[run] for run in runs if run in self._details}
        new = [job for run, job in runs.items() if run not in self._details]
        if len(new) > self._habits.alone and time.monotonic() >= self._json_again_s:
            self._learn(self._all_details())
        left = [job for job in new if _run(job) not in self._details]
        for job in left[: self._habits.most_alone]:
            self._learn(self._ask_details(job))
        return [self._add_details(job) for job in jobs]

    def _learn(self, found: Sequence[SlurmJob]) -> None:
        self._details |= {_run(job): _Details(job.held, job.excluded_nodes) for job in found}

    def _all_details(self) -> list[SlurmJob]:
        """All jobs in one request; none where Slurm has no JSON of which anything can be read, or failed for once: that
        is not tried again soon.
        """
        answer = self._commands.run("squeue", "--local", "--all", "--json")
        with suppress(Unsure):
            if answer.code == 0:
                return read_jobs_json(answer.text)
        self._json_again_s = time.monotonic() + self._habits.json_s
        return []

    def _ask_details(self, job: SlurmJob) -> list[SlurmJob]:
        """The job with all details, or as it is if they cannot be read; nothing if it has gone meanwhile."""
        answer = self._commands.run("scontrol", "--local", "-d", "show", "job", str(job.number))
        if answer.code != 0:
            return []
        with suppress(Unsure):
            return [read_job(answer.text, job.name)]
        return [job]

    def _add_details(self, job: SlurmJob) -> SlurmJob:
        known = self._details.get(_run(job))
        if known is None:
            return job
        return replace(job, held=known.held or job.held, excluded_nodes=known.excluded_nodes)


def ask_jobs(commands: Commands, *options: str) -> tuple[list[SlurmJob], Answer]:
    """All jobs that have not ended, or those that options say; tasks of an array together if nothing sets them apart.

    Raises:
        Unsure: no whole answer. UsageError, BackendError: a person must mend it.
    """
    mark = new_mark()
    answer = commands.ask("squeue", "--local", "--all", "--array-unique", *options, QUEUE.format(mark))
    return read_queue(answer.text, mark), answer


def _run(job: SlurmJob) -> _Run:
    return _Run(job.number, job.submit_unix_s, job.restarts, tuple(part.node for part in job.held))


def _complaints(*answers: Answer) -> Iterator[str]:
    """What succeeded and printed errors may not be whole."""
    for answer in answers:
        if answer.errors:
            yield f"Slurm answers with an error: {answer.errors:.200}"
