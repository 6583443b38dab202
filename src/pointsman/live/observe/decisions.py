"""What another scheduler decided, beside what the policy would have: kept, and said in a sentence."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pointsman.live.forecast.durations import Durations
from pointsman.live.forecast.present import like_of
from pointsman.live.forecast.record import Record
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.live.world.plan import Action
from pointsman.types import Verb

_MOST_NAMED: Final = 3
"""Jobs of one side of a sentence; of the others it is said how many they are."""


@dataclass(frozen=True)
class Tale:
    """What a sentence needs."""

    scheduler: str
    policy: str
    jobs: Mapping[int, Job]
    ran_ms: Mapping[int, float]
    """For how long jobs have run, in all attempts."""

    def sentence(self, started: Sequence[int], would: Sequence[Action], durations: Durations) -> str:
        """Which jobs were started, by our numbers, and what the policy would have done in their place."""
        starts = [action.row for action in would if action.verb == Verb.START]
        stops = [action.row for action in would if action.verb == Verb.PREEMPT]
        did = f"started {self._list(started, durations)}" if started else "left GPUs free"
        do = [f"started {self._list(starts, durations)}"] if starts else []
        do += [f"preempted {self._list(stops, durations)}"] if stops else []
        waits = f"let {'it' if len(started) == 1 else 'them'} wait"
        return f"{self.scheduler} {did}; {self.policy} would have {' and '.join(do) or waits}"

    def _list(self, rows: Sequence[int], durations: Durations) -> str:
        named = [self._one(row, durations) for row in rows[:_MOST_NAMED]]
        more = len(rows) - len(named)
        return ", ".join(named) + (f" and {more} more" if more else "")

    def _one(self, row: int, durations: Durations) -> str:
        job, ran_ms = self.jobs[row], self.ran_ms.get(row, 0.0)
        left_ms = durations.likely_left_ms(like_of(job), ran_ms)
        left = in_words(left_ms if not job.limit_ms else min(left_ms, max(0.0, job.limit_ms - ran_ms)))
        gpus = f"{job.kind.gpus} GPU{'s' * (job.kind.gpus != 1)}"
        return f"{job.shown or row} ({gpus}, expected {left}{' left' if ran_ms else ''})"


class Decisions:
    """The store keeps them."""

    def __init__(self, store: Store) -> None:
        self._store, self._record = store, Record()

    def note(self, tale: Tale, started: Sequence[int], would: Sequence[Action], at_ms: int) -> None:
        """Jobs were started, or none, when the policy would have done this; within a turn of the store."""
        starts = {action.row for action in would if action.verb == Verb.START}
        others = [action for action in would if action.row not in started]
        differ = [row for row in started if row not in starts]
        said = ""
        if differ or not started:
            self._record.read_on(self._store.path)
            said = tale.sentence(differ, others, self._record.durations)
        instead = json.dumps([(action.verb.name, action.row) for action in others])
        rows = [(at_ms, row, row in starts, instead, "" if row in starts else said) for row in started or [None]]
        sql = "INSERT INTO decisions (at_ms, job, agrees, instead, said) VALUES (?, ?, ?, ?, ?)"
        self._store.connection.executemany(sql, rows)


def in_words(ms: float) -> str:
    """About how long it is, in one unit."""
    for unit, of_ms in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000)):
        if ms >= 2 * of_ms:
            return f"{ms / of_ms:.0f} {unit}"
    return f"{max(1, round(ms / 1000))} s"
