"""What is advised to another scheduler, by the nice values of jobs that wait; all of it can be taken back."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from pointsman.live.observe.priorities import Standing, nice_values
from pointsman.live.observe.sight import SeenJob
from pointsman.live.records.store import Store

MINUTE_MS: Final = 60_000
_KEEP: Final = """
INSERT INTO advised VALUES (?, ?, ?, ?)
ON CONFLICT (unit) DO UPDATE SET nice = excluded.nice, at_ms = excluded.at_ms
"""


@dataclass(frozen=True)
class Scope:
    """What may be changed."""

    partitions: frozenset[str] = frozenset()
    """Of jobs; none: all."""
    accounts: frozenset[str] = frozenset()
    """None: all."""
    most_a_minute: int = 30
    """Changes."""

    def has(self, job: SeenJob) -> bool:
        """Whether the priority of a job may be changed."""
        partitions = {*(job.kind.partition or "").split(",")}
        return (not self.partitions or partitions <= self.partitions) and (
            not self.accounts or job.kind.account in self.accounts
        )


class Advice(NamedTuple):
    """A nice value that is to be set."""

    unit: str
    before: int
    nice: int


class Advised(Protocol):
    """The scheduler that takes advice."""

    def set_nice(self, unit: str, nice: int) -> None:
        """Lower the priority of what waits by so much, compared with what it has of its own.

        Raises:
            Refused: it is not changed: it has begun or ended, or this user may not. Unsure: it may be, or not.
        """
        ...


@dataclass
class Adviser:
    """What has been changed is in the store, and in its audit table before it is done."""

    store: Store
    scope: Scope
    policy: str
    _changed_ms: deque[int] = field(default_factory=deque)

    def plan(self, order: Sequence[SeenJob], now_ms: int) -> list[Advice]:
        """What brings jobs that wait into the order of the policy; no more than may be changed in this minute, the jobs
        that are to start first before others. Within a turn of the store, which keeps it.
        """
        units: dict[str, Standing] = {}
        for job in order:
            if self.scope.has(job):
                units.setdefault(job.unit, Standing(job.priority, job.nice))
        mine = self._mine()
        self._let_go(mine, units)
        free = [unit for unit in units if unit not in mine or mine[unit] == units[unit].nice]  # else another set it
        changes = nice_values(free, units)
        planned = [Advice(unit, units[unit].nice, changes[unit]) for unit in free if unit in changes]
        return self._keep(planned[: self._budget(now_ms)], now_ms)

    def forget(self, failed: Sequence[Advice]) -> None:
        """These were not set; within a turn of the store."""
        for unit, before, _ in failed:
            self.store.connection.execute("DELETE FROM advised WHERE unit = ? AND nice_before = ?", (unit, before))
            self.store.connection.execute("UPDATE advised SET nice = ? WHERE unit = ?", (before, unit))

    def _mine(self) -> dict[str, int]:
        rows = self.store.connection.execute("SELECT unit, nice FROM advised")
        return {row["unit"]: row["nice"] for row in rows}

    def _let_go(self, mine: Mapping[str, int], waiting: Mapping[str, Standing]) -> None:
        """What waits no more has no priority that matters."""
        gone = [(unit,) for unit in mine if unit not in waiting]
        self.store.connection.executemany("DELETE FROM advised WHERE unit = ?", gone)

    def _budget(self, now_ms: int) -> int:
        while self._changed_ms and self._changed_ms[0] <= now_ms - MINUTE_MS:
            self._changed_ms.popleft()
        return max(0, self.scope.most_a_minute - len(self._changed_ms))

    def _keep(self, planned: list[Advice], now_ms: int) -> list[Advice]:
        self._changed_ms.extend(now_ms for _ in planned)
        for unit, before, nice in planned:
            self.store.connection.execute(_KEEP, (unit, before, nice, now_ms))
            self.store.note_order(now_ms, -1, "nice", unit, f"{before} to {nice}, the order of {self.policy}")
        return planned


def to_take_back(store: Store) -> list[Advice]:
    """The nice values that jobs had of their own."""
    rows = store.connection.execute("SELECT unit, nice_before, nice FROM advised ORDER BY unit")
    return [Advice(row["unit"], row["nice"], row["nice_before"]) for row in rows]


def note_taken_back(store: Store, units: Sequence[str], now_ms: int) -> None:
    """They have these again; within a turn of the store."""
    for unit in units:
        store.connection.execute("DELETE FROM advised WHERE unit = ?", (unit,))
        store.note_order(now_ms, -1, "nice", unit, "its own again")
