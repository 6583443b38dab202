"""What is committed reaches the database itself, and the log of it does not grow for ever."""

import sqlite3
from pathlib import Path

import pytest

from pointsman.live.records import write_back
from pointsman.live.records.store import Store

COMMITS, BYTES = 200, 100_000


@pytest.mark.parametrize(("every_s", "grows"), [(0.0, False), (1e9, True)])
def test_the_log_begins_anew_while_commits_go_on(
    every_s: float, grows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_back, "EVERY_S", every_s)
    store = Store(tmp_path / "store")
    for k in range(COMMITS):
        with store.turn():
            store.keep_setting("x", str(k % 10) * BYTES)
        if store._write_back._thread is not None:
            store._write_back._thread.join()
    log_bytes = (tmp_path / "store-wal").stat().st_size
    assert (log_bytes > COMMITS * BYTES / 2) == grows
    store.close()
    assert not (tmp_path / "store-wal").exists()
    with sqlite3.connect(tmp_path / "store") as connection:
        assert connection.execute("SELECT value FROM meta WHERE key = 'x'").fetchone() == ("9" * BYTES,)


def test_what_cannot_be_written_back_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_back, "EVERY_S", 0.0)
    store = Store(tmp_path / "store")
    reader = sqlite3.connect(tmp_path / "store", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM meta").fetchall()  # it reads what was there before, so the log is kept for it
    for k in range(20):
        with store.turn():
            store.keep_setting("x", str(k))
    assert reader.execute("SELECT value FROM meta WHERE key = 'x'").fetchone() is None
    reader.close()
    store.close()
    store = Store(tmp_path / "store")
    assert store.setting("x") == "19"
    store.close()
