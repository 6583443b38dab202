"""A text that may be the name of a file."""

from pathlib import Path


def names_file(text: str | Path) -> bool:
    """Whether there is such a file; no file has a name that is too long or holds a NUL."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def split_settings(text: str) -> tuple[str, str | None]:
    """Splits ``SOURCE:SETTINGS`` at the last colon; of a file whose name has colons, all is the source."""
    source, colon, settings = text.rpartition(":")
    return (source, settings) if colon and not names_file(text) else (text, None)


def names_folder(text: str | Path) -> bool:
    """Whether there is such a folder; none has a name that is too long or holds a NUL."""
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):
        return False
