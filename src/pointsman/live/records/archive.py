"""What became of jobs, as a store has it."""

import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from pointsman.errors import InputError
from pointsman.live.records.schema import VERSION, version_of

_LAST: Final = """
SELECT * FROM jobs WHERE end_ms IS NOT NULL AND (:uid IS NULL OR uid = :uid) ORDER BY end_ms DESC, id DESC LIMIT :most
"""
_ATTEMPTS: Final = "SELECT * FROM attempts WHERE job IN ({}) ORDER BY job, attempt"
_SHOWN: Final = "SELECT max(id) FROM jobs WHERE request_key >= ? AND request_key < ?"
_AT_ONCE: Final = 500


class Archive:
    """Read by a connection to a store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def record_of_job(self, id_: int) -> sqlite3.Row | None:
        """Its row in the table."""
        return self._connection.execute("SELECT * FROM jobs WHERE id = ?", (id_,)).fetchone()

    def last_job_shown_as(self, shown: str) -> int | None:
        """The last job that another scheduler called so; None if there was none."""
        begin = f"{shown}@"  # with which its key begins
        return self._connection.execute(_SHOWN, (begin, f"{shown}{chr(ord('@') + 1)}")).fetchone()[0]

    def ended_jobs(self, most: int, uid: int | None) -> Iterator[sqlite3.Row]:
        """The last `most` jobs that have ended, of one user or of all, the last first, one by one: each has the
        environment of its job.
        """
        return self._connection.execute(_LAST, {"most": most, "uid": uid})

    def attempts_of(self, ids: Sequence[int]) -> dict[int, list[sqlite3.Row]]:
        """All of each of these jobs, in order."""
        found: dict[int, list[sqlite3.Row]] = {id_: [] for id_ in ids}
        for begin in range(0, len(ids), _AT_ONCE):
            some = ids[begin : begin + _AT_ONCE]
            for row in self._connection.execute(_ATTEMPTS.format(",".join("?" * len(some))), some):
                found[row["job"]].append(row)
        return found


@contextmanager
def reading(store: Path) -> Generator[Archive]:
    """By a connection of one's own, beside the owner of the store."""
    connection = read_only(store)
    try:
        yield Archive(connection)
    finally:
        connection.close()


@contextmanager
def at_one_moment(store: Path) -> Generator[sqlite3.Connection]:
    """All of a store as it is now; its owner may write on.

    Raises:
        InputError: it is no store, not there, another user's, or of another version.
    """
    try:
        with closing(read_only(store)) as connection:
            connection.execute("BEGIN")
            if (version := version_of(connection, store)) < VERSION:
                raise InputError(
                    f"the store has version {version}", path=store, fix="start a daemon of this Pointsman once"
                )
            yield connection
    except sqlite3.Error as error:
        raise _unreadable(store, error) from None


def _unreadable(store: Path, error: sqlite3.Error) -> InputError:
    if not os.path.exists(store):
        return InputError(
            "there is no database of a daemon", path=store, fix="name the daemon's directory with --state"
        )
    if not os.access(store, os.R_OK):
        return InputError("this user may not read it", path=store, fix="run this as the daemon's user")
    return InputError(f"this is no store of live jobs: {error}", path=store, fix="name another file")


def read_only(store: Path) -> sqlite3.Connection:
    """A connection that cannot change anything.

    Raises:
        InputError: it is no store, or of a later version. sqlite3.Error: it is not there.
    """
    connection = sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.row_factory = sqlite3.Row
    version_of(connection, store)
    return connection
