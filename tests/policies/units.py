"""Functions of a test compiled as the engine's own units are, when they are first called, and kept on disk."""

from collections.abc import Callable
from functools import cache
from typing import Any

from pointsman.engine.jit.compile import entry


@cache
def unit(function: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """`function`, of this numba signature."""
    return entry(signature)(function)
