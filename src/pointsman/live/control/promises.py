"""When jobs were said to start, and whether they did."""

import math
from collections.abc import Mapping
from typing import Final

from pointsman.live.records.store import Store

_S: Final = 1000
"""Promises are of whole seconds."""
_ALIVE: Final = "SELECT job FROM promises JOIN jobs ON id = job WHERE end_ms IS NULL"
_COUNTS: Final = "SELECT count(*), ifnull(sum(kept), 0) FROM promises WHERE kept IS NOT NULL"
_VOID: Final = "DELETE FROM promises WHERE job = ? AND made_ms > ?"
_MAKE: Final = """
INSERT OR IGNORE INTO promises (job, made_ms, early_ms, likely_ms, late_ms, scale_ms) VALUES (?, ?, ?, ?, ?, ?)
"""
_STARTED: Final = "UPDATE promises SET kept = ? BETWEEN early_ms AND ifnull(late_ms, ?) WHERE job = ? RETURNING kept"


class Promises:
    """One for each job that waited for some time, made before it was started first; the store keeps them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.made = {row["job"] for row in store.connection.execute(_ALIVE)}
        """The jobs that have one and have not ended."""
        self.started, self.kept = map(int, store.connection.execute(_COUNTS).fetchone())
        """How many promised jobs have started, and how many of these within their range."""

    def make(self, made_ms: int, starts_ms: Mapping[int, tuple[float, float, float, float]]) -> None:
        """By job, when it starts: early, likely, late, and what errors are measured by; within a turn of the store."""
        rows = [
            (job, made_ms, int(early) // _S * _S if math.isfinite(early) else made_ms, *map(_whole, others))
            for job, (early, *others) in starts_ms.items()
        ]
        self._store.connection.executemany(_MAKE, rows)
        self.made |= set(starts_ms)

    def withdraw(self, job: int) -> None:
        """Its user holds it, or its start failed: what was promised is void."""
        if job in self.made:
            self._store.connection.execute("DELETE FROM promises WHERE job = ? AND kept IS NULL", (job,))

    def note_start(self, job: int, started_ms: int) -> None:
        """Its first attempt runs. If it did before it was promised anything, and was seen only later, that is void."""
        if job in self.made:
            self._store.connection.execute(_VOID, (job, started_ms))
            found = self._store.connection.execute(_STARTED, (started_ms, started_ms, job)).fetchall()
            self.started += len(found)
            self.kept += sum(row["kept"] for row in found)

    def forget(self, job: int) -> None:
        """It has ended."""
        self.made.discard(job)


def _whole(ms: float) -> int | None:
    return math.ceil(ms / _S) * _S if math.isfinite(ms) else None
