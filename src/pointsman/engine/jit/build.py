"""What compiled code a run needs that is not there, and having it compiled by a process of its own."""

import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from pointsman.engine.jit.built import is_shipped
from pointsman.engine.jit.digests import Content, digest_of
from pointsman.engine.jit.mistakes import SAID, mistakes_in
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.engine.jit.store import folder, prune, read_object, write_whole
from pointsman.engine.jit.target import target
from pointsman.engine.jit.units import COMMON, functions_of, is_of_a_user, symbol_of, unit_of_symbol
from pointsman.errors import RunError
from pointsman.inputs.messages import counted
from pointsman.progress import say

PACKAGE = Path(__file__).parents[2]
_BEGAN_NS = time.time_ns()


class CompileError(Exception):
    """Something cannot be compiled; the text is what the compiling process said."""


def prepare(units: Iterable[str], tell: Callable[[float], None] = lambda share: None) -> None:
    """Have all that these units need compiled, on all cores, unless it is there; `tell` is told how far it is.

    Raises:
        UsageError: a user's file does not compile. RunError: there is no room, no compiler, or a source was edited.
    """
    units = list(units)
    with mistakes_in(next((unit.partition(":")[2] for unit in units if unit.endswith(".py")), "")):
        _prepare(units, tell)


def _prepare(units: list[str], tell: Callable[[float], None]) -> None:
    if not missing(units):
        return
    with _alone():
        if lacking := missing(units):
            _compile(lacking, tell)


@contextmanager
def _alone() -> Generator[None]:
    """Hold the lock of the folder of compiled code: one process compiles, others wait. It ends with its process."""
    with (folder() / "compiling").open("w") as file:
        with suppress(OSError):  # a file system without locks: each compiles
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _compile(lacking: list[str], tell: Callable[[float], None]) -> None:
    say(f"compiling {counted(len(lacking), 'part')} of the simulator")
    path = os.pathsep.join(each for each in sys.path if each)
    own = {"POINTSMAN_COMPILING": "1", "PYTHONPATH": path, "NUMBA_CPU_NAME": target(), "NUMBA_CPU_FEATURES": ""}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "pointsman.engine.jit.compiling.emit", *lacking], env={**os.environ, **own},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
        ) as child,
    ):  # fmt: skip
        for share in child.stdout or ():
            tell(float(share))
        if code := child.wait():
            errors.seek(0)
            raise (RunError if code == SAID else CompileError)(errors.read().strip())
    prune()
    if left := missing(lacking):
        raise RunError(f"{left[0]} was edited while it was compiled: run the command again")


def missing(units: Iterable[str]) -> list[str]:
    """Those of these units, and of the units that they call, of which an object is not there."""
    found = {} if AS_PYTHON else reached(units)
    return sorted(u for u, functions in found.items() if not all(read_object(f.digest) for f in functions.values()))


def reached(units: Iterable[str]) -> dict[str, dict[str, Content]]:
    """These units and all that they call, with what is known of their functions; without what the package came with.

    Raises:
        RunError: there is no compiler.
    """
    ahead, found = list(units), dict[str, dict[str, Content]]()
    while ahead:
        unit = ahead.pop()
        if unit in found or is_shipped(unit):
            continue
        if importlib.util.find_spec("numba") is None:
            raise RunError(f"{unit} must be compiled, and there is no compiler: pip install 'pointsman[compile]'")
        found[unit] = known(unit)
        ahead += [unit_of_symbol(symbol)[0] for each in found[unit].values() for symbol in each.calls]
    return found


def known(unit: str) -> dict[str, Content]:
    """The digests of a unit's functions by their names; of a unit of this package kept as long as no source changes.

    Raises:
        TypeError: a function uses a value whose content cannot be told.
    """
    if is_of_a_user(unit):
        return _walk_unit(unit)
    table = _table()
    if unit not in table:
        table[unit] = _walk_unit(unit)
        if _newest_ns() < _BEGAN_NS:  # else what is in memory may be older than what is in the file
            write_whole(_table_file(), json.dumps(table).encode())
    return table[unit]


def _walk_unit(unit: str) -> dict[str, Content]:
    return {name: digest_of(symbol_of(unit, name), each) for name, each in functions_of(unit).items()}


@functools.cache
def _table() -> dict[str, dict[str, Content]]:
    try:
        kept = json.loads(_table_file().read_bytes())
        os.utime(_table_file())
        return {unit: {name: Content(d, tuple(c), n) for name, (d, c, n) in of.items()} for unit, of in kept.items()}
    except (OSError, ValueError, TypeError):  # not there, or damaged
        return {}


@functools.cache
def _table_file() -> Path:
    """Where the digests are kept of sources that were last changed when these were."""
    told = [f"{path} {size} {changed}" for path, size, changed in _sources()]
    told += [sys.version, target(), *map(_place, ("numba", "llvmlite", "numpy"))]
    return folder() / f"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}.json"


def _place(package: str) -> str:
    """Where a package is and when it was installed; nothing where it is not."""
    spec = importlib.util.find_spec(package)
    return f"{spec.origin} {os.stat(spec.origin).st_mtime_ns}" if spec and spec.origin else ""


def _newest_ns() -> int:
    return max(changed for _, _, changed in _sources())


@functools.cache
def _sources() -> list[tuple[str, int, int]]:
    """List every source file of the package: its path, its size in bytes, and when it was last modified (ns)."""
    found = []
    for place, folders, files in os.walk(PACKAGE):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for path in (os.path.join(place, name) for name in sorted(files) if name.endswith(".py")):
            told = os.stat(path)
            found.append((path, told.st_size, told.st_mtime_ns))
    return found


if __name__ == "__main__":
    prepare(COMMON)
