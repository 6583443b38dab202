"""A directory that is there when it is whole, and not before."""

import os
import platform
import re
import shutil
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pointsman.errors import RunError, UsageError
from pointsman.inputs.output_path import check_output, hidden

_HOST = re.sub(r"[^A-Za-z0-9]+", "-", platform.node())[:40] or "host"
MARK = "manifest.json"
"""The file by which a directory is known as one of ours."""


@contextmanager
def whole_directory(directory: Path, *, force: bool = False, mark: str = MARK) -> Generator[Path]:
    """A new directory beside `directory` to write into; it takes that name if all goes well, and else is removed.

    Args:
        directory: the name it gets. Missing parents are made.
        force: replace a directory of that name if it is empty or one of ours.
        mark: the file by which one of ours is known.

    Raises:
        UsageError: the name is taken, or nothing of this name can be written.
        RunError: it cannot be written (a full disk, no permission).
    """
    refuse_taken(directory, force=force, mark=mark)
    mine = f"{_HOST}.{os.getpid()}-{uuid.uuid4().hex[:8]}"
    partial = hidden(directory, f"{mine}.partial")
    try:
        partial.mkdir(parents=True)
        yield partial
        _put(partial, directory, hidden(directory, f"{mine}.old"))
    except OSError as error:
        raise RunError(
            f"{directory}: {error.strerror or error} while it was written, so its files were removed; "
            "free some space or choose another directory with -o"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def refuse_taken(directory: Path, *, force: bool = False, mark: str = MARK) -> None:
    """Checks before a long run that its results will have a place, and clears up what others have left there.

    Raises:
        UsageError: something of this name exists, and it is not to be replaced; or nothing can be written there.
        RunError: the disk is full.
    """
    check_output(directory)
    _clear_up(directory)
    if not directory.exists() and not directory.is_symlink():
        return
    if not force:
        raise UsageError(f"{directory} exists; choose another directory with -o, or replace it with --force")
    ours = directory.is_dir() and not directory.is_symlink()
    if not ours or (any(directory.iterdir()) and not (directory / mark).is_file()):
        raise UsageError(
            f"{directory} exists and is not a run directory, so --force does not replace it; choose another directory"
        )


def _clear_up(directory: Path) -> None:
    """What processes of this machine that were killed have left: half directories go; the one that was to be replaced
    gets its name again.
    """
    mine = re.escape(hidden(directory, _HOST).name)
    left = re.compile(rf"{mine}\.(\d+)-[0-9a-f]{{8}}\.(partial|old)")
    for path in sorted(directory.parent.iterdir()) if directory.parent.is_dir() else []:
        found = left.fullmatch(path.name)
        if found is None or _is_alive(int(found[1])):
            continue
        if found[2] == "old" and not directory.exists():
            path.rename(directory)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def _put(partial: Path, directory: Path, aside: Path) -> None:
    if directory.exists():
        directory.rename(aside)
    partial.rename(directory)
    shutil.rmtree(aside, ignore_errors=True)
