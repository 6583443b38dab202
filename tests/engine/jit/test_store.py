"""Objects on disk: what lies there damaged is made anew, old ones are removed, a folder without room is named."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pointsman.engine.jit import build
from pointsman.engine.jit.build import known, prepare
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.engine.jit.policy_code import units_of
from pointsman.engine.jit.store import Object, folder, object_file, prune, read_object, write_object
from tests.engine.jit.compiled import environment

JOBS = "submit_s,gpus,duration_s\n0,1,10\n"
FIFO = "pointsman.policies.classical.fifo"
FEW = [*units_of(FIFO), "pointsman.engine.run.loop.instants", "pointsman.engine.actions.verbs"]
compiled = pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of this test's own, in ``compiled`` of this folder."""
    named = tmp_path / "home"
    monkeypatch.setenv("POINTSMAN_HOME", str(named))
    return named


def simulate(home: Path, at: Path) -> subprocess.CompletedProcess[str]:
    (at / "jobs.csv").write_text(JOBS)
    command = ["-m", "pointsman", "-q", "simulate", "jobs.csv", "--cluster", "1x1", "--policy", "fifo"]
    env = environment(POINTSMAN_HOME=str(home))
    return subprocess.run([sys.executable, *command], cwd=at, env=env, capture_output=True, text=True)


def test_an_object_is_read_as_it_was_written(home: Path) -> None:
    made = Object("unit.function", ("other.function",), bytes(range(256)))
    write_object("digest", made)
    assert read_object("digest") == made
    assert read_object("another") is None
    assert [file.name for file in folder().iterdir()] == ["digest.o"]
    assert folder() == home / "compiled"


@pytest.mark.parametrize("damage", [b"", b"{}", b"{}\n", b"[1]\nx", b"\xff\xfe", b'{"sha256": 1}\n', None])
def test_a_damaged_object_is_removed(home: Path, damage: bytes | None) -> None:
    write_object("digest", Object("unit.function", (), b"code" * 100))
    file = object_file("digest")
    file.write_bytes(file.read_bytes()[:-1] if damage is None else damage)
    assert read_object("digest") is None
    assert not file.exists()


def test_an_object_under_the_name_of_another_is_removed(home: Path) -> None:
    write_object("digest", Object("unit.function", (), b"code"))
    object_file("digest").rename(object_file("other"))
    assert read_object("other") is None
    assert not object_file("other").exists()


def test_a_folder_in_the_place_of_an_object_is_removed(home: Path) -> None:
    object_file("digest").mkdir()
    assert read_object("digest") is None
    assert not object_file("digest").exists()


def test_only_what_was_not_used_for_long_is_pruned(home: Path) -> None:
    for name in ("old", "used", "new"):
        write_object(name, Object("unit.function", (), b"code"))
    long_ago = time.time() - 31 * 86_400
    for name in ("old", "used"):
        os.utime(object_file(name), (long_ago, long_ago))
    kept = folder() / "results"
    kept.mkdir()
    os.utime(kept, (long_ago, long_ago))
    assert read_object("used") is not None
    prune()
    assert sorted(path.name for path in folder().iterdir()) == ["new.o", "results", "used.o"]


@compiled
def test_damaged_code_is_made_anew(tmp_path: Path) -> None:
    prepare(FEW)
    copies = tmp_path / "home" / "compiled"
    for place in (copies.parent, copies):
        place.mkdir(0o700)  # whatever the umask: one that others may write to is refused
    for unit in FEW:
        for facts in known(unit).values():
            shutil.copy2(object_file(facts.digest), copies)
    damaged = [copies / object_file(facts.digest).name for facts in known(units_of(FIFO)[1]).values()]
    assert len(damaged) == 2  # a decision, an event
    for file in damaged:
        file.write_bytes(file.read_bytes()[:1000])
    for table in copies.glob("*.json"):
        table.write_text("{")
    done = simulate(tmp_path / "home", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(file.stat().st_size > 1000 for file in damaged)


@pytest.mark.slow
@compiled
@pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/shm").is_dir(), reason="needs to mount a small file system")
def test_a_folder_without_room_is_named(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=30k", "none", str(full)], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    try:
        done = simulate(full, tmp_path)
    finally:
        subprocess.run(["umount", str(full)], check=True)
    assert done.returncode == 1
    assert str(full) in done.stderr and "POINTSMAN_HOME names another folder" in done.stderr
    assert "Traceback" not in done.stderr


HOLDS = """
import sys, time
from pointsman.engine.jit.build import _alone
with _alone():
    print(flush=True)
    time.sleep(int(sys.argv[1]))
"""


@compiled
def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    """Here of one that was killed while it compiled."""
    env = environment(POINTSMAN_HOME=str(tmp_path / "home"))

    def start(how_long_s: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HOLDS, str(how_long_s)]
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)

    with start(600) as holds:
        assert holds.stdout and holds.stdout.readline()
        with start(0) as waits:
            with pytest.raises(subprocess.TimeoutExpired):
                waits.wait(3)
            holds.kill()
            waits.communicate()
        assert waits.returncode == 0


@compiled
@pytest.mark.slow
def test_many_processes_that_start_at_once_in_a_fresh_clone_do_no_harm(tmp_path: Path) -> None:
    """One compiles, and nothing is left that another could wait for."""
    (tmp_path / "jobs.csv").write_text(JOBS)
    command = ["-m", "pointsman", "-q", "simulate", "jobs.csv", "--cluster", "1x1", "--policy", "fifo"]
    env = environment(POINTSMAN_HOME=str(tmp_path / "home"))
    started = [
        subprocess.Popen(
            [sys.executable, *command], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(20)
    ]
    ended = [each.communicate() for each in started]
    assert [each.returncode for each in started] == [0] * 20
    assert {said for _, said in ended} == {""}
    left = [path.name for path in (tmp_path / "home" / "compiled").iterdir()]
    assert all(name == "compiling" or name.endswith((".o", ".ir", ".json")) for name in left)


@pytest.mark.slow
@compiled
def test_what_cannot_be_locked_is_compiled_all_the_same(home: Path) -> None:
    (folder() / "compiling").mkdir()
    prepare(["tests.engine.jit.nested"])


@compiled
def test_who_interrupts_does_not_wait_for_what_compiles(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Popen(subprocess.Popen[str]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    class Interrupted(BaseException):
        """As of a command that is ended."""

    def interrupt(share: float) -> None:
        raise Interrupted

    monkeypatch.setattr(build.subprocess, "Popen", Popen)
    with pytest.raises(Interrupted):
        prepare(["tests.engine.jit.nested"], interrupt)
    assert [each.returncode for each in started] == [-signal.SIGTERM]
