"""Single values as Slurm prints them in text."""

import re
import time
from datetime import datetime
from typing import Final

from pointsman.cluster import hostlist
from pointsman.inputs.durations import parse_duration_s
from pointsman.live.backends.slurm.records import Ending

_NOTHING: Final = frozenset({"", "(null)", "n/a", "none", "unknown", "none assigned"})
_NO_LIMIT: Final = _NOTHING | {"unlimited", "infinite", "invalid", "not_set", "partition_limit"}


def optional(text: str) -> str:
    """The text, or nothing where Slurm has a word for nothing."""
    return "" if text.strip().casefold() in ("", "(null)", "n/a") else text.strip()


def reason(text: str) -> str:
    """Why a job waits or a node is drained; nothing where Slurm says ``None``."""
    return "" if text.strip().casefold() in _NOTHING else text.strip()


def moment_s(text: str) -> int | None:
    """Seconds since 1970; None of the words for no time. Without a zone it is this machine's local time.

    Raises:
        ValueError: it is no time.
    """
    text = text.strip()
    if text.casefold() in _NOTHING:
        return None
    if text.isdecimal():
        return int(text) or None
    return int(time.mktime(datetime.fromisoformat(text).timetuple()))


def limit_s(text: str) -> float | None:
    """Seconds of ``1-02:03:04`` or ``30:00``; None where there is no limit.

    Raises:
        ValueError: it is no span of time.
    """
    text = text.strip()
    if text.casefold() in _NO_LIMIT:
        return None
    return 60.0 * int(text) if text.isdecimal() else parse_duration_s(text)


def whole(text: str) -> int:
    """A whole number; the least of a range, ``1-2``; with Slurm's ``K``, which is 1024.

    Raises:
        ValueError: it is none.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMG]?)(?:-[0-9.]+[KMG]?)?\+?", text.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"{text!r:.60} is no whole number")
    return round(float(found[1]) * 1024 ** " KMG".index(found[2].upper() or " "))


def number_or(text: str, default: int) -> int:
    """A whole number, or what holds where Slurm says nothing."""
    return whole(text) if optional(text) else default


def names(text: str) -> tuple[str, ...]:
    """The nodes of a hostlist.

    Raises:
        ValueError: it is none.
    """
    text = optional(text)
    return () if text.casefold() in _NOTHING else tuple(hostlist.expand(text))


def words(text: str) -> tuple[str, ...]:
    """The entries of a list with commas."""
    return tuple(part.strip() for part in optional(text).split(",") if part.strip())


def ending(text: str) -> Ending:
    """Code and signal of ``3:0``, or of a status as `os.wait` has it, ``768``.

    Raises:
        ValueError: it is neither.
    """
    code, colon, signal = optional(text).partition(":")
    if colon:
        return Ending(int(code), int(signal))
    return status(int(code or 0))


def status(wait: int) -> Ending:
    """Code and signal of a status as `os.wait` has it."""
    return Ending(wait >> 8 & 0xFF, wait & 0x7F)


def is_yes(text: str) -> bool:
    """Whether a cell says yes."""
    return text.strip().casefold() in ("1", "yes", "true")
