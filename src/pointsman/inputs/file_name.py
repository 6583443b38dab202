"""A text that may be the name of a file."""

from pathlib import Path


def names_file(text: str | Path) -> bool:
    """Whether there is such a file; no file has a name that is too long or holds a NUL."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def names_folder(text: str | Path) -> bool:
    """Whether there is such a folder, likewise."""
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):
        return False
