"""Whether a daemon could start here, and what it would find."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from pointsman.cluster import load_cluster
from pointsman.errors import BackendError, InputError, PointsmanError, UsageError
from pointsman.inputs.messages import counted
from pointsman.live.daemon.setting import DECIDING, RUN, SORT, SORTS
from pointsman.live.records.archive import read_only
from pointsman.live.records.store import job_of, owned, parts_of
from pointsman.live.world.roster import Deciding, Roster, roster_of
from pointsman.live.world.suitable import check_suits_live

_LONGEST_SOCKET: Final = 107
"""Bytes of the name of a socket."""
_LEAST_FREE: Final = 1 << 30
"""Bytes."""
_ALIVE: Final = "SELECT id, spec FROM jobs WHERE end_ms IS NULL ORDER BY id"
_RUNNING: Final = "SELECT parts FROM attempts WHERE stage <> 'ENDED'"


class Finding(NamedTuple):
    """One thing that was looked at."""

    said: str
    fault: PointsmanError | None = None
    """Why a daemon could not start."""


def check(cluster: str, deciding: Deciding, folder: Path, place: Path) -> Iterator[Finding]:
    """All that a daemon needs, one after another; nothing is changed."""
    for look in (
        lambda: _nodes(cluster),
        lambda: _policy(cluster, deciding),
        _rights,
        lambda: _disk(folder),
        lambda: _store(folder, cluster, deciding),
        lambda: _socket(place),
    ):
        yield find(look)


def kept_policy(folder: Path) -> Deciding | None:
    """The one that decided last in a database, if there is one that can be read."""
    try:
        with closing(read_only(folder / "store")) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (DECIDING,)).fetchone()
    except (sqlite3.Error, InputError):
        return None
    return Deciding(**json.loads(row["value"])) if row else None


def find(look: Callable[[], str]) -> Finding:
    """What a look says, or the fault that it finds."""
    try:
        return Finding(look())
    except PointsmanError as fault:
        return fault_of(fault)


def fault_of(error: PointsmanError) -> Finding:
    """Why a daemon could not start, as a finding."""
    return Finding(str(error), error)


def _nodes(cluster: str) -> str:
    layout = load_cluster(cluster).layout()
    gpus = int(layout.node_gpus.sum())
    said = f"{counted(len(layout.node_names), 'node')} with {counted(gpus, 'GPU')} declared"
    there = _gpus_there()
    if there is None:
        return f"{said}; no NVIDIA GPUs are found on this machine"
    if there != gpus:
        return f"{said}, but this machine has {there}"
    return f"{said}, as many as this machine has"


def _gpus_there() -> int | None:
    """GPUs of this machine, as NVIDIA's tool lists them; None without it."""
    if shutil.which("nvidia-smi") is None:
        return None
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60, check=False)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines()) if listed.returncode == 0 else None


def _policy(cluster: str, deciding: Deciding) -> str:
    roster = Roster(load_cluster(cluster), deciding)
    rules = roster.rules
    check_suits_live(roster.policy, roster.prepared.terms, rules.start_ms + rules.stop_ms + rules.restore_ms)
    return f"policy {deciding.policy} can run live"


def _rights() -> str:
    return (
        "jobs run as the users who submit them" if os.getuid() == 0 else "jobs of this user only: not started by root"
    )


def _disk(folder: Path) -> str:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no directory (--state names another directory)")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not os.access(there, os.W_OK):
        raise UsageError(f"{there}: this user may not write there (--state names another directory)")
    free = shutil.disk_usage(there).free
    if free < _LEAST_FREE:
        raise UsageError(f"{there}: only {free >> 20:,} MiB are free (--state names another directory)")
    return f"{folder}: {free >> 30:,} GiB are free"


def _store(folder: Path, cluster: str, deciding: Deciding) -> str:
    path = folder / "store"
    if not path.exists():
        return "a new database is made"
    try:
        with closing(read_only(path)) as connection:
            sort = connection.execute("SELECT value FROM meta WHERE key = ?", (SORT,)).fetchone()
            jobs = {row["id"]: job_of(row["spec"]).kind for row in connection.execute(_ALIVE)}
            used = {node for (parts,) in connection.execute(_RUNNING) for node, _ in parts_of(parts)}
    except sqlite3.Error as error:
        raise InputError(f"this is no store of live jobs: {error}", path=path, fix="name another file") from None
    os.close(owned(path))
    if sort and sort["value"] != RUN:
        raise UsageError(f"the jobs in {folder} {SORTS[sort['value']]}: name another directory with --state")
    roster = roster_of(load_cluster(cluster), deciding, jobs)
    if gone := used - {*roster.prepared.layout.node_names}:
        raise UsageError(f"jobs run on node {min(gone)!r}, which the cluster file does not have: drain it first")
    return f"the database has {counted(len(jobs), 'job')} that {'has' if len(jobs) == 1 else 'have'} not ended"


def _socket(place: Path) -> str:
    if len(os.fsencode(place.absolute())) > _LONGEST_SOCKET:
        raise UsageError(f"{place}: the name of a socket may have {_LONGEST_SOCKET} bytes (--socket names another)")
    if place.exists() and not place.is_socket():
        raise UsageError(f"{place} is no socket (--socket names another)")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(place))
        except OSError:
            return f"{place} is free"
    raise BackendError(f"another daemon listens at {place}")
