"""Where commands look for what a daemon keeps, if nobody says where that is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pointsman.live.client import connection

from .daemons import RunningDaemon


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path, "--policy", "fifo") as daemon:
        yield daemon


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a daemon of this user would keep its files; the machine has none."""
    folder = tmp_path / "own"
    monkeypatch.setattr(connection, "own_folder", lambda: folder)
    monkeypatch.setattr(connection, "_MACHINES", tmp_path / "machine")
    return folder


def test_the_daemon_that_answers_says_where_it_keeps_its_files(daemon: RunningDaemon, own: Path) -> None:
    daemon.wait(daemon.submit("--", "true"), "COMPLETED")
    out = daemon.folder / "out"
    done = daemon.type("live", "export", "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert (out / "jobs.csv").exists()
    daemon.end()
    done = daemon.type("live", "decisions")
    assert done.returncode == 3
    assert f"{own}/store: there is no database of a daemon" in done.stderr


def test_files_of_the_machines_daemon_count_if_this_user_has_none(daemon: RunningDaemon, own: Path) -> None:
    daemon.end()
    (daemon.folder / "state").rename(daemon.folder / "machine")
    assert connection.known_folder() == daemon.folder / "machine"
    own.mkdir()
    (own / "store").touch()
    assert connection.known_folder() == own


def test_the_daemon_of_another_directory_is_not_asked(daemon: RunningDaemon, own: Path) -> None:
    other = daemon.folder / "other"
    stopped = daemon.type("live", "stop", "--state", str(other))
    assert stopped.returncode == 5
    assert f"keeps its files in {daemon.folder}/state, not in {other}" in stopped.stderr
    stopped = daemon.type("live", "stop", "--hand-back", "--state", str(other))
    assert (stopped.returncode, "no daemon has kept anything here" in stopped.stderr) == (3, True)
    assert daemon.answers()
    assert daemon.type("live", "stop", "--state", str(daemon.folder / "state")).returncode == 0
    assert daemon.process.wait(60) == 0


def test_a_daemon_at_another_socket_is_named(daemon: RunningDaemon) -> None:
    elsewhere = {connection.SOCKET: str(daemon.folder / "none.sock")}
    stopped = daemon.type("live", "stop", "--hand-back", "--state", str(daemon.folder / "state"), **elsewhere)
    assert stopped.returncode == 5
    assert "it is a daemon at another socket; name that in POINTSMAN_SOCKET" in stopped.stderr
    assert daemon.answers()
