"""Helpers kept in the store as plain IR: each is typed and lowered once, whatever needs it and whenever.

Most of the time that Numba takes goes into typing and lowering helpers, and most of what an edited policy calls was not
edited. What is needed of a helper is its signature and its IR. Both are the same in every process: its name has no
counter of a process in it, and it names the helpers that it calls instead of holding them.
"""

import functools
import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from numba import njit
from numba.core import sigutils
from numba.core.compiler import CompileResult
from numba.core.environment import Environment

from pointsman.engine.jit.compiling.lowering import FLAGS, Compiler, PlainIR, find_named, is_found_by_name
from pointsman.engine.jit.digests import content_of, layouts, made_with
from pointsman.engine.jit.store import folder, read_checked, write_checked


class Helper(NamedTuple):
    """A compiled form of a helper, by what it is found again in any process."""

    module: str
    name: str
    types: tuple[Any, ...]
    """Numba's types of the arguments."""


class _Kept(NamedTuple):
    bitcode: bytes
    calls: tuple[Helper, ...]
    description: Any
    signature: Any


class KeptForms:
    """The compiled forms of one helper, in the place of Numba's own cache of a function."""

    cache_path = ""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def load_overload(self, sig: Any, target: Any) -> CompileResult | None:
        """The form for these types of arguments; None if it is not there."""
        helper = self._helper(sig)
        found = helper and read_checked(self._file(helper))
        if helper is None or found is None:
            return None
        kept: _Kept = pickle.loads(found[1])
        library = PlainIR.restored(target.codegen(), kept.bitcode, [_library_of(called) for called in kept.calls])
        library.helper = helper
        environment = Environment.from_fndesc(kept.description)
        return CompileResult(
            target_context=target, typing_context=target.typing_context, library=library, environment=environment,
            entry_point=target.get_executable(library, kept.description, environment), fndesc=kept.description,
            type_annotation="", signature=kept.signature, objectmode=False, lifted=(), typing_error=None,
            call_helper=None, metadata=None, reload_init=(), referenced_envs=(),
        )  # fmt: skip

    def save_overload(self, sig: Any, result: CompileResult) -> None:
        """Keep what was compiled, unless it is a helper that cannot be kept, or calls one."""
        calls = [each.helper for each in result.library.calls()]
        helper = self._helper(sig)
        if helper is None or None in calls:
            return
        result.library.helper = helper
        result.fndesc.typemap = result.fndesc.calltypes = None  # as Numba does it: of no use, and not to be pickled
        kept = _Kept(result.library._final_module.as_bitcode(), tuple(calls), result.fndesc, result.signature)
        write_checked(self._file(helper), pickle.dumps(kept))

    def _helper(self, sig: Any) -> Helper | None:
        """By what the form is found again; None of one that takes a function, whose type is of this process."""
        arguments, _ = sigutils.normalize_signature(sig)
        if not is_found_by_name(self._function) or any(" at 0x" in str(kind) for kind in arguments):
            return None
        return Helper(self._function.__module__, self._function.__qualname__, tuple(arguments))

    def _file(self, helper: Helper) -> Path:
        """Where the form lies: named by what it is compiled from."""
        fields = [_fields(kind) for kind in helper.types]
        text = f"{made_with()} {layouts()} {content_of(self._function).digest} {helper} {fields}"
        return folder() / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.ir"


@functools.cache
def helper(function: Callable[..., Any], *, forceinline: bool) -> Any:
    """Numba's object of a helper."""
    made: Any = njit(
        forceinline=forceinline, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=Compiler, **FLAGS
    )(function)
    made._cache = KeptForms(function)
    return made


def _fields(kind: Any) -> Any:
    """The names of what a tuple of names holds, also further in: Numba's own words for its type lack them."""
    return getattr(kind, "fields", ()), [_fields(each) for each in getattr(kind, "types", ())]


def _library_of(helper: Helper) -> PlainIR:
    dispatcher = find_named(helper.module, helper.name)  # there, for what calls it is
    dispatcher.compile(helper.types)
    return dispatcher.overloads[helper.types].library
