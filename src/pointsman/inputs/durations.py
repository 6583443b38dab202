"""Durations as people write them, ``90``, ``90m``, ``1h30m``, ``1-12:00:00``, ``PT1H``, and as they read them."""

import math
import re
from math import isfinite
from typing import Final

UNITS = ((86400.0, "d", 48 * 3600.0), (3600.0, "h", 3600.0), (60.0, "min", 60.0), (1.0, "s", 1.0))
"""Seconds in a unit, its name, and from how many seconds on it is used."""

NOTHING = "–"

_NUMBER: Final = r"(\d+(?:\.\d*)?|\.\d+)"
_UNIT_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART: Final = re.compile(_NUMBER + r"\s*(ms|[smhdw])\s*", re.ASCII)
_SLURM: Final = re.compile(
    r"(?:(?P<d>\d+)-(?P<dh>\d+)(?::(?P<dm>\d+)(?::(?P<ds>\d+))?)?|(?:(?P<h>\d+):)?(?P<m>\d+):(?P<s>\d+))", re.ASCII
)
_ISO: Final = re.compile(
    rf"P(?=.)(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?=.)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?", re.ASCII
)


def parse_duration_s(text: str) -> float:
    """Seconds of a duration in one of four notations.

    A plain number is seconds. Units are ``ms s m h d w``, largest first where there are several (``1h30m``). With
    colons or a dash it is Slurm's: ``M:S``, ``H:M:S``, ``D-H``, ``D-H:M``, ``D-H:M:S``. With a ``P`` it is
    ISO 8601 (``PT1H``, ``P1DT12H``) without months and years, whose lengths vary.

    Raises:
        ValueError: none of these, negative or not finite.
    """
    seconds = _seconds(text.strip())
    if seconds is None or not isfinite(seconds):
        raise ValueError(f"{text!r} is no duration; write it like 90 (seconds), 90m, 1h30m, 1-12:00:00 or PT1H")
    return seconds


def _seconds(text: str) -> float | None:
    if re.fullmatch(_NUMBER + r"(?:e[+-]?\d{1,3})?", text, re.ASCII | re.IGNORECASE):
        return float(text)
    if slurm := _SLURM.fullmatch(text):
        return _of_slurm({name: int(value or 0) for name, value in slurm.groupdict().items()})
    if iso := _ISO.fullmatch(text.upper()):
        return sum(float(value or 0) * _UNIT_S[unit] for value, unit in zip(iso.groups(), "wdhms", strict=True))
    return _of_units(text.lower())


def _of_slurm(part: dict[str, int]) -> float:
    hours, minutes, seconds = part["h"] + part["dh"], part["m"] + part["dm"], part["s"] + part["ds"]
    return float(str(((part["d"] * 24 + hours) * 60 + minutes) * 60 + seconds))  # through text: too many are inf


def _of_units(text: str) -> float | None:
    parts = [(float(number), _UNIT_S[unit]) for number, unit in _PART.findall(text)]
    sizes = [size for _, size in parts]
    in_order = sizes == sorted(set(sizes), reverse=True)
    return sum(n * size for n, size in parts) if parts and in_order and not _PART.sub("", text) else None


def duration(seconds: float | None) -> str:
    """``12.3 min`` of 738.0: three digits, in the unit that suits."""
    if seconds is None or math.isnan(seconds):
        return NOTHING
    if 0 < seconds < 0.01:
        return "< 0.01 s"
    size, unit = time_unit(seconds)
    return f"{digits(seconds / size)} {unit}"


def time_unit(seconds: float) -> tuple[float, str]:
    """Seconds in the unit that suits this length of time, and its name."""
    for size, unit, least_s in UNITS:
        if abs(seconds) >= least_s:
            return size, unit
    return 1.0, "s"


def digits(value: float) -> str:
    """Three significant digits, without an exponent: ``1,230``, ``12.3``, ``0.0123``; ``0`` below a millionth."""
    if abs(value) < 1e-6:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def instant(time_s: float, first_s: float) -> str:
    """``749605.5 s (8.68 d after the first submit)``: on the log's clock, whole to the ms, and since `first_s`."""
    clock = f"{time_s:.3f}".rstrip("0").rstrip(".")
    since = "the first submit" if time_s == first_s else f"{duration(time_s - first_s)} after the first submit"
    return f"{clock} s ({since})"
