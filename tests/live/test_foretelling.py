"""A real daemon says when jobs will start, what a change would do, and what has happened."""

import json
import sqlite3
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="pip install pointsman[live]")

import pointsman
from pointsman.live.control.clock import Clock
from pointsman.live.control.promises import Promises
from pointsman.live.records.schema import STEPS, VERSION
from pointsman.live.records.store import Store

from .daemons import RunningDaemon, wait_for

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path_factory.mktemp("daemon"), "--policy", "fifo-backfill", "--min-run", "2m") as daemon:
        daemon.wait(daemon.submit("--", "true"), *ENDED)
        yield daemon
        assert daemon.end() == 0, daemon.log()


@pytest.fixture
def waiting(daemon: RunningDaemon) -> Iterator[tuple[int, int, int]]:
    """A job that has all GPUs, one that waits, and one that its user holds."""
    runs = daemon.submit("-G", "8", "-t", "10", "-J", "long", "--requeue", "--", "sleep", "1000")
    daemon.wait(runs, "RUNNING")
    waits = daemon.submit("-G", "4", "-t", "10", "-J", "train", "--", "sleep", "1")
    held = daemon.submit("-H", "--", "true")
    yield runs, waits, held
    daemon.type("cancel", str(runs), str(held), str(waits))
    for job in (runs, waits, held):
        daemon.wait(job, *ENDED)


def test_starts_are_foretold(daemon: RunningDaemon, waiting: tuple[int, int, int]) -> None:
    _, waits, held = waiting
    rows = {row["job_id"]: row for row in daemon.rows("queue", "--start")}
    assert set(rows) == {waits, held}
    row = rows[waits]
    submitted_s = daemon.job(waits)["submitted_s"]
    assert submitted_s < row["early_s"] <= row["expected_s"] <= row["late_s"] <= submitted_s + 700
    assert rows[held]["expected_s"] is None
    table = daemon.type("queue", "--start").stdout.splitlines()
    assert table[0].split()[5:] == ["START_TIME", "EARLIEST", "LATEST", "(REASON)"]
    assert [line.split()[0] for line in table[1:]] == [str(waits), str(held)]
    assert "N/A" in table[2]


def test_explain_says_when_a_job_is_expected_to_start(daemon: RunningDaemon, waiting: tuple[int, int, int]) -> None:
    runs, waits, held = waiting
    said = daemon.type("explain", str(waits)).stdout
    assert "it is expected to start in " in said
    assert "(90 %: " in said
    assert "expected" not in daemon.type("explain", str(runs)).stdout
    assert "expected" not in daemon.type("explain", str(held)).stdout


def test_what_a_change_would_do(daemon: RunningDaemon, waiting: tuple[int, int, int]) -> None:
    runs, waits, _ = waiting
    answer = daemon.rows("whatif", "--cancel", str(runs))
    assert isinstance(answer, dict)
    assert answer["until_start"]["change_s"] < 0
    assert answer["jobs"] == [] or answer["jobs"][0]["job_id"] in (runs, waits)
    comes = daemon.rows("whatif", "--submit", "-G 2 -t 5m -A another")
    assert comes["submitted"][0]["expected_s"] >= 0  # ty: ignore
    said = daemon.type("whatif", "--drain", "n0000", "--policy", "fifo-backfill").stdout
    assert said.splitlines()[0].split()[:2] == ["MEAN", "NOW"]
    assert "end at least a minute sooner" in said
    for words in (("whatif", "--policy", "fifo-backfill"), ("live", "policy", "fifo-backfill", "--dry-run")):
        for name in ("patience_s", "fifo-backfill.patience_s"):
            done = daemon.type(*words, "--set", f"{name}=6h")
            assert done.returncode == 0, done.stderr
    dry = daemon.type("live", "policy", "fifo-backfill", "--dry-run")  # compiled; others would take a while at first
    assert dry.returncode == 0, dry.stderr
    assert daemon.type("live", "status").stdout.split()[1] == "fifo-backfill"


WRONG = {
    "whatif": "say what is to be done",
    "whatif --set a=1": "--set: name the policy, too",
    "whatif --policy pollux": "cannot run live",
    "whatif --policy nosuch": "nosuch",
    "whatif --drain nosuch": "there is no node 'nosuch'",
    "whatif --cancel 99999": "there is no job 99999",
    "whatif --submit --gpus=99": "99 GPUs",
    "whatif --submit '": "No closing quotation",
    "live check --cluster 2x4 --policy pollux": "cannot run live",
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_foretold_is_said(what: str, daemon: RunningDaemon) -> None:
    done = daemon.type(*what.split(" "))
    assert done.returncode == (3 if "99 GPUs" in WRONG[what] else 2), done.stderr
    assert WRONG[what] in done.stderr + done.stdout


def test_promises_are_counted(daemon: RunningDaemon, waiting: tuple[int, int, int]) -> None:
    runs, waits, _ = waiting

    def status() -> dict[str, int]:
        return json.loads(daemon.type("live", "status", "--format", "json").stdout)

    before = status()["starts_promised"]
    daemon.rows("queue", "--start")
    daemon.type("cancel", str(runs))
    daemon.wait(waits, *ENDED)
    after = status()
    assert after["starts_promised"] == before + 1
    assert after["starts_as_promised"] <= after["starts_promised"]
    with sqlite3.connect(f"file:{daemon.folder / 'state' / 'store'}?mode=ro", uri=True) as connection:
        made = connection.execute("SELECT job FROM promises").fetchall()
        orders = connection.execute("SELECT verb, target FROM audit ORDER BY seq").fetchall()
    assert (waits,) in made
    assert ("cancel", str(runs)) in orders


def test_what_happened_is_a_run(daemon: RunningDaemon, waiting: tuple[int, int, int]) -> None:
    runs, _, held = waiting
    daemon.type("requeue", str(runs))
    wait_for(lambda: len(daemon.job(runs)["attempts"]) == 2)
    daemon.submit("--", "no-such-command")
    daemon.wait(runs, "RUNNING", "STARTING", "PENDING")
    assert daemon.type("live", "export", "--state", str(daemon.folder / "state"), "-o", "log").returncode == 0
    run = daemon.folder / "log" / "run"
    done = daemon.type("verify", str(run))
    assert done.returncode == 0, done.stderr + done.stdout
    done = daemon.type("explain", str(runs), "--run", str(run))
    assert (done.returncode, "happened on a live cluster" in done.stderr) == (2, True)
    result = pointsman.read_run(run)
    rows = {row["job_id"]: row for row in result.jobs.to_dicts()}
    assert rows[str(held)]["state"] == "PENDING"
    assert rows[str(runs)]["preemptions"] == 1
    assert result.series["used_gpus"].max() == 8
    assert (run / "report.html").stat().st_size > 10_000
    for how in ("table", "json"):
        done = daemon.type("report", str(run), "--format", how)
        assert done.returncode == 0, done.stderr


def test_whether_a_daemon_could_start_is_said(daemon: RunningDaemon, tmp_path: Path) -> None:
    elsewhere = ("--state", str(tmp_path / "state"), "--socket", str(tmp_path / "s"))
    done = daemon.type("live", "check", "--cluster", "2x4", *elsewhere)
    assert done.returncode == 0, done.stdout
    assert all(line.startswith("ok: ") for line in done.stdout.splitlines())
    assert not (tmp_path / "state").exists()
    here = ("--state", str(daemon.folder / "state"), "--socket", str(daemon.socket))
    done = daemon.type("live", "check", "--cluster", "2x4", *here)
    assert done.returncode == 5
    assert "another process owns" in done.stdout
    assert "another daemon listens" in done.stdout


def old_store(path: Path, version: int) -> sqlite3.Connection:
    """A store as an earlier version made it."""
    connection = sqlite3.connect(path, isolation_level=None)
    for step in STEPS[:version]:
        connection.executescript(resources.files("pointsman.live.records").joinpath(step).read_text())
    connection.execute(f"PRAGMA user_version = {version}")
    return connection


def test_a_store_of_the_first_version_is_taken_on(tmp_path: Path) -> None:
    old_store(tmp_path / "store", 1).close()
    store = Store(tmp_path / "store")
    assert store.connection.execute("PRAGMA user_version").fetchone()[0] == VERSION == 6
    assert store.connection.execute("SELECT * FROM promises").fetchall() == []
    store.close()


def test_what_was_promised_to_a_job_that_ran_already_is_void(tmp_path: Path) -> None:
    """Starts of an observed scheduler are seen later than they happen."""
    store = Store(tmp_path / "store")
    promises = Promises(store)
    promises.make(5_000, {1: (6_000, 7_000, 9_000, 3_000), 2: (6_000, 7_000, 9_000, 3_000)})
    promises.note_start(1, 4_000)
    promises.note_start(2, 8_000)
    assert (promises.started, promises.kept) == (1, 1)
    assert [tuple(row) for row in store.connection.execute("SELECT job, kept FROM promises")] == [(2, 1)]
    store.close()


def test_promises_in_a_store_of_the_second_version_are_counted(tmp_path: Path) -> None:
    """Three jobs were promised 5 to 9 s: one started then, one later, and one waits."""
    old = old_store(tmp_path / "store", 2)
    old.executescript(
        "INSERT INTO promises VALUES (1, 0, 5000, 6000, 9000), (2, 0, 5000, 6000, 9000), (3, 0, 5000, 6000, NULL);"
        "INSERT INTO attempts (job, attempt, stage, parts, reason, intended_ms, started_ms)"
        "VALUES (1, 1, 'RUNNING', '[]', '', 0, 7000), (2, 1, 'RUNNING', '[]', '', 0, 9001);"
    )
    old.close()
    store = Store(tmp_path / "store")
    promises = Promises(store)
    assert (promises.started, promises.kept) == (2, 1)
    promises.made.add(3)
    promises.note_start(3, 20_000)  # it was promised no latest time
    assert (promises.started, promises.kept) == (3, 2)
    assert (Promises(store).started, Promises(store).kept) == (3, 2)
    store.close()


def test_times_of_the_wall_clock_in_a_store_of_the_third_version_become_its_own(tmp_path: Path) -> None:
    old = old_store(tmp_path / "store", 3)
    old.executescript(
        """INSERT INTO meta VALUES ('clock', '{"boot": "", "at_ms": 5000, "boot_ms": 0, "unix_ms": 1700000005000}');"""
        "INSERT INTO attempts (job, attempt, stage, parts, reason, intended_ms, began_unix_ms)"
        "VALUES (1, 1, 'RUNNING', '[]', '', 0, 1700000006000);"
    )
    old.close()
    store = Store(tmp_path / "store")
    assert [*store.connection.execute("SELECT real_start_ms, real_end_ms FROM attempts").fetchone()] == [6000, None]
    store.close()


def test_times_are_shown_as_the_wall_clock_says_after_it_was_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    clock = Clock(store)
    before_ms, wall = clock.unix_ms(1000), time.time
    monkeypatch.setattr("pointsman.live.control.clock.time.time", lambda: wall() + 0.5)
    clock.heed_steps(store)
    assert clock.unix_ms(1000) == before_ms
    monkeypatch.setattr("pointsman.live.control.clock.time.time", lambda: wall() - 3600.0)
    clock.heed_steps(store)
    assert abs(clock.unix_ms(1000) - before_ms + 3_600_000) < 100
    kept = json.loads(store.setting("clock") or "")
    assert abs(kept["unix_ms"] - kept["at_ms"] - before_ms + 1000 + 3_600_000) < 100
    assert clock.now_ms() < 60_000
    store.close()
