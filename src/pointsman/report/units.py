"""Figures and names as people read them."""

import math
import re

UNITS = ((86400.0, "d", 48 * 3600.0), (3600.0, "h", 3600.0), (60.0, "min", 60.0), (1.0, "s", 1.0))
"""Seconds in a unit, its name, and from how many seconds on it is used."""

NOTHING = "–"

_IN_FILE = re.compile(r"[^(),]*\.py:")


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


def percent(ratio: float | None, *, signed: bool = False) -> str:
    """``12.3 %`` of 0.123."""
    if ratio is None or math.isnan(ratio):
        return NOTHING
    rounded = round(100 * ratio, 1) or 0.0  # no minus before a zero
    return f"{rounded:{'+' if signed and rounded else ''},.1f} %"


def policy_name(text: str) -> str:
    """A policy as tables call it, a user's own by its class: ``Mine`` of ``/home/me/mine.py:Mine``."""
    return _IN_FILE.sub("", text)


def count(value: float | None) -> str:
    """``12,345``; three digits if it is not whole."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if float(value).is_integer() else digits(value)
