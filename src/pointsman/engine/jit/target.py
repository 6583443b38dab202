"""For which processors machine code is made: a level of their architecture, so that it is the same on many machines."""

import functools
import os
import platform
from pathlib import Path

_SINCE = {"x86-64-v3": "avx2 bmi1 bmi2 f16c fma movbe", "x86-64-v2": "sse4_2 ssse3 popcnt cx16"}
"""Levels of x86-64, the best first, and what Linux calls the abilities by which they are told."""


@functools.cache
def target() -> str:
    """LLVM's name of what this process compiles for: Numba's own variable says, else the best level of this machine."""
    if named := os.environ.get("NUMBA_CPU_NAME"):
        return named
    return next(filter(runs_here, _SINCE), "x86-64") if platform.machine() in ("x86_64", "AMD64") else "generic"


def runs_here(level: str) -> bool:
    """Whether this machine runs machine code of `level`; True where that cannot be found out."""
    wanted = set(_SINCE.get(level, "").split())
    return wanted <= _abilities() or not _abilities()


@functools.cache
def _abilities() -> set[str]:
    """What the processor can do, in Linux's words; nothing where the system does not say."""
    try:
        with Path("/proc/cpuinfo").open() as told:  # of its first processor: they are the same, and there may be many
            return next((set(line.split()) for line in told if line.startswith("flags")), set())
    except OSError:
        return set()
