"""Compiled code is read only from a folder that is this user's alone; an explicit wish is never replaced in silence."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from pointsman.cache_folder import HOME, PRIVATE, find_place
from pointsman.errors import UsageError

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")


@pytest.fixture(autouse=True)
def plain_umask() -> Generator[None]:
    """Folders that a test makes are writable by their owner only."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def here(plain_umask: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a temporary folder of one's own, and nothing said about where to keep code."""
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    for name in (HOME, PRIVATE, "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


def mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o7777


def without_home(here: Path) -> Path:
    """Make the cache folder unusable; returns the folder that takes its place."""
    (here / "home" / ".cache").write_text("a file")
    return here / "tmp" / f"pointsman-{os.getuid()}"


def test_the_folder_named_is_used(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(here / "a" / "b"))
    place = find_place()
    assert place == (here / "a" / "b" / "compiled", "named by POINTSMAN_HOME", True)
    assert mode(place.folder) == mode(here / "a" / "b") == 0o700
    monkeypatch.setenv(HOME, "a/b")
    monkeypatch.chdir(here)
    assert find_place().folder == place.folder and find_place("sent").folder == here / "a" / "b" / "sent"


def test_the_cache_folder_else(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0)
    try:
        place = find_place()
    finally:
        os.umask(before)
    assert place == (here / "home" / ".cache" / "pointsman" / "compiled", "in the user's cache folder", True)
    assert mode(place.folder) == mode(place.folder.parent) == 0o700
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    assert find_place().folder == here / "cache" / "pointsman" / "compiled"
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")  # the specification: relative ones are to be ignored
    assert find_place() == place


def test_a_folder_named_that_cannot_be_written_to_is_an_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "file").write_text("")
    for named, why in [
        ("file", "file is not a folder"),
        ("file/in", "file/in cannot be made (Not a directory)"),
        ("\N{SNOWMAN}" * 300, "cannot be made (File name too long)"),
    ]:
        monkeypatch.setenv(HOME, str(here / named))
        with pytest.raises(UsageError, match=r"^POINTSMAN_HOME: ") as refused:
            find_place()
        assert why in str(refused.value) and "name a folder of your own, or unset it" in str(refused.value)


@pytest.mark.parametrize("others", [0o770, 0o777, 0o707])
@pytest.mark.parametrize("which", ["base", "compiled"])
def test_a_folder_that_others_may_write_to_is_not_used(
    here: Path, monkeypatch: pytest.MonkeyPatch, which: str, others: int
) -> None:
    def opened(base: Path) -> Path:
        (base / "compiled").mkdir(parents=True, exist_ok=True)
        folder = base if which == "base" else base / "compiled"
        folder.chmod(others)
        return folder

    monkeypatch.setenv(HOME, str(here / "named"))
    folder = opened(here / "named")
    with pytest.raises(UsageError, match=f"other users may write to {folder}"):
        find_place()
    monkeypatch.delenv(HOME)
    folder = opened(here / "home" / ".cache" / "pointsman")
    temporary = here / "tmp" / f"pointsman-{os.getuid()}"
    assert find_place() == (
        temporary / "compiled",
        f"in the temporary folder, because other users may write to {folder}",
        True,
    )
    also = opened(temporary)
    private = find_place()
    assert not private.lasts and private.folder.parent.parent == here / "tmp" and mode(private.folder) == 0o700
    assert private.why.startswith("removed when the command ends, because ") and str(folder) in private.why
    assert private.why.endswith(f"; other users may write to {also}")


def test_a_shared_folder_may_be_named_where_none_can_replace_what_is_in_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(here / "tmp"))
    assert mode(find_place().folder) == 0o700


def test_a_link_in_the_temporary_folder_is_not_followed(here: Path) -> None:
    planted = without_home(here)
    (here / "elsewhere").mkdir(0o700)
    planted.symlink_to(here / "elsewhere")
    place = find_place()
    assert not place.lasts and f"{planted} is not a folder" in place.why
    assert not list((here / "elsewhere").iterdir())


def test_a_link_to_the_users_own_cache_is_followed(here: Path) -> None:
    (here / "scratch").mkdir()
    (here / "home" / ".cache").symlink_to(here / "scratch")
    assert find_place().folder == here / "scratch" / "pointsman" / "compiled"


@needs_root
@pytest.mark.parametrize("which", ["base", "compiled"])
def test_a_folder_of_another_user_is_not_used(here: Path, monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    def given_away(base: Path) -> Path:
        (base / "compiled").mkdir(0o700, parents=True)
        base.chmod(0o700)
        folder = base if which == "base" else base / "compiled"
        os.chown(folder, NOBODY, NOBODY)
        return folder

    folder = given_away(without_home(here))
    place = find_place()
    assert not place.lasts and f"{folder} belongs to another user (uid {NOBODY})" in place.why
    monkeypatch.setenv(HOME, str(here / "named"))
    folder = given_away(here / "named")
    with pytest.raises(UsageError, match=f"{folder} belongs to another user"):
        find_place()


def test_a_private_folder_is_shared_with_processes_and_removed_at_exit(here: Path) -> None:
    without_home(here).write_text("a file")
    find = "from pointsman.cache_folder import find_place; print(*find_place()[::2])"
    twice = f"{find}; import subprocess, sys; sys.stdout.flush(); subprocess.run([sys.executable, '-c', {find!r}])"
    environment = {**os.environ, "TMPDIR": str(here / "tmp")}
    done = subprocess.run([sys.executable, "-c", twice], env=environment, capture_output=True, text=True, check=True)
    ours, theirs = done.stdout.splitlines()
    assert ours == theirs and ours.endswith("/compiled False") and str(here / "tmp" / "pointsman-") in ours
    assert [path.name for path in (here / "tmp").iterdir()] == [f"pointsman-{os.getuid()}"]


def test_a_planted_object_is_not_loaded(here: Path) -> None:
    """As in an attack: the folder of objects, made by somebody else beforehand."""
    planted = without_home(here) / "compiled"
    planted.mkdir(parents=True)
    for folder in (planted.parent, planted):
        folder.chmod(0o777)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
    write = (
        "from pointsman.engine.jit.store import *; write_object('digest', Object('s', (), b'code')); print(folder())"
    )
    environment = {**os.environ, "TMPDIR": str(here / "tmp")}
    done = subprocess.run([sys.executable, "-c", write], env=environment, capture_output=True, text=True, check=True)
    assert not done.stdout.startswith(str(planted)) and not list(planted.iterdir())
