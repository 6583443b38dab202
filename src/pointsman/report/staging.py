"""A directory that is there when it is whole, and not before."""

import shutil
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pointsman.errors import RunError, UsageError
from pointsman.inputs.output_path import check_folder

MARK = "manifest.json"
"""The file by which a directory is known as one of ours."""


@contextmanager
def whole_directory(directory: Path, *, force: bool = False) -> Generator[Path]:
    """A new directory beside `directory` to write into; it takes that name if all goes well, and else is removed.

    Args:
        directory: the name it gets. Missing parents are made.
        force: replace a directory of that name if it is empty or one of ours.

    Raises:
        UsageError: the name is taken.
        RunError: it cannot be written (a full disk, no permission).
    """
    refuse_taken(directory, force=force)
    token = uuid.uuid4().hex[:8]
    partial = directory.parent / f".{directory.name}.{token}.partial"
    try:
        partial.mkdir(parents=True)
        yield partial
        _put(partial, directory, directory.parent / f".{directory.name}.{token}.old")
    except OSError as error:
        raise RunError(
            f"{directory}: {error.strerror or error} while it was being written, so nothing is left of it; "
            "make room or choose another place with -o"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def refuse_taken(directory: Path, *, force: bool = False) -> None:
    """Checks before a long run that its results will have a place.

    Raises:
        UsageError: something of this name exists, and it is not to be replaced; or nothing can be written there.
    """
    check_folder(directory.parent)
    if not directory.exists() and not directory.is_symlink():
        return
    if not force:
        raise UsageError(f"{directory} exists; choose another place with -o, or replace it with --force")
    ours = directory.is_dir() and not directory.is_symlink()
    if not ours or (any(directory.iterdir()) and not (directory / MARK).is_file()):
        raise UsageError(
            f"{directory} exists and is no run directory, so --force does not replace it; choose another place"
        )


def _put(partial: Path, directory: Path, aside: Path) -> None:
    if directory.exists():
        directory.rename(aside)
    partial.rename(directory)
    shutil.rmtree(aside, ignore_errors=True)
