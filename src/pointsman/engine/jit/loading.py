"""Compiled code on disk: where it is kept, under which names, and how it is loaded, or compiled if it is not there."""

import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from pointsman.engine.jit.compiled_folder import discard, find_place
from pointsman.engine.jit.sources import PACKAGE, content_of, imports, outside_the_engine, source_of
from pointsman.errors import RunError

CORE = (
    "types.py",
    "engine/state/records.py",
    "engine/state/state_pointer.py",
    "engine/state/jit_arrays.py",
    "engine/jit/compile.py",
    "engine/jit/plain_ir.py",
    "engine/jit/services.py",
    "speed/laws/step_time.py",
)
"""Sources that compiled code depends on, besides those that import the decorators of `compile`."""
BESIDE = {
    "start": "engine/units/start.py",
    "start_or_evict": "engine/units/start_or_evict.py",
    "move": "engine/units/move.py",
    "reserve": "engine/units/reserve.py",
    "instant": "engine/units/instant.py",
    "main_loop": "engine/units/main_loop.py",
    "scripted_events": "engine/units/scripted_events.py",
    "told_events": "engine/units/told_events.py",
    "seating": "engine/units/seating.py",
    "audit": "engine/units/audit.py",
    "history": "engine/units/history.py",
    "adopting": "engine/units/adopting.py",
    "python_api": "engine/actions/python_api.py",
    "contention": "engine/rate_models/links/contention.py",
    "iterations": "engine/rate_models/chains/unit.py",
    "shared_gpus": "engine/placement/shared_gpus.py",
    "progress_phases": "engine/rate_models/progress_phases.py",
    "tree": "engine/rate_models/tree.py",
}
"""Units that are compiled once, whatever the policy."""
HOSTED = "pointsman.engine.actions.python_policy_hooks"
HOOKS = f"from {HOSTED} import decide, on_event, on_run"
TEMPLATE = "engine/units/policy_hooks.py"
"""The unit of a policy's hooks, in which HOOKS is replaced."""
CO_RUNNERS = "pointsman.engine.rate_models.factors.co_runners"
FACTOR_HOOKS = f"from {CO_RUNNERS} import begin, cease, slowed"
FACTOR_TEMPLATE = "engine/units/factor_hooks.py"
"""The unit of a factor, in which FACTOR_HOOKS is replaced."""
OF_FACTOR = "factor:"
"""Before the hooks of a factor, where units of all kinds are listed."""
_IMPORTING = threading.RLock()
"""Held while a module is imported, so that no other thread sees half of it."""
_IS_CORE = re.compile(
    r"^from pointsman\.engine\.jit\.(compile|services) import .*\b(core|cold|entry|apart|service)\b", re.MULTILINE
)
_IS_BUILD = re.compile(r"[0-9a-f]{16}")
_KEPT_DAYS = 14

_DAMAGED = (
    *(AttributeError, EOFError, ImportError, IndexError, IsADirectoryError, KeyError, MemoryError),
    *(OverflowError, TypeError, ValueError),
)
"""What importing a damaged source or its bytecode raises; of compiled functions `checked_cache` finds out itself."""


@functools.cache
def core_digest() -> str:
    """A digest of every source of the engine that all compiled code is made of, and of the compilers' versions.

    numba's own cache looks only at the file of the outermost function, so an edited helper elsewhere would be missed.
    """
    digest = hashlib.sha256()
    for package in ("numba", "llvmlite", "numpy"):
        digest.update(importlib.metadata.version(package).encode())
    digest.update(sys.version.encode())
    for path in core_sources():
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + content_of(path))
    return digest.hexdigest()[:16]


def core_sources() -> list[Path]:
    """The files of compiled code of the engine, and all that they and the units import of constants."""
    compiled = {PACKAGE / name for name in CORE}
    compiled |= {path for path in PACKAGE.glob("engine/**/*.py") if _IS_CORE.search(path.read_text(encoding="utf-8"))}
    units = {PACKAGE / name for name in (*BESIDE.values(), TEMPLATE, FACTOR_TEMPLATE)}
    constants = {path for file in compiled | units for path in imports(file) if path.is_relative_to(PACKAGE)}
    return sorted((compiled | constants) - units)


def _stamped(name: str, text: str, files: Iterable[Path]) -> str:
    """`name` with a digest of `text`, of `files`, and of what these import outside the engine."""
    digest = hashlib.sha256(text.encode())
    for path in outside_the_engine(files):
        digest.update(content_of(path))
    return f"{name}_{digest.hexdigest()[:12]}"


def build_folder() -> Path:
    """The folder of this very core's compiled code; builds beside it that have not been used for long are pruned."""
    root = find_place().folder
    folder = root / core_digest()
    is_new = not folder.exists()
    folder.mkdir(0o700, exist_ok=True)
    os.utime(folder)
    if is_new:
        unused = time.time() - _KEPT_DAYS * 86_400
        for old in root.iterdir():
            if _IS_BUILD.fullmatch(old.name) and old.is_dir() and old.stat().st_mtime < unused:
                shutil.rmtree(old, ignore_errors=True)
    return folder


def load_hooks(hooks: str) -> ModuleType:
    """The unit of the three hooks of a policy, in the module `hooks`.

    A built-in policy is named by its module, a user's by the path of its file. The template is written out with the
    import of its hooks replaced, so that numba can cache what it compiles from it.
    """
    source = _replaced(PACKAGE / TEMPLATE, {HOOKS: HOOKS.replace(HOSTED, module_of(hooks))})
    return _import_source(build_folder(), hooks_unit(hooks), source)


def load_factor(hooks: str) -> ModuleType:
    """The unit of a factor, whose functions are in the module, or the file, `hooks`."""
    return _import_source(build_folder(), *_factor(hooks))


def _factor(hooks: str) -> tuple[str, str]:
    """The name and the source of the unit of a factor."""
    text = _replaced(PACKAGE / FACTOR_TEMPLATE, {FACTOR_HOOKS: FACTOR_HOOKS.replace(CO_RUNNERS, module_of(hooks))})
    return _stamped(Path(FACTOR_TEMPLATE).stem, text, _files_of(hooks)), text


def load_template(template: Path, lines: Mapping[str, str], sources: Iterable[Path] = ()) -> ModuleType:
    """The module at `template` with some of its lines replaced, kept and compiled beside the loops.

    `sources`, and the policies that they import, are compiled into it and outside the core: it goes stale with them.
    """
    text = _replaced(template, lines)
    return _import_source(build_folder(), _stamped(template.stem, text, sources), text)


def module_of(hooks: str) -> str:
    """The module that `hooks` name; of a user's file, a copy beside the loops under a name that carries its digest."""
    if not hooks.endswith(".py"):
        return hooks
    text = Path(hooks).read_text()
    name = _stamped("user", text, [Path(hooks)])
    _import_source(build_folder(), name, text)
    return name


def _replaced(template: Path, lines: Mapping[str, str]) -> str:
    text = template.read_text()
    for line, other in lines.items():
        if line not in text:
            raise AssertionError(f"{template} no longer has what is to be replaced: {line}")
        text = text.replace(line, other)
    return text


def hooks_unit(hooks: str) -> str:
    """The name of the unit of these hooks."""
    if hooks.endswith(".py"):
        return f"hooks_{_stamped('user', Path(hooks).read_text(), [Path(hooks)])}"
    return _stamped(f"hooks_{hooks.rpartition('.')[2]}", hooks, _files_of(hooks))


def _files_of(hooks: str) -> list[Path]:
    """The file of hooks, which are named by it, or by their module."""
    if hooks.endswith(".py"):
        return [Path(hooks)]
    return [file] if (file := source_of(hooks)) else []


def _import_source(folder: Path, name: str, source: str) -> ModuleType:
    """The module `name` of `source`, kept and compiled in `folder`; what lies there damaged is made anew once.

    Raises:
        RunError: the folder has no room.
    """
    try:
        with _IMPORTING:
            try:
                return _import_kept(folder, name, source)
            except _DAMAGED:
                for file in [folder / f"{name}.py", *(folder / "__pycache__").glob(f"{name}.*")]:
                    discard(file)
                return _import_kept(folder, name, source)
    except OSError as error:
        fix = "about 100 MB of compiled code are kept there; POINTSMAN_HOME names another folder"
        raise RunError(f"{folder}: {error.strerror} ({fix})") from error


def _import_kept(folder: Path, name: str, source: str) -> ModuleType:
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text() != source:
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(source)
        draft.replace(path)
    module_name = f"pointsman_{folder.name}_{name}" if not name.startswith("user_") else name
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


def is_compiled(hooks: str) -> bool:
    """Whether compiled code for `hooks`, or of a module of BESIDE, is there and no compile time need be announced."""
    if hooks.startswith(OF_FACTOR):
        name = _factor(hooks.removeprefix(OF_FACTOR))[0]
    else:
        name = _beside(hooks)[0] if hooks in BESIDE else hooks_unit(hooks)
    return any((build_folder() / "__pycache__").glob(f"{name}*.nbc"))


def load_beside(name: str) -> ModuleType:
    """The module `engine.<name>`, which no loop contains, copied beside them so that its cache goes stale with them and
    with its own text, which is in its name.
    """
    named, text = _beside(name)
    return _import_source(build_folder(), named, text)


def _beside(name: str) -> tuple[str, str]:
    text = (PACKAGE / BESIDE[name]).read_text()
    return _stamped(name, text, [PACKAGE / BESIDE[name]]), text
