"""Compiled functions kept on disk as numba does, but each file with a digest of its content.

A file that was truncated or overwritten is noticed by its digest before it is unpickled or given to LLVM, which a
damaged one can make do anything: end the process, or ask for all memory. It is removed, and its function
compiled again.
"""

import gc
import hashlib
import inspect
import io
import os
import pickle
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import sigutils, typeinfer
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.ccallback import CFunc
from numba.core.decorators import njit

from pointsman.engine.jit.compiled_folder import discard

_DIGEST = hashlib.sha256
_DIGEST_BYTES = 32


def compile_kept(function: Callable[..., Any], signature: str, **options: Any) -> Any:
    """What ``numba.njit(signature, cache=True, **options)`` makes of `function`, kept with digests."""
    made: Any = njit(**options)(function)
    made._cache = _CheckedCache(function)
    with _without_collector(), typeinfer.register_dispatcher(made):
        made.compile(signature)
    made.disable_compile()
    return made


def compile_callback_kept(function: Callable[..., Any], signature: str, *, pipeline_class: Any, **options: Any) -> Any:
    """What ``numba.cfunc(signature, cache=True, **options)`` makes of `function`, kept with digests."""
    made = CFunc(function, sigutils.normalize_signature(signature), {}, options, pipeline_class=pipeline_class)
    made._cache = _CheckedCache(function)
    with _without_collector():
        made.compile()
    return made


@contextmanager
def _without_collector() -> Generator[None]:
    """Python's garbage collector finds next to nothing in what numba makes, and takes a twelfth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _BesideSource(CompileResultCacheImpl):
    """Files in ``__pycache__`` beside the source, whatever ``NUMBA_CACHE_DIR`` says: that folder has been checked."""

    def __init__(self, function: Any) -> None:
        source = inspect.getfile(function)
        self._lineno = function.__code__.co_firstlineno
        self._locator = InTreeCacheLocator(function, source)
        name = f"{Path(source).stem}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _CheckedCache(FunctionCache):
    """numba's cache of a function's compiled forms, in checked files."""

    _impl_class = _BesideSource

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As numba does it, but for refreshing its registries, which takes half a second: compiling refreshes them."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _CheckedFiles(IndexDataCacheFile):
    """An index and the files that it names; each begins with the digest of the rest."""

    def _load_index(self) -> dict[Any, str]:
        content = read_intact(Path(self._index_path))
        if content is None:
            return {}
        version, stamp, overloads = pickle.loads(content)
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        content = read_intact(Path(self._data_path(name)))
        if content is None:
            raise FileNotFoundError(name)  # which numba takes for a function that was not compiled yet
        return pickle.loads(content)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Generator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        write_checked(Path(filepath), content.getbuffer())


def write_checked(path: Path, content: bytes | memoryview) -> None:
    """Write a file for `read_intact`, whole or not at all."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(_DIGEST(content).digest() + content)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def read_intact(path: Path) -> memoryview | None:
    """What the file holds after its digest. One that is not as it was written is removed: None."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:  # a folder, a bad block, no right to read
        content = b""
    payload = memoryview(content)[_DIGEST_BYTES:]
    if _DIGEST(payload).digest() == content[:_DIGEST_BYTES]:
        return payload
    discard(path)
    return None
