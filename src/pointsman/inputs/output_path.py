"""Writing at a place that a user names: whether it can be, asked before the work; and whole or not at all."""

import os
from pathlib import Path

from pointsman.errors import RunError, UsageError


def check_folder(folder: Path) -> None:
    """UsageError unless `folder` can be written to, or made."""
    there = folder
    while not (there.exists() or there.is_symlink()) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise UsageError(f"{folder}: {there} is no folder, so nothing can be written there; choose another place")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{folder}: {there} may not be written to; choose another place, or change its rights")


def write_whole(path: Path, text: str) -> None:
    """Write `text` beside `path` and rename it. RunError, and nothing left behind, if it cannot be written."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RunError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_new(path: Path, text: str, *, force: bool) -> None:
    """`write_whole`; UsageError if there is such a file and `force` does not replace it."""
    if path.exists() and not force:
        raise UsageError(f"{path}: exists already (choose another name, or --force)")
    write_whole(path, text)
