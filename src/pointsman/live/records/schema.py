"""The versions of a store's schema, from each of which there is a step to the next."""

import sqlite3
from importlib import resources
from pathlib import Path
from typing import Final

from pointsman.errors import InputError

STEPS: Final = ("schema.sql", "schema_2.sql", "schema_3.sql", "schema_4.sql", "schema_5.sql", "schema_6.sql")
"""From each version to the next."""
VERSION: Final = len(STEPS)
"""A store of a later one is refused."""


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Take all steps from the version that a store has.

    Raises:
        InputError: it is no store, or of a later version.
    """
    version = version_of(connection, path)
    for number, step in enumerate(STEPS[version:], version + 1):
        sql = resources.files("pointsman.live.records").joinpath(step).read_text(encoding="utf-8")
        connection.executescript(f"BEGIN; {sql} PRAGMA user_version = {number}; COMMIT;")


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """The version that a store has.

    Raises:
        InputError: it is no store, or of a later version.
    """
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("PRAGMA schema_version")
    except sqlite3.DatabaseError as error:
        raise InputError(f"this is no store of live jobs: {error}", path=path, fix="name another file") from None
    if version > VERSION:
        fix = "use the version that wrote it, or a later one"
        raise InputError(f"the store has version {version}, and this Pointsman knows {VERSION}", path=path, fix=fix)
    return version
