"""Figures and names as people read them."""

import math
import re

from pointsman.duration import NOTHING, UNITS, digits, duration, time_unit

__all__ = ["NOTHING", "UNITS", "count", "digits", "duration", "percent", "policy_name", "time_unit"]

_IN_FILE = re.compile(r"[^(),]*\.py:")


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
