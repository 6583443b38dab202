"""What has come and ended so far, read from the store beside its owner."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pointsman.live.forecast.arrivals import Arrivals, Came
from pointsman.live.forecast.calibration import COUNTED, Calibration, Promised
from pointsman.live.forecast.durations import Durations
from pointsman.live.forecast.present import like_of
from pointsman.live.records.archive import read_only
from pointsman.live.records.job import Job
from pointsman.live.records.store import job_of

MOST: Final = 10_000
"""Jobs that are looked back at, at first."""
_ENDED: Final = """
SELECT ended.id, spec, end_ms, sum(ended_ms - started_ms) AS ran_ms FROM
  (SELECT id, spec, end_ms FROM jobs WHERE end_ms IS NOT NULL AND (end_ms, id) > (?, ?)
   ORDER BY end_ms DESC, id DESC LIMIT ?) AS ended
JOIN attempts ON job = ended.id AND started_ms IS NOT NULL AND ended_ms IS NOT NULL
GROUP BY ended.id ORDER BY end_ms, ended.id
"""
_CAME: Final = """
SELECT id, spec, submit_ms FROM
  (SELECT id, spec, submit_ms FROM jobs WHERE id > ? ORDER BY id DESC LIMIT ?)
ORDER BY id
"""
_PROMISED: Final = """
SELECT likely_ms, scale_ms, started_ms, end_ms FROM promises JOIN jobs ON id = promises.job
LEFT JOIN attempts ON attempts.job = id AND attempt = 1
WHERE scale_ms IS NOT NULL AND likely_ms IS NOT NULL ORDER BY promises.job DESC LIMIT ?
"""
_THERE: Final = "SELECT id, spec FROM jobs WHERE id IN (SELECT value FROM json_each(?))"


class _Until(NamedTuple):
    """How far it has been read."""

    end_ms: int = -1
    ended: int = -1
    came: int = -1


class Record:
    """How long jobs run, and how they come; of use in one thread at a time."""

    def __init__(self) -> None:
        self.durations, self.arrivals = Durations(), Arrivals()
        self.jobs: dict[int, Job] = {}
        """Those that are there, by row, as what may come needs them."""
        self._promises: list[sqlite3.Row] = []
        """The last ones, and what came of them."""
        self._until = _Until()

    def read_on(self, store: Path, there: Iterable[int] = ()) -> None:
        """Learn of what has come and ended in a store since the last time, and what these jobs are like."""
        connection = read_only(store)
        try:
            self._learn_ends(connection)
            self._learn_arrivals(connection)
            self._learn_jobs(connection, there)
            self._promises = connection.execute(_PROMISED, (COUNTED,)).fetchall()
        finally:
            connection.close()

    def calibration(self, now_ms: int) -> Calibration:
        """What the last promises teach."""
        return Calibration.by(_promised(row, now_ms) for row in self._promises)

    def _learn_jobs(self, connection: sqlite3.Connection, there: Iterable[int]) -> None:
        known = {row: self.jobs.get(row) for row in there}
        new = [row for row, job in known.items() if job is None]
        self.jobs = {row: job for row, job in known.items() if job is not None}
        for row in connection.execute(_THERE, (json.dumps(new),)):
            self.jobs[row["id"]] = _strip(row["spec"])

    def _learn_ends(self, connection: sqlite3.Connection) -> None:
        for row in connection.execute(_ENDED, (self._until.end_ms, self._until.ended, MOST)):
            self.durations.learn(like_of(job_of(row["spec"])), row["ran_ms"])
            self._until = self._until._replace(end_ms=row["end_ms"], ended=row["id"])

    def _learn_arrivals(self, connection: sqlite3.Connection) -> None:
        for row in connection.execute(_CAME, (self._until.came, MOST)):
            self.arrivals.add(Came(row["submit_ms"], _strip(row["spec"])))
            self._until = self._until._replace(came=row["id"])


def _promised(row: sqlite3.Row, now_ms: int) -> Promised:
    """A job that has not started has not until it ended."""
    until_ms = next(ms for ms in (row["started_ms"], row["end_ms"], now_ms) if ms is not None)
    return Promised(until_ms - row["likely_ms"], row["started_ms"] is not None, row["scale_ms"])


def _strip(spec: str) -> Job:
    """A job that nothing will run."""
    return replace(job_of(spec), environment={}, command=())
