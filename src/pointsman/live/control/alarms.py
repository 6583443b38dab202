"""What an operator must know of: a policy that failed, a node on which starts fail."""

from typing import Final

from pointsman.live.records.store import Store

_MOST: Final = 20
"""Alarms that are shown; the store has all."""


class Alarms:
    """The last ones, in order, as (ms, what to know)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        sql = "SELECT at_ms, said FROM alarms ORDER BY seq DESC LIMIT ?"
        self.last = [tuple(row) for row in store.connection.execute(sql, (_MOST,))][::-1]

    def sound(self, said: str, now_ms: int) -> None:
        """Within a turn of the store."""
        self._store.connection.execute("INSERT INTO alarms (at_ms, said) VALUES (?, ?)", (now_ms, said))
        self.last = [*self.last, (now_ms, said)][-_MOST:]

    def count(self) -> int:
        """All that there were since the store was made."""
        return int(self._store.connection.execute("SELECT ifnull(max(seq), 0) FROM alarms").fetchone()[0])
