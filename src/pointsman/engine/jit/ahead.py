"""What a run needs of compiled code: which units, and compiling them side by side, in processes of their own."""

import os
import subprocess
import sys
from collections.abc import Iterable
from types import ModuleType

from pointsman.engine.jit.claims import claim
from pointsman.engine.jit.loading import (
    BESIDE,
    OF_FACTOR,
    hooks_unit,
    is_compiled,
    load_beside,
    load_factor,
    load_hooks,
    module_of,
)
from pointsman.engine.jit.mistakes import mistakes_in
from pointsman.engine.jit.services import pretend, services_of
from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.progress import say

HOOKS = ("decide", "on_event", "on_run")
MAIN_LOOP, INSTANT = "main_loop", "instant"
HOSTED_HOOKS = "pointsman.engine.actions.python_policy_hooks"
_LONG = {"instant": 5, "start_or_evict": 5, "move": 4, "python_api": 4, "iterations": 4, "start": 2, "main_loop": 1}
"""About how long units take to compile, beside 3 for others: what takes longest comes first."""


_LOADED: dict[str, tuple[ModuleType, dict[str, int]]] = {}


def load_policy(hooks: str) -> tuple[ModuleType, dict[str, int]]:
    """The main loop, and where it finds the hooks of a policy: addresses by fields of ``State.g``.

    A built-in policy is named by its module, a user's by the path of its file. What is not on disk is compiled.

    Raises:
        UsageError: a user's file does not compile.
    """
    unit = hooks_unit(hooks)  # what-ifs ask for the same again and again
    if unit not in _LOADED:
        with mistakes_in(hooks):
            compile_ahead(units_of(hooks))
            _LOADED[unit] = load_beside(MAIN_LOOP), load_hooks(hooks).ADDRESSES
    return _LOADED[unit]


def units_of(hooks: str) -> list[str]:
    """What a run of the policy with these hooks needs, what takes longest first: names of `loading.BESIDE` and hooks.

    Raises:
        ImportError, OSError: the hooks' module cannot be read. UsageError: it lacks a hook.
    """
    from importlib import import_module

    module = import_module(module_of(hooks))
    if missing := [name for name in HOOKS if not hasattr(module, name)]:
        raise UsageError(f"{hooks}: there is no {missing[0]}: a compiled policy has the functions {', '.join(HOOKS)}")
    found = services_of(getattr(module, name) for name in HOOKS)
    if module.decide is import_module(HOSTED_HOOKS).decide:
        found |= {"python_api", "start"}
    return [INSTANT, *sorted(found), MAIN_LOOP, hooks]


def compile_ahead(units: Iterable[str]) -> None:
    """Compile those of these units that are not on disk, on all cores.

    What fails to compile is left to the process that loads it, and so is all on a single core.
    """
    import numba

    if numba.config.DISABLE_JIT:
        return
    missing = sorted((unit for unit in dict.fromkeys(units) if not is_compiled(unit)), key=_length, reverse=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if missing:
        say(f"compiling {counted(len(missing), 'part')} of the simulator")
    if len(missing) < 2 or cores < 2:
        return
    for child in [_start(missing) for _ in range(min(cores, len(missing)))]:
        child.wait()


def compile_units(units: Iterable[str]) -> None:
    """Compile in this process, in which no simulation will run, those of these units that no other one compiles."""
    pretend()
    for unit in units:
        if claim(unit) and not is_compiled(unit):
            load_unit(unit)


def load_unit(unit: str) -> ModuleType:
    """A unit of `loading.BESIDE`, or that of these hooks of a policy or, with `loading.OF_FACTOR`, of a factor."""
    if unit.startswith(OF_FACTOR):
        return load_factor(unit.removeprefix(OF_FACTOR))
    return load_beside(unit) if unit in BESIDE else load_hooks(unit)


def _length(unit: str) -> int:
    return _LONG.get(unit, 3)


def _start(units: list[str]) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(each for each in sys.path if each)
    code = "import sys; from pointsman.engine.jit.ahead import compile_units; compile_units(sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *units], env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
