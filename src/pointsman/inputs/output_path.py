"""Writing at a place that a user names: whether it can be, asked before the work; and whole or not at all."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pointsman.errors import RunError, UsageError

ROOM = 1 << 16
"""Bytes that must fit where something is to be written."""
LONGEST_INSIDE = 300
"""Bytes of the longest path in a directory of results, and of the name that it has while it is written."""
_SHORT, _HEAD = 120, 40
"""Bytes of a name that a hidden one can hold, and characters of a longer one that it shows."""


def check_output(path: Path) -> None:
    """That a file or directory of this name can be made, as far as can be known before there is anything to write.

    Raises:
        UsageError: its name is too long, or its folder is none or read-only. RunError: the disk is full.
    """
    there = _nearest(path.parent)
    _check_names(path, there)
    check_folder(path.parent)
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(bytes(ROOM))
            file.flush()
    except OSError as error:
        said = f"{_shorten(path)}: nothing can be written to {there}: {error.strerror}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise RunError(f"{said}; free some space, or choose another place") from None
        raise UsageError(f"{said}; choose another place") from None


def check_output_file(path: Path, *, force: bool) -> None:
    """Checks, as `check_output` does, that a file can be written; it is replaced only by `force`.

    Raises:
        UsageError, RunError: as `check_output`; or it exists, or its folder does not.
    """
    there = _nearest(path.parent)
    _check_names(path, there)
    if path.is_dir():
        raise UsageError(f"{path}: this is a directory; name the file to write")
    if path.exists() and not force:
        raise UsageError(f"{path}: exists already (choose another name, or --force)")
    if not path.parent.exists():
        raise UsageError(f"{path}: there is no directory {path.parent}; make it first")
    check_output(path)


def check_folder(folder: Path) -> None:
    """UsageError unless `folder` can be written to, or made."""
    there = _nearest(folder)
    if not there.is_dir():
        raise UsageError(f"{folder}: {there} is not a directory; choose another place")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{folder}: {there} may not be written to; choose another place, or change its rights")


def hidden(path: Path, ending: str) -> Path:
    """A hidden name beside `path`, short enough however long its name is."""
    name = path.name
    if len(os.fsencode(name)) > _SHORT:
        name = f"{name[:_HEAD]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return path.parent / f".{name}.{ending}"  # also of '.', which has no name


def write_whole(path: Path, text: str) -> None:
    """Write `text` beside `path` and rename it. RunError, and nothing left behind, if it cannot be written."""
    try:
        replace_files({path: text.encode()})
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_new(path: Path, text: str, *, force: bool) -> None:
    """`write_whole` of a file that can be made (`check_output_file`)."""
    check_output_file(path, force=force)
    write_whole(path, text)


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Give files these contents. Until all of them are written all keep their old ones, so that they go together."""
    partial = {path: hidden(path, "partial") for path in contents}
    try:
        for path, content in contents.items():
            partial[path].write_bytes(content)
        for path in contents:
            partial[path].replace(path)
    except BaseException:
        for path in partial.values():
            path.unlink(missing_ok=True)
        raise


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest above it of which there is something."""
    there = folder
    try:
        while not (there.exists() or there.is_symlink()) and there != there.parent:
            there = there.parent
    except OSError as error:  # where Python is older than 3.14, a name that is too long
        raise UsageError(f"{_shorten(folder)}: {error.strerror}; choose a shorter one") from None
    return there


def _check_names(path: Path, there: Path) -> None:
    if not there.is_dir():
        return
    most, most_path = os.pathconf(there, "PC_NAME_MAX"), os.pathconf(there, "PC_PATH_MAX")
    for name in path.parts:
        if len(os.fsencode(name)) > most:
            raise UsageError(
                f"{_shorten(path)}: the name {name!r:.40} has more than {most} bytes; choose a shorter one"
            )
    if len(os.fsencode(os.path.abspath(path))) + LONGEST_INSIDE > most_path:
        longest = most_path - LONGEST_INSIDE
        raise UsageError(f"{_shorten(path)}: the path has more than {longest:,} bytes; choose a shorter one")


def _shorten(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 100 else f"{text[:100]}…"
