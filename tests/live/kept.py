"""A store of a daemon that observed, filled by hand. Times are in seconds since `BEGAN_S`."""

import json
from pathlib import Path
from typing import Any

from pointsman.cluster import load_cluster
from pointsman.live.records.book import Stage
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import Ask

BEGAN_S = 1_764_000_000
SETTINGS = {
    "sort": "observed",
    "cluster": load_cluster("2x4").to_yaml(),
    "clock": json.dumps({"boot": "", "at_ms": 5_000, "boot_ms": 0, "unix_ms": 1000 * BEGAN_S + 5_000}),
    "deciding": json.dumps({"policy": "gittins", "params": {}, "options": {}, "min_run_s": 0.0, "observes": "x"}),
}
JOBS = [
    *((1, 4, "ann", "a"), (2, 1, "bob", "b"), (3, 8, "ann", "a"), (4, 3, "bob", "a"), (5, 1, "bob", "b")),
    *((6, 2, "eve", "a"), (7, 1, "eve", "a"), (8, 1, "eve", "a"), (9, 1, "eve", "a"), (10, 1, "eve", "a")),
    *((11, 1, "eve", "a"), (12, 1, "eve", "a")),
]
"""Number, GPUs, user and partition."""
BEFORE = {8: 1000}
"""Starts of first attempts, which lasted 100 s; those of `STARTS` are the second then."""
STARTS = {1: 1800, 2: 2000, 4: 2030, 5: 3100, 6: 4000, 9: 5000, 3: 5600, 7: 7000, 8: 7050}
ENDS = {1: 1900, 2: 2100, 4: 7200, 5: 3200, 12: 2500}
DECISIONS = [
    (1800, 1, True, [], ""),
    (2000, 2, False, [("START", 3), ("PREEMPT", 1)], "Slurm started 802; gittins would have started 803"),
    (2030, 4, False, [("START", 3), ("START", 10)], "Slurm started 804; gittins would have started 803, 810"),
    (3000, None, False, [("START", 5)], "Slurm left GPUs free; gittins would have started 805"),
    (4000, 6, False, [], "Slurm started 806; gittins would have let it wait"),
    (7000, 7, False, [("START", 8)], "Slurm started 807; gittins would have started 808"),
]
WORTHS = [
    (2000, 5, 600.0, -60.0, -120.0, -30.0, 4, 1),
    (3000, 5, 300.0, -30.0, -50.0, 10.0, 0, 2),
    (4000, 5, 100.0, 20.0, 10.0, 40.0, 0, 3),
]
PROMISES = [
    (2, 1900, 1950, 2000, 2100),  # within its range, and right
    (3, 1900, 2000, 5000, 5500),  # later by 100 s, 600 s from the likely time
    (5, 1900, 3200, 3300, None),  # sooner, 200 s from it
    (6, 1900, 1950, 2500, 5000),  # within its range, 1500 s from the likely time, which was 10 min ahead
    (9, 1900, 1950, None, None),  # within its range, and not expected within a week
    (10, 1900, 1950, 2000, 7000),  # it should have started by now
    (11, 7100, 7150, 7300, 9000),  # it may still start in time
    (12, 1900, 1950, 2000, 2100),  # it was cancelled while it waited
]
LOOKS = [(0, "squeue", 600, 0.5), (0, "sinfo", 300, 0.1), (1, "squeue", 3600, 0.25), (1, "sacct", 0, 9.0)]
LAST_S = 7200
_ATTEMPT = """
INSERT INTO attempts (job, attempt, stage, parts, reason, intended_ms, started_ms, ended_ms)
VALUES (?, ?, ?, '[]', '', ?, ?, ?)
"""


def fill(path: Path, **settings: str) -> Path:
    """A store at `path`."""
    store = Store(path)
    with store.turn():
        for key, value in (SETTINGS | settings).items():
            store.keep_setting(key, value)
        for id_, gpus, user, partition in JOBS:
            kind = Kind(gpus, user=user, partition=partition)
            store.add_job(id_, Job(Ask(0, 0, 0, 0), kind, uid=1, request_key=str(id_), shown=str(800 + id_)), 1_000_000)
        _fill_tables(store)
    store.close()
    return path


def _fill_tables(store: Store) -> None:
    for job, start_s in BEFORE.items():
        _add_attempt(store, job, 1, start_s, start_s + 100)
    for job, start_s in STARTS.items():
        _add_attempt(store, job, 1 + (job in BEFORE), start_s, ENDS.get(job))
    for job, end_s in ENDS.items():
        store.connection.execute("UPDATE jobs SET end_ms = ? WHERE id = ?", (1000 * end_s, job))
    for at_s, job, agrees, instead, said in DECISIONS:
        _add(store, "decisions", None, 1000 * at_s, job, agrees, json.dumps(instead), said)
    for at_s, *rest in WORTHS:
        _add(store, "worths", 1000 * at_s, *rest)
    for job, *times in PROMISES:
        _add(store, "promises", job, *(None if at_s is None else 1000 * at_s for at_s in times), None, None)
    for row in LOOKS:
        _add(store, "looks", *row)
    _add(store, "alarms", None, 3_000_000, "gittins failed")


def _add_attempt(store: Store, job: int, attempt: int, start_s: int, end_s: int | None) -> None:
    stage = Stage.RUNNING if end_s is None else Stage.ENDED
    start_ms, end_ms = 1000 * start_s, None if end_s is None else 1000 * end_s
    store.connection.execute(_ATTEMPT, (job, attempt, stage, start_ms, start_ms, end_ms))


def _add(store: Store, table: str, *row: Any) -> None:
    store.connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
