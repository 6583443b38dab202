"""What is advised to another scheduler, by the nice values of jobs that wait; all of it can be taken back."""

import asyncio
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from pointsman.errors import BackendError, PointsmanError
from pointsman.live.backends.facts import Refused, Unsure
from pointsman.live.observe.priorities import Standing, nice_values
from pointsman.live.observe.sight import Present, SeenJob
from pointsman.live.records.store import Store

TAKEN_BACK: Final = "its own again"
"""In the audit table."""
MINUTE_MS: Final = 60_000
MOST_UNHEEDED: Final = 2
"""A job that has not taken this many nice values is left alone."""
_MOST_NAMED: Final = 3
"""Jobs that an error names."""
_KEEP: Final = """
INSERT INTO advised (unit, nice_before, nice_last, nice, at_ms) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (unit) DO UPDATE SET nice_last = excluded.nice_last, nice = excluded.nice, at_ms = excluded.at_ms
"""
_CHANGED: Final = """
SELECT count(*) FROM (SELECT at_ms FROM audit WHERE verb = 'nice' ORDER BY seq DESC LIMIT ?) WHERE at_ms > ?
"""
_AUDITED: Final = re.compile(r"-?\d+ to (?P<nice>-?\d+), ")
LATELY_MS: Final = 600_000
"""Slurm's controller saves what it has acknowledged far sooner."""
_SET_LATELY: Final = """
SELECT unit, detail FROM (SELECT * FROM audit ORDER BY seq DESC LIMIT 2000) AS lately JOIN advised ON target = unit
  WHERE verb = 'nice' AND lately.at_ms > advised.at_ms - ?
"""


@dataclass(frozen=True)
class Scope:
    """What may be changed."""

    partitions: frozenset[str] = frozenset()
    """Those of the jobs; none: all."""
    accounts: frozenset[str] = frozenset()
    """None: all."""
    most_a_minute: int = 30
    """Changes."""

    def names(self, jobs: Iterable[SeenJob]) -> set[str]:
        """What those of these jobs are called whose priorities may be changed, by themselves and with their arrays."""
        found = [job for job in jobs if self.has(job)]
        return {name for job in found for name in (job.unit, job.shown, _array_of(job.shown))}

    def has(self, job: SeenJob) -> bool:
        """Whether the priority of a job may be changed."""
        partitions = {*(job.kind.partition or "").split(",")}
        return (not self.partitions or partitions <= self.partitions) and (
            not self.accounts or job.kind.account in self.accounts
        )


class Advice(NamedTuple):
    """A nice value that is to be set."""

    unit: str
    target: str
    before: int
    """That it has now."""
    nice: int


class Advised(Protocol):
    """The scheduler that takes advice."""

    def present(self) -> Sequence[Present]:
        """The nice values of all that have not ended, as it is asked now.

        Raises:
            Unsure: it did not answer. PointsmanError: a person must mend something.
        """
        ...

    def keep_held(self) -> None:
        """What is held is held still, although its nice value was set.

        Raises:
            Refused, Unsure: some may not be. PointsmanError: a person must mend something.
        """
        ...

    def set_nice(self, target: str, nice: int) -> None:
        """Lower the priority of what waits by so much, compared with what it has of its own.

        Raises:
            Refused: it is not changed: it has ended, or this user may not. Unsure: it may be, or not.
        """
        ...


class _Kept(NamedTuple):
    before: int
    last: int
    nice: int
    lately: frozenset[int] = frozenset()
    """What we had set before, which is there again if a controller was killed that had not saved the others."""

    def is_ours(self, nice: int) -> bool:
        """Whether we have set that, or may not have set another yet; else somebody else has."""
        return nice in (self.last, self.nice) or nice in self.lately


@dataclass
class Adviser:
    """What has been changed is in the store, and in its audit table before it is done."""

    store: Store
    scope: Scope
    _done_ms: deque[int] = field(default_factory=deque)
    """When changes were done, as far as that was within a minute."""
    _set: dict[str, int] = field(default_factory=dict)
    """The nice values that were set since the last plan, by unit."""
    _gone_ms: dict[str, int] = field(default_factory=dict)
    """Since when units are not there any more."""
    _unheeded: Counter[str] = field(default_factory=Counter)
    """How often that of a unit was not seen to be so after that."""

    def note_done(self, done: Iterable[Advice], now_ms: int) -> None:
        """These were set, up to now."""
        self._set |= {one.unit: one.nice for one in done}
        self._done_ms.extend(now_ms for _ in done)

    def count_theirs(self, jobs: Iterable[SeenJob]) -> int:
        """How many of these have nice values that somebody else has set, after we have set others."""
        kept = _read(self.store)
        return sum((row := kept.get(job.unit)) is not None and not row.is_ours(job.nice) for job in jobs)

    def plan(self, order: Sequence[SeenJob], alive: Collection[str], policy: str, now_ms: int) -> list[Advice]:
        """What brings jobs that wait into the order of a policy; no more than may be changed in this minute, the jobs
        that are to start first before others. Within a turn of the store, which keeps it. `alive`: what jobs that have
        not ended are called.
        """
        jobs: dict[str, SeenJob] = {}
        for job in order:
            if self.scope.has(job) and job.priority > 0:  # else it is held
                jobs.setdefault(job.unit, job)
        self._forget_ended(alive, now_ms)
        kept = _read(self.store)
        self._note_set(kept, jobs)
        free = {unit: job for unit, job in jobs.items() if self._is_free(job, _row_of(kept, unit))}
        changes = nice_values([*free], {unit: Standing(job.priority, job.nice) for unit, job in free.items()})
        advice = [Advice(unit, free[unit].target, free[unit].nice, changes[unit]) for unit in free if unit in changes]
        return self._keep(advice[: self._budget(now_ms)], kept, policy, now_ms)

    def _forget_ended(self, alive: Collection[str], now_ms: int) -> None:
        """What ended a while ago has no priority that matters; an array is there as long as a task is. A controller
        that is killed may forget that a job has ended.
        """
        there = {*alive} | {_array_of(name) for name in alive}
        units = self.store.connection.execute("SELECT unit FROM advised")
        self._gone_ms = {unit: self._gone_ms.get(unit, now_ms) for (unit,) in units if unit not in there}
        gone = [(unit,) for unit, since_ms in self._gone_ms.items() if now_ms - since_ms > LATELY_MS]
        self.store.connection.executemany("DELETE FROM advised WHERE unit = ?", gone)

    def _note_set(self, kept: Mapping[str, _Kept], jobs: Mapping[str, SeenJob]) -> None:
        """What is seen to be as we have set it: from now on all else is somebody else's."""
        for unit in [unit for unit in self._set if unit in jobs]:
            self._unheeded[unit] += self._set.pop(unit) != jobs[unit].nice
        seen = [(unit,) for unit, row in kept.items() if unit in jobs and jobs[unit].nice == row.nice != row.last]
        self.store.connection.executemany("UPDATE advised SET nice_last = nice WHERE unit = ?", seen)

    def _is_free(self, job: SeenJob, row: _Kept | None) -> bool:
        """Whether somebody else has said nothing of its nice value, nor of its priority: Slurm takes none then."""
        return (row is None or row.is_ours(job.nice)) and self._unheeded[job.unit] < MOST_UNHEEDED

    def _budget(self, now_ms: int) -> int:
        most, since_ms = self.scope.most_a_minute, now_ms - MINUTE_MS
        while self._done_ms and self._done_ms[0] <= since_ms:
            self._done_ms.popleft()
        planned = int(self.store.connection.execute(_CHANGED, (most, since_ms)).fetchone()[0])
        return max(0, most - max(planned, len(self._done_ms)))

    def _keep(self, planned: list[Advice], kept: Mapping[str, _Kept], policy: str, now_ms: int) -> list[Advice]:
        for unit, _, last, nice in planned:
            row = _row_of(kept, unit)
            self.store.connection.execute(_KEEP, (unit, last if row is None else row.before, last, nice, now_ms))
            self.store.note_order(now_ms, -1, "nice", unit, f"{last} to {nice}, the order of {policy}")
        return planned


async def hand_back(store: Store, advised: Advised, now_ms: int, stay: Collection[str] = ()) -> None:
    """All jobs that have not ended have their own nice values again, but those that somebody else has changed since,
    and those that `stay` as they are.

    Raises:
        BackendError: some have not, or it cannot be known.
    """
    errors: dict[str, Exception] = {}
    for is_last in (False, False, True):  # what fails may have been done, or have ended: it is looked at again
        try:
            present = await asyncio.to_thread(advised.present)
        except (Unsure, PointsmanError) as error:
            raise BackendError(f"it is not known which jobs have their own nice values again: {error}") from None
        over = {one.unit for one in present if one.ends and isinstance(errors.get(one.unit), Refused)}
        left = [one for one in _to_take_back(store, present, stay) if one.unit not in over]
        if not left or is_last:
            break
        errors |= await set_all(advised, left)
    _note_taken_back(store, {*stay} | {name for one in left for name in (one.unit, _array_of(one.unit))}, now_ms)
    if left:
        named = ", ".join(
            f"{one.unit} ({errors.get(one.unit, 'it was set, and is not so')})" for one in left[:_MOST_NAMED]
        )
        raise BackendError(f"{len(left)} jobs do not have their own nice values: {named}; try again")


async def set_all(advised: Advised, advice: Sequence[Advice]) -> dict[str, Exception]:
    """Have all that is advised set; by unit, what went wrong."""
    errors: dict[str, Exception] = {}
    for one in advice:
        try:
            await asyncio.to_thread(advised.set_nice, one.target, one.nice)
        except (Refused, Unsure, PointsmanError) as error:
            errors[one.unit] = error
    try:
        if advice:
            await asyncio.to_thread(advised.keep_held)
    except (Refused, Unsure, PointsmanError) as error:
        errors["jobs that are held"] = error
    return errors


def _to_take_back(store: Store, present: Sequence[Present], stay: Collection[str]) -> list[Advice]:
    """What still has nice values that we have set."""
    kept = {unit: row for unit, row in _read(store).items() if unit not in stay}
    rows = [(one, row) for one in present if (row := _row_of(kept, one.unit)) is not None]
    return [
        Advice(one.unit, one.target, one.nice, row.before)
        for one, row in rows
        if row.is_ours(one.nice) and one.nice != row.before
    ]


def _note_taken_back(store: Store, stay: Collection[str], now_ms: int) -> None:
    """All but these are as if they had never been changed."""
    with store.turn():
        for unit in [unit for unit in _read(store) if unit not in stay]:
            store.connection.execute("DELETE FROM advised WHERE unit = ?", (unit,))
            store.note_order(now_ms, -1, "nice", unit, TAKEN_BACK)


def _read(store: Store) -> dict[str, _Kept]:
    rows = store.connection.execute("SELECT unit, nice_before, nice_last, nice FROM advised ORDER BY unit")
    lately: dict[str, set[int]] = {}
    for row in store.connection.execute(_SET_LATELY, (LATELY_MS,)):
        if (found := _AUDITED.match(row["detail"])) is not None:
            lately.setdefault(row["unit"], set()).add(int(found["nice"]))
    return {
        row["unit"]: _Kept(row["nice_before"], row["nice_last"], row["nice"], frozenset(lately.get(row["unit"], ())))
        for row in rows
    }


def _row_of(kept: Mapping[str, _Kept], unit: str) -> _Kept | None:
    """What was changed of it: as a task of an array it may have been changed with the others."""
    return kept.get(unit) or kept.get(_array_of(unit))


def _array_of(name: str) -> str:
    """``8`` of ``8_4``; the name itself of any other."""
    return name.partition("_")[0]
