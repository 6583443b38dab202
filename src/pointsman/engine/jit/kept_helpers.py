"""Helpers kept on disk as plain IR: each is typed and lowered once for all units, processes and commands.

Most of the time that numba takes goes into typing and lowering helpers (ADR 2). What a unit needs of a helper is its
signature and its IR, and both are the same in every process: a helper that is kept has no process's counter in its
name, and it names the helpers that it calls instead of holding them.
"""

import functools
import hashlib
import pickle
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from numba.core import sigutils
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.environment import Environment

from pointsman.engine.jit.checked_cache import read_intact, write_checked
from pointsman.engine.jit.claims import claim, release
from pointsman.engine.jit.loading import build_folder
from pointsman.engine.jit.plain_ir import PlainIR
from pointsman.engine.jit.sources import content_of, outside_the_engine, source_of

_LOOK_EVERY_S, _LOOKS = 0.01, 1000
"""How often a process looks whether another one has finished a helper that both need."""


_DISPATCHERS: dict[tuple[str, str], Any] = {}
"""numba's objects of all helpers of this process that can be kept, by module and name."""


class Helper(NamedTuple):
    """A compiled form of a helper, by what it is found again in any process."""

    module: str
    name: str
    types: tuple[Any, ...]
    """numba's types of the arguments."""


class _Kept(NamedTuple):
    """What lies on disk of a helper."""

    bitcode: bytes
    calls: tuple[Helper, ...]
    needs: tuple[Callable[[], None], ...]
    """What a unit that contains it must run before it is loaded."""
    fndesc: Any
    signature: Any


class KeptHelpers:
    """The compiled forms of one helper, in the place of numba's own cache of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._module, self._name = function.__module__, function.__qualname__
        self.cache_path = ""

    def load_overload(self, sig: Any, target: Any) -> CompileResult | None:
        """The form for these types of arguments; None if it is not on disk."""
        helper = self._helper(sig)
        file = _file_of(helper)
        content = read_intact(file)
        if content is None and not _is_ours(file):
            content = read_intact(file)
            release(file.name)
        if content is None:
            return None
        kept: _Kept = pickle.loads(content)
        library = PlainIR.restored(target.codegen(), kept.bitcode, map(_library_of, kept.calls), kept.needs)
        library.helper = helper
        environment = Environment.from_fndesc(kept.fndesc)
        return CompileResult(
            target_context=target, typing_context=target.typing_context, library=library, environment=environment,
            entry_point=target.get_executable(library, kept.fndesc, environment), fndesc=kept.fndesc,
            type_annotation="", signature=kept.signature, objectmode=False, lifted=(), typing_error=None,
            call_helper=None, metadata=None, reload_init=(), referenced_envs=(),
        )  # fmt: skip

    def save_overload(self, sig: Any, result: CompileResult) -> None:
        """Keep what was compiled, unless it calls a helper that cannot be kept."""
        library = result.library
        release(_file_of(self._helper(sig)).name)
        calls = [each.helper for each in library.calls()]
        if None in calls or set(library.addresses()) - _called_by(self._function):
            return
        library.helper = self._helper(sig)
        result.fndesc.typemap = result.fndesc.calltypes = None  # as numba does it: of no use, and not to be pickled
        needs = tuple(library._reload_init)
        kept = _Kept(library._final_module.as_bitcode(), tuple(calls), needs, result.fndesc, result.signature)
        write_checked(_file_of(library.helper), pickle.dumps(kept))

    def _helper(self, sig: Any) -> Helper:
        return Helper(self._module, self._name, tuple(sigutils.normalize_signature(sig)[0]))


def keep(dispatcher: Any) -> None:
    """Keep the compiled forms of a helper on disk from now on."""
    function = dispatcher.py_func
    _DISPATCHERS[function.__module__, function.__qualname__] = dispatcher
    dispatcher._cache = KeptHelpers(function)


def _called_by(function: Callable[..., Any]) -> set[int]:
    """The ids of all helpers that the function can name. numba puts them into the IR, where nothing reads them."""
    scope = list(function.__globals__.values())
    modules = [vars(each).values() for each in scope if isinstance(each, ModuleType)]
    return {id(each) for each in chain(scope, *modules) if isinstance(each, Dispatcher)}


def _library_of(helper: Helper) -> PlainIR:
    dispatcher = _DISPATCHERS[helper.module, helper.name]  # there, for what calls it is
    dispatcher.compile(helper.types)
    return dispatcher.overloads[helper.types].library


def _file_of(helper: Helper) -> Path:
    text = f"{_sources(helper.module)} {helper.module} {helper.name} {helper.types}"
    return _folder() / f"{helper.name}_{hashlib.sha256(text.encode()).hexdigest()[:20]}"


def _is_ours(file: Path) -> bool:
    """Whether this process is to compile what belongs into `file`: not if another one, which was at it, now has."""
    for _ in range(_LOOKS):
        if claim(file.name):
            return not file.exists()
        time.sleep(_LOOK_EVERY_S)
    return True


@functools.cache
def _sources(module: str) -> str:
    """A digest of the module, and of all outside the engine that it imports, and that they import."""
    own = source_of(module)
    digest = hashlib.sha256(content_of(own) if own else b"")
    for path in outside_the_engine([own] if own else []):
        digest.update(content_of(path))
    return digest.hexdigest()


@functools.cache
def _folder() -> Path:
    folder = build_folder() / "helpers"
    folder.mkdir(0o700, exist_ok=True)
    return folder
