"""What outlives a daemon: one SQLite file, of which one process is the owner. A turn is one transaction."""

import fcntl
import json
import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pointsman.errors import BackendError
from pointsman.live.backends.facts import AttemptId, Exit, Parts, Stop, gpus_of
from pointsman.live.records.archive import Archive
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.schema import bring_up_to_date, version_of
from pointsman.live.records.write_back import WriteBack
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import Ask
from pointsman.live.world.plan import ALL_GPUS
from pointsman.types import JobState, NodeState

_LOG_BYTES: Final = 64 << 20
"""The most bytes of the log of the database when it begins anew."""
_LAST_ENDS: Final = """
SELECT job, max(attempt) AS attempt, state, end_ms FROM jobs JOIN attempts ON job = id WHERE end_ms > ? GROUP BY job
"""
_CHANGING: Final = (
    *("stage", "cause", "sent_ms", "started_ms", "stopping_ms", "stop_ms", "missing_ms", "ended_ms"),
    *("real_start_ms", "real_end_ms"),
)
"""What changes of an attempt, as columns and as fields."""


@dataclass(frozen=True)
class Entry:
    """A row of the journal."""

    seq: int
    at_ms: int
    what: str
    row: int
    args: Any


class Store:
    """The file at `path`, which is made if it is not there.

    Raises:
        InputError: it is no such file, or of a later version. BackendError: another process owns it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = owned(path)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))  # it holds users' environments
            self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._open()
            self.archive, self._write_back = Archive(self.connection), WriteBack(path)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self) -> None:
        connection = self.connection
        connection.row_factory = sqlite3.Row
        version_of(connection, self.path)
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "wal_autocheckpoint = 0",
            f"journal_size_limit = {_LOG_BYTES}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        bring_up_to_date(connection, self.path)

    def close(self) -> None:
        """Let another process have it."""
        self._write_back.close()
        self.connection.close()
        os.close(self._lock)

    @contextmanager
    def turn(self) -> Generator[None]:
        """All that is written meanwhile is kept, or nothing.

        Raises:
            BackendError: it could not be kept; whoever holds a world that is ahead of the store must end.
        """
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            self.commit()
        except sqlite3.Error as error:
            self._undo()
            fix = "; free some space, and start the daemon again" if "full" in str(error) else ""
            raise BackendError(f"{self.path}: {error}{fix}") from error
        except BaseException:
            self._undo()
            raise

    def commit(self) -> None:
        """What was written in this turn outlives whatever happens from now on."""
        self.connection.execute("COMMIT")
        self._write_back.after_commit(self.connection)

    def _undo(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def setting(self, key: str) -> str | None:
        """What was kept under a name."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row["value"] if row else None

    def keep_setting(self, key: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def forget_setting(self, key: str) -> None:
        self.connection.execute("DELETE FROM meta WHERE key = ?", (key,))

    # -- the journal --------------------------------------------------------------------------------------

    def note(self, at_ms: int, what: str, row: int, args: Any = None) -> None:
        """The world is told something."""
        sql = "INSERT INTO journal (at_ms, what, row, args) VALUES (?, ?, ?, ?)"
        self.connection.execute(sql, (at_ms, what, row, json.dumps(args)))

    def last_seq(self) -> int:
        """The last row that the journal ever had."""
        row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
        return int(row["seq"]) if row else 0

    def told_since(self, seq: int) -> Iterator[Entry]:
        """What the world was told after row `seq` of the journal."""
        for row in self.connection.execute("SELECT * FROM journal WHERE seq > ? ORDER BY seq", (seq,)):
            yield Entry(row["seq"], row["at_ms"], row["what"], row["row"], json.loads(row["args"]))

    def keep_checkpoint(self, kinds: int, data: bytes) -> None:
        """A checkpoint of a world with this number of kinds, after all of the journal, which is not needed any more."""
        self.connection.execute("DELETE FROM checkpoints")
        self.connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", (self.last_seq(), kinds, data))
        self.connection.execute("DELETE FROM journal")

    def last_checkpoint(self) -> tuple[int, bytes] | None:
        """Up to which row of the journal it goes, and what it is."""
        row = self.connection.execute("SELECT seq, data FROM checkpoints ORDER BY seq DESC LIMIT 1").fetchone()
        return (row["seq"], row["data"]) if row else None

    def kinds_at_checkpoint(self) -> int | None:
        """How many kinds of jobs its world knew, if there is one."""
        row = self.connection.execute("SELECT kinds FROM checkpoints ORDER BY seq DESC LIMIT 1").fetchone()
        return int(row["kinds"]) if row else None

    # -- jobs ---------------------------------------------------------------------------------------------

    def kinds(self) -> list[Kind]:
        """Those of all jobs that have come, in order."""
        rows = self.connection.execute("SELECT kind FROM kinds ORDER BY number")
        return [Kind(**json.loads(row["kind"])) for row in rows]

    def keep_kinds(self, kinds: Iterable[Kind]) -> None:
        """These, in order, and no others."""
        self.connection.execute("DELETE FROM kinds")
        rows = [(number, json.dumps(kind._asdict())) for number, kind in enumerate(kinds)]
        self.connection.executemany("INSERT INTO kinds VALUES (?, ?)", rows)

    def renumber_kind(self, job: int, number: int) -> None:
        """A job's kind has another number from now on."""
        self.connection.execute("UPDATE jobs SET kind = ? WHERE id = ?", (number, job))

    def kinds_of(self, jobs: Iterable[int]) -> dict[int, int]:
        """The kind of each of these jobs."""
        sql = "SELECT id, kind FROM jobs WHERE id IN (SELECT value FROM json_each(?))"
        return {row["id"]: row["kind"] for row in self.connection.execute(sql, (json.dumps(list(jobs)),))}

    def add_job(self, id_: int, job: Job, submit_ms: int) -> None:
        """It was submitted."""
        row = (id_, job.uid, job.request_key, _spec_of(job), job.number, submit_ms)
        sql = "INSERT INTO jobs (id, uid, request_key, spec, kind, submit_ms) VALUES (?, ?, ?, ?, ?, ?)"
        self.connection.execute(sql, row)

    def change_job(self, id_: int, job: Job) -> None:
        """It asks for something else from now on."""
        sql = "UPDATE jobs SET spec = ?, kind = ? WHERE id = ?"
        self.connection.execute(sql, (_spec_of(job), job.number, id_))

    def job_of_request(self, job: Job) -> int | None:
        """The job that was submitted with the same key by the same user before, if one was."""
        sql = "SELECT id FROM jobs WHERE uid = ? AND request_key = ?"
        row = self.connection.execute(sql, (job.uid, job.request_key)).fetchone()
        return int(row["id"]) if row else None

    def keys_since(self, at_ms: int) -> dict[str, bool]:
        """The keys of requests for jobs that have not ended, or since then; whether they have."""
        sql = "SELECT request_key, end_ms FROM jobs WHERE end_ms IS NULL OR end_ms > ? ORDER BY id"
        return {row["request_key"]: row["end_ms"] is not None for row in self.connection.execute(sql, (at_ms,))}

    def alive_jobs(self) -> dict[int, Job]:
        """Those that have not ended."""
        jobs = {}
        for row in self.connection.execute("SELECT id, spec FROM jobs WHERE end_ms IS NULL ORDER BY id"):
            jobs[row["id"]] = job_of(row["spec"])
        return jobs

    def held_jobs(self) -> set[int]:
        """Those that their users hold."""
        return {row["id"] for row in self.connection.execute("SELECT id FROM jobs WHERE end_ms IS NULL AND held")}

    def hold_job(self, id_: int, *, held: bool) -> None:
        """Its user holds it, or not any more."""
        self.connection.execute("UPDATE jobs SET held = ? WHERE id = ?", (held, id_))

    def end_job(self, id_: int, state: JobState, end_ms: int) -> None:
        """It has ended."""
        self.connection.execute("UPDATE jobs SET end_ms = ?, state = ? WHERE id = ?", (end_ms, state.name, id_))

    # -- attempts -----------------------------------------------------------------------------------------

    def alive_attempts(self) -> list[Attempt]:
        """Those that have not ended."""
        return [_attempt_of(row) for row in self.connection.execute("SELECT * FROM attempts WHERE stage <> 'ENDED'")]

    def last_ends(self, at_ms: int) -> list[tuple[AttemptId, JobState, int]]:
        """The last attempts of jobs that have ended since then, in which state, and when."""
        rows = self.connection.execute(_LAST_ENDS, (at_ms,))
        return [(AttemptId(row["job"], row["attempt"]), JobState[row["state"]], row["end_ms"]) for row in rows]

    def begin_attempt(self, attempt: Attempt, reason: str) -> None:
        """It was decided, and its GPUs are its own from now on.

        Raises:
            sqlite3.IntegrityError: its job runs already, or another has one of its GPUs.
        """
        self.connection.execute(
            "INSERT INTO attempts (job, attempt, stage, parts, reason, intended_ms) VALUES (?, ?, ?, ?, ?, ?)",
            (*attempt.id, attempt.stage, json.dumps(attempt.parts), reason, attempt.intended_ms),
        )
        self.connection.executemany("INSERT INTO seats VALUES (?, ?, ?, ?)", _seats_of(attempt))

    def change_attempt(self, attempt: Attempt) -> None:
        """What is known of it has changed; if it has ended, its GPUs are free."""
        exit_ = attempt.exit or Exit()
        known = {
            **{name: getattr(attempt, name) for name in _CHANGING},
            "exit_code": exit_.code,
            "exit_signal": exit_.signal,
            "detail": exit_.detail,
        }
        sql = f"UPDATE attempts SET {', '.join(f'{name} = ?' for name in known)} WHERE job = ? AND attempt = ?"
        self.connection.execute(sql, (*known.values(), *attempt.id))
        if attempt.stage == Stage.ENDED:
            by_key = "DELETE FROM seats WHERE node = ? AND gpu = ? AND job = ? AND attempt = ?"
            self.connection.executemany(by_key, _seats_of(attempt))

    # -- pauses -------------------------------------------------------------------------------------------

    def pauses(self) -> dict[int, tuple[int, int | None]]:
        """By job, its failed starts in a row, and when it is released."""
        return {
            row["job"]: (row["failures"], row["release_ms"]) for row in self.connection.execute("SELECT * FROM pauses")
        }

    def keep_pause(self, job: int, failures: int, release_ms: int | None) -> None:
        """A start of it has failed, or its pause is over."""
        self.connection.execute("INSERT OR REPLACE INTO pauses VALUES (?, ?, ?)", (job, failures, release_ms))

    def end_pause(self, job: int) -> None:
        """A start of it has succeeded, or it has ended."""
        self.connection.execute("DELETE FROM pauses WHERE job = ?", (job,))

    # -- orders -------------------------------------------------------------------------------------------

    def note_order(self, at_ms: int, uid: int, verb: str, target: str, detail: str = "") -> None:
        """Somebody has changed something."""
        sql = "INSERT INTO audit (at_ms, uid, verb, target, detail) VALUES (?, ?, ?, ?, ?)"
        self.connection.execute(sql, (at_ms, uid, verb, target, detail))

    # -- nodes --------------------------------------------------------------------------------------------

    def nodes(self) -> dict[str, NodeState]:
        """Their states, as the world knows them."""
        return {row["name"]: NodeState(row["state"]) for row in self.connection.execute("SELECT * FROM nodes")}

    def wanted_nodes(self) -> dict[str, NodeState]:
        """The states that operators want, where they want one."""
        rows = self.connection.execute("SELECT name, wanted FROM nodes WHERE wanted <> 0")
        return {row["name"]: NodeState(row["wanted"]) for row in rows}

    def reasons_of_nodes(self) -> dict[str, str]:
        """Why nodes are wanted in the states in which they are wanted."""
        rows = self.connection.execute("SELECT name, reason FROM nodes WHERE wanted <> 0 AND reason IS NOT NULL")
        return {row["name"]: row["reason"] for row in rows}

    def set_node(self, name: str, state: NodeState) -> None:
        """A node is in another state."""
        self.connection.execute(
            "INSERT INTO nodes (name, state) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
            (name, int(state)),
        )

    def want_node(self, name: str, state: NodeState, reason: str | None) -> None:
        """An operator, or a run of failed starts, wants a node to be in a state; UP: in whatever it is."""
        self.connection.execute(
            "INSERT INTO nodes (name, state, wanted, reason) VALUES (?, 0, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET wanted = excluded.wanted, reason = excluded.reason",
            (name, int(state), reason),
        )


def _spec_of(job: Job) -> str:
    return json.dumps(asdict(job) | {"ask": job.ask, "kind": job.kind})


def job_of(spec: str) -> Job:
    """A job, as its row in the table has it."""
    fields = json.loads(spec)
    fields["ask"], fields["stop"] = Ask(*fields["ask"]), Stop(**fields["stop"])
    fields["kind"] = Kind(*fields["kind"])
    return Job(**fields | {"command": tuple(fields["command"])})


def parts_of(text: str) -> Parts:
    """The GPUs of an attempt, as its row in the table has them."""
    return tuple((str(node), int(mask) & ALL_GPUS) for node, mask in json.loads(text))


def _seats_of(attempt: Attempt) -> list[tuple[str, int, int, int]]:
    return [(node, gpu, *attempt.id) for node, gpu in gpus_of(attempt.parts)]


def _attempt_of(row: sqlite3.Row) -> Attempt:
    return Attempt(
        AttemptId(row["job"], row["attempt"]),
        parts_of(row["parts"]),
        Stage(row["stage"]),
        row["intended_ms"],
        row["sent_ms"],
        row["started_ms"],
        row["stopping_ms"],
        row["stop_ms"],
        row["missing_ms"],
        row["ended_ms"],
        row["real_start_ms"],
        row["real_end_ms"],
        Cause(row["cause"]) if row["cause"] else None,
    )


def owned(path: Path) -> int:
    """A lock on the store, which ends with this process."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise BackendError(f"another process owns {path}") from error
    return lock
