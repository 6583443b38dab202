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
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
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
from pointsman.version import BEGAN_NS

PACKAGE = Path(__file__).parents[2]
_COARSE_NS = 50_000_000
"""By how much the times of files may be behind the clock."""


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
    found = {} if AS_PYTHON else reached(units)
    if _without_objects(found):
        with _alone():
            if lacking := _without_objects(found):
                _compile(lacking, tell)
    _keep(found)


@contextmanager
def _alone() -> Generator[None]:
    """Hold the lock of the folder of compiled code: one process compiles, others wait. It ends with its process."""
    with ExitStack() as held:
        with suppress(OSError):  # a file system without locks, or what root has left there: each compiles
            fcntl.flock(held.enter_context((folder() / "compiling").open("w")), fcntl.LOCK_EX)
        yield


def _compile(lacking: list[str], tell: Callable[[float], None]) -> None:
    say(f"compiling {counted(len(lacking), 'part')} of the simulator")
    given = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    path = os.pathsep.join(map(os.path.abspath, sys.path))  # "" is the folder at hand
    own = {"POINTSMAN_COMPILING": "1", "PYTHONPATH": path, "NUMBA_CPU_NAME": target(), "NUMBA_CPU_FEATURES": ""}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(  # -P: what lies in the folder at hand is not what its imports mean
            [sys.executable, "-P", "-m", "pointsman.engine.jit.compiling.emit", *lacking], env={**given, **own},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
        ) as child,
    ):  # fmt: skip
        try:
            for share in child.stdout or ():
                tell(float(share))
        except BaseException:  # interrupted: what it is at takes seconds
            child.terminate()
            raise
        if code := child.wait():
            errors.seek(0)
            raise _failure(code, errors.read().strip())
    prune()
    if left := missing(lacking):
        cause = "was edited while it was compiled, or is in this process not as in its file"
        raise RunError(f"{left[0]} {cause}: values that compiled code uses must be the same in every process")


def _failure(code: int, text: str) -> Exception:
    """Why the process that compiles ended with this code; `text` is what it wrote."""
    if code < 0:
        return RunError(f"the process that compiles was ended by signal {-code} (is there too little memory?)")
    return RunError(text) if code == SAID else CompileError(text)


def missing(units: Iterable[str]) -> list[str]:
    """Those of these units, and of the units that they call, of which an object is not there."""
    return [] if AS_PYTHON else _without_objects(reached(units))


def _without_objects(found: dict[str, dict[str, Content]]) -> list[str]:
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
    return _table().get(unit) or _walk_unit(unit)


def _keep(found: dict[str, dict[str, Content]]) -> None:
    """Keep the digests of units of this package that have all their objects: so they are of what the files say, not of
    what a process has made of it. A file that changes while modules are imported may not be what is in memory.
    """
    new = {unit: of for unit, of in found.items() if unit not in _table() and not is_of_a_user(unit)}
    if new and _newest_ns() + _COARSE_NS < BEGAN_NS:
        _table().update(new)
        write_whole(_table_file(), json.dumps(_table()).encode())


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
    """List every source file of the package: its path, its size in bytes, and when it last changed (ns), which nobody
    can set.
    """
    found = []
    for place, folders, files in os.walk(PACKAGE):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for path in (os.path.join(place, name) for name in sorted(files) if name.endswith(".py")):
            told = os.stat(path)
            found.append((path, told.st_size, told.st_ctime_ns))
    return found


if __name__ == "__main__":
    prepare(COMMON)
