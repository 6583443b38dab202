"""How far options may go, in a file, on the command line and in Python alike."""

from math import isfinite
from operator import index
from typing import Final

from pointsman.errors import UsageError
from pointsman.types import NEVER_MS

SEEDS: Final = 1 << 32
"""Seeds are whole numbers from 0 up to this."""

MIN_LOAD, MAX_LOAD = 1e-6, 1000.0
"""Loads that submits can be moved to; outside, times lose their milliseconds or leave the clock."""

LOADS: Final = f"must be from {MIN_LOAD:g} to {MAX_LOAD:g} (1 keeps every GPU busy)"


def check_seed(seed: int) -> None:
    """UsageError unless `seed` is a whole number that every generator takes."""
    try:
        known = 0 <= index(seed) < SEEDS
    except TypeError:
        known = False
    if not known:
        raise UsageError(f"seed {seed!r:.60} must be a whole number from 0 to {SEEDS - 1:,}")


def check_load(load: float) -> None:
    """UsageError unless `load` is one that submits can be moved to."""
    if not MIN_LOAD <= load <= MAX_LOAD:
        raise UsageError(f"load {load:g} {LOADS}")


def instant_ms(time_s: float, name: str) -> int:
    """Milliseconds of a time since the first submit; beyond the end of time, that.

    Raises:
        UsageError: it is negative or NaN.
    """
    if not time_s >= 0:
        raise UsageError(f"{name} {time_s} must be a number of seconds from 0 on, since the first submit")
    return round(1000 * time_s) if isfinite(1000 * time_s) and 1000 * time_s < NEVER_MS else NEVER_MS - 1
