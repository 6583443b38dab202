"""Where compiled code, published logs and fonts are kept, and why what lies there may be trusted.

Machine code that is loaded is run. It is therefore only read from a folder that belongs to this user and that no other
user may write to, in a folder of which the same is true. Folders further up are not looked at: which of them to trust
is the choice of the user who named them.
"""

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pointsman.errors import RunError, UsageError
from pointsman.inputs.output_path import check_folder

HOME = "POINTSMAN_HOME"
PRIVATE = "POINTSMAN_PRIVATE_FOLDER"
"""Set by a process without a lasting folder, so that the processes that it starts share its private one."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Place(NamedTuple):
    """A folder that is this user's alone."""

    folder: Path
    why: str
    """Why this one: a phrase that follows its name."""
    lasts: bool = True
    """Whether it is still there when the command has ended."""


def find_place(name: str = "compiled") -> Place:
    """The folder called `name` of ``POINTSMAN_HOME``, else of the user's cache folder, else of a temporary folder.

    Raises:
        UsageError: ``POINTSMAN_HOME`` names a folder that cannot be used. It is never replaced by another one.
        RunError: there is no folder at all.
    """
    if named := os.environ.get(HOME):
        base = Path(os.path.realpath(named))
        if fault := _fault(base, may_be_shared=True) or _fault(base / name) or _unwritable(base / name):
            raise UsageError(f"{HOME}: {fault}; let it name a folder of your own, or unset it")
        return Place(base / name, f"named by {HOME}")
    faults: list[str] = []
    for base, what in _usual(faults):
        if fault := _fault(base) or _fault(base / name) or _unwritable(base / name):
            faults.append(fault)
        else:
            return Place(base / name, f"{what}, because {'; '.join(faults)}" if faults else what)
    why = f"removed when the command ends, because {'; '.join(faults)}"
    return Place(_private(name), why, lasts=False)


def discard(path: Path) -> None:
    """Remove what is at `path`, also a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def has_user_cache() -> bool:
    """Whether there is a folder for caches that this user can write to."""
    cache = _user_cache()
    try:
        if cache is not None:
            check_folder(cache)
    except UsageError:
        return False
    return cache is not None


def _usual(faults: list[str]) -> Iterator[tuple[Path, str]]:
    """Folders to try, the best first, and what each is; adds to `faults` why one is not even tried."""
    if cache := _user_cache():
        yield Path(os.path.realpath(cache)) / "pointsman", "in the user's cache folder"
    else:
        faults.append("there is no home directory")
    yield _temporary() / f"pointsman-{os.getuid()}", "in the temporary folder"


def _user_cache() -> Path | None:
    """Where the XDG specification puts it; None without a home directory."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named
    try:
        home = Path.home()
    except RuntimeError:  # HOME is not set, and the user is in no list of users
        return None
    return home / ".cache" if home.is_absolute() and home.is_dir() else None


def _temporary() -> Path:
    try:
        return Path(os.path.realpath(tempfile.gettempdir()))
    except OSError as error:
        raise RunError(
            f"no folder can be written to, not even a temporary one ({error.strerror}); {HOME} or TMPDIR names one"
        ) from None


def _private(name: str) -> Path:
    """A folder of this process and of those that it starts."""
    base = Path(os.environ.get(PRIVATE, ""))
    if not base.is_absolute() or not base.is_dir() or _fault(base):
        base = Path(tempfile.mkdtemp(prefix="pointsman-", dir=_temporary()))
        os.environ[PRIVATE] = str(base)
        atexit.register(_remove, base, os.getpid())
    if fault := _fault(base / name):
        raise RunError(f"{fault}; {HOME} names another folder")
    return base / name


def _remove(base: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a process that was forked from it
        shutil.rmtree(base, ignore_errors=True)


def _fault(folder: Path, *, may_be_shared: bool = False) -> str | None:
    """Make `folder` if it is not there. Why it may not be trusted, if so.

    One that `may_be_shared` may be root's, and others may write to it as long as none can replace what is in it.
    """
    try:
        _make(folder)
        found = os.lstat(folder)
    except OSError as error:
        return f"{folder} cannot be made ({error.strerror})"
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a folder"
    if found.st_uid != os.getuid() and not (may_be_shared and found.st_uid == 0):
        return f"{folder} belongs to another user (uid {found.st_uid})"
    if found.st_mode & _OTHERS_WRITE and not (may_be_shared and found.st_mode & stat.S_ISVTX):
        return f"other users may write to {folder}"
    return None


def _make(folder: Path) -> None:
    """Make a folder, and what it lies in, for this user alone."""
    if os.path.lexists(folder):
        return
    _make(folder.parent)
    folder.mkdir(0o700, exist_ok=True)


def _unwritable(folder: Path) -> str | None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{folder} cannot be written to ({error.strerror})"
