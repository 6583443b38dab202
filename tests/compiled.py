"""Functions of a test module compiled as the engine's own are."""

from collections.abc import Callable
from typing import Any

from pointsman.engine.jit.loaded import unit


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A module's `exported` function, as Python calls the compiled one."""
    return getattr(unit(function.__module__), function.__name__)
