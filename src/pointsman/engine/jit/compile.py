"""The one place that says how a function of the core is compiled.

``_nrt=False`` switches reference counting off (a core function may then not allocate). Helpers are kept as plain IR,
and machine code is made of units only (`plain_ir`): an `entry`, called from Python, or an `apart`, called by address.
"""

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_FLAGS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def core(function: F) -> F:
    """Compile `function` into whatever calls it, always inlined."""
    return _helper(function, forceinline=True)


def cold(function: F) -> F:
    """Compile `function` into the unit that calls it, inlined only if LLVM finds that this pays: for what is rarely
    called, or long and called from several places.
    """
    return _helper(function, forceinline=False)


@functools.cache
def _helper(function: F, *, forceinline: bool) -> F:
    import numba

    if numba.config.DISABLE_JIT:
        return function
    from pointsman.engine.jit.kept_helpers import keep
    from pointsman.engine.jit.plain_ir import HelperCompiler, can_be_kept
    from pointsman.engine.jit.sources import remember

    made: Any = numba.njit(
        nogil=True, forceinline=forceinline, no_cpython_wrapper=True, no_cfunc_wrapper=True,
        pipeline_class=HelperCompiler, **_FLAGS,
    )(function)  # fmt: skip
    remember(function.__code__.co_filename)
    if can_be_kept(function):
        keep(made)
    return made


def entry(signature: str) -> Callable[[F], F]:
    """Compile a function of this numba signature at import, to be called from Python; cached on disk, without the
    GIL.
    """
    import numba

    def jit(function: F) -> F:
        if numba.config.DISABLE_JIT:
            return function
        from pointsman.engine.jit.checked_cache import compile_kept
        from pointsman.engine.jit.plain_ir import UnitCompiler

        return compile_kept(
            function, signature, nogil=True, no_cfunc_wrapper=True, pipeline_class=UnitCompiler, **_FLAGS
        )

    return jit


APART: dict[int, Callable[..., Any]] = {}
"""With the JIT off, what `apart` made, by its address."""


def apart(signature: str) -> Callable[[F], Any]:
    """Compile a function of this numba signature once for all units, which call it through its ``address``."""
    import numba

    def jit(function: F) -> Any:
        if numba.config.DISABLE_JIT:
            APART[id(function)] = function
            return types.SimpleNamespace(address=id(function))
        from pointsman.engine.jit.checked_cache import compile_callback_kept
        from pointsman.engine.jit.plain_ir import UnitCompiler

        return compile_callback_kept(function, signature, nopython=True, pipeline_class=UnitCompiler, **_FLAGS)

    return jit
