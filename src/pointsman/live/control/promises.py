"""When jobs were said to start, and whether they did."""

import math
from collections.abc import Mapping
from typing import Final

from pointsman.live.control.store import Store

_S: Final = 1000
"""Promises are of whole seconds."""
_ALIVE: Final = "SELECT job FROM promises JOIN jobs ON id = job WHERE end_ms IS NULL"
_COUNT: Final = """
SELECT count(*) AS made, coalesce(sum(started_ms BETWEEN early_ms AND ifnull(late_ms, started_ms)), 0) AS kept
FROM promises JOIN attempts ON attempts.job = promises.job AND attempt = 1 WHERE started_ms IS NOT NULL
"""


class Promises:
    """One for each job that waited for some time, made before it was started first; the store keeps them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.made = {row["job"] for row in store.connection.execute(_ALIVE)}
        """The jobs that have one and have not ended."""

    def make(self, made_ms: int, starts_ms: Mapping[int, tuple[float, float, float]]) -> None:
        """By job, when it starts: early, likely, late; within a turn of the store."""
        rows = [
            (job, made_ms, int(early) // _S * _S if math.isfinite(early) else made_ms, _whole(likely), _whole(late))
            for job, (early, likely, late) in starts_ms.items()
        ]
        self._store.connection.executemany("INSERT OR IGNORE INTO promises VALUES (?, ?, ?, ?, ?)", rows)
        self.made |= set(starts_ms)

    def withdraw(self, job: int) -> None:
        """Its user holds it, or its start failed: what was promised is void."""
        if job in self.made:
            self._store.connection.execute("DELETE FROM promises WHERE job = ?", (job,))

    def forget(self, job: int) -> None:
        """It has ended."""
        self.made.discard(job)

    def count(self) -> tuple[int, int]:
        """How many promised jobs have started, and how many of these within their range."""
        row = self._store.connection.execute(_COUNT).fetchone()
        return int(row["made"]), int(row["kept"])


def _whole(ms: float) -> int | None:
    return math.ceil(ms / _S) * _S if math.isfinite(ms) else None
