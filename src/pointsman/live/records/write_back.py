"""What is committed stands in the log of a database at first; from there it is written back to the database itself,
beside the thread that commits, which would wait for it for tenths of a second.
"""

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Final

EVERY_S: Final = 20.0
"""Each time lets one commit wait."""


class WriteBack:
    """One thread at most, now and then."""

    def __init__(self, path: Path) -> None:
        """Writes back the database at `path`, whose own connections write nothing back (``wal_autocheckpoint = 0``)."""
        self._path = path
        self._began_s = time.monotonic()
        self._thread: Thread | None = None

    def after_commit(self, connection: sqlite3.Connection) -> None:
        """Begin, if the last time is long enough ago; or write the rest back by the only `connection` that commits, so
        that the log begins anew.
        """
        now_s = time.monotonic()
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            _write_back(connection)
        if now_s - self._began_s < EVERY_S or self._thread is not None:
            return
        self._began_s = now_s
        self._thread = Thread(target=self._write_most_back, name="write-back", daemon=True)
        self._thread.start()

    def _write_most_back(self) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._path)) as connection:
            _write_back(connection)

    def close(self) -> None:
        """Wait until it is done."""
        if self._thread is not None:
            self._thread.join()


def _write_back(connection: sqlite3.Connection) -> None:
    """If that fails nothing is lost: the log has it, and the next time is soon."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
