"""Functions of a test module compiled as the engine's own are."""

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from pointsman.engine.jit.loaded import unit


@cache  # looking whether objects are there takes longer than what is called
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A module's `exported` function, as Python calls the compiled one."""
    return getattr(unit(function.__module__), function.__name__)


def environment(**own: str) -> dict[str, str]:
    """That of a process of this Python, with the same modules, whether this one has the JIT on or off."""
    paths = os.pathsep.join(each for each in sys.path if each)
    return {**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "0", **own}
