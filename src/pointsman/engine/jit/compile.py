"""The decorators of compiled code: `core` and `cold` for what is compiled into its callers, `exported` for what is
called from outside.

They leave a function as it is, except in the process that compiles it (`engine.jit.compiling.emit`).
"""

from collections.abc import Callable
from typing import Any, TypeVar

from pointsman.engine.jit.mode import AS_PYTHON

F = TypeVar("F", bound=Callable[..., Any])

MAKERS: dict[str, Callable[..., Any]] = {}
"""By decorator, what the process that compiles makes of a function; nothing elsewhere."""
ARGUMENTS: dict[str, Any] = {}
"""Types of arguments beside Numba's own, by name: how they are laid out."""
BY_ADDRESS: dict[int, Callable[..., Any]] = {}
"""With the JIT off, exported functions by what stands for their addresses."""


def core(function: F) -> F:
    """Compile `function` into whatever calls it, always inlined."""
    return MAKERS["core"](function) if MAKERS else function


def cold(function: F) -> F:
    """Compile `function` into what calls it, inlined only if LLVM finds that this pays: for what is rarely called, or
    long and called from several places.
    """
    return MAKERS["cold"](function) if MAKERS else function


def exported(signature: str, *, releases_gil: bool = False) -> Callable[[F], F]:
    """Compile `function` once, for Python and for compiled code that calls it by its address or, where it is a module's
    own, as any other function: then by its symbol.

    Args:
        signature: Numba's words for its types, and those of `ARGUMENTS`.
        releases_gil: Whether other threads of Python run while it does, which costs 40 ns a call.
    """

    def mark(function: F) -> F:
        marked: Any = function
        marked.signature, marked.releases_gil = signature, releases_gil
        if AS_PYTHON:
            BY_ADDRESS[id(function)] = function
        return MAKERS["exported"](function) if MAKERS else function

    return mark


def is_exported(function: Any) -> bool:
    """Whether `exported` made it."""
    return hasattr(function, "signature") and hasattr(function, "releases_gil")
