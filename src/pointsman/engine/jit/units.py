"""Units: where exported functions are, by a name under which any process finds them.

A unit is a module, whose exported functions it has, or ``MODULE:OTHER``: what ``MODULE.unit_of`` makes of another
module, such as the hooks of a policy. OTHER is a module's name or, of a user's own, the path of its file.
"""

import functools
import hashlib
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from pointsman.engine.jit.compile import is_exported

POLICY_HOOKS = "pointsman.engine.units.policy_hooks"
FACTOR_HOOKS = "pointsman.engine.units.factor_hooks"
MAIN_LOOP = "pointsman.engine.units.main_loop"
PYTHON_API = "pointsman.engine.actions.python_api"
ADOPTING = "pointsman.engine.units.adopting"
SEATING = "pointsman.engine.units.seating"
AUDIT = "pointsman.engine.units.audit"
SCRIPTED_EVENTS = "pointsman.engine.units.scripted_events"
TOLD_EVENTS = "pointsman.engine.units.told_events"
HISTORY = "pointsman.engine.units.history"
ONE_MACHINE = "pointsman.engine.units.one_machine"
"""What a report says of any run rests on it."""
CONTENTION = "pointsman.engine.rate_models.links.contention"
SHARED_GPUS = "pointsman.engine.placement.shared_gpus"
CORE = (
    *(PYTHON_API, ADOPTING, SEATING, AUDIT, SCRIPTED_EVENTS, TOLD_EVENTS),
    *(HISTORY, CONTENTION, SHARED_GPUS, ONE_MACHINE),
)
"""What any run may need besides the main loop, the hooks of its policy, its rate model and its factors."""
HOSTED_HOOKS = "pointsman.engine.actions.python_policy_hooks"
"""The hooks of a policy that is written in Python."""
COMMON = (
    *(MAIN_LOOP, PYTHON_API, ONE_MACHINE, f"{POLICY_HOOKS}:{HOSTED_HOOKS}"),
    *(f"pointsman.engine.actions.{module}" for module in ("verbs", "eviction", "moving", "reserving")),
)
"""What runs of many policies need: those whose verbs are called by their symbols, and what every run needs."""


def hooks_unit(hooks: str) -> str:
    """The unit of the hooks of a policy, which are in this module or file."""
    return f"{POLICY_HOOKS}:{hooks}"


def factor_unit(hooks: str) -> str:
    """The unit of a factor whose functions are in this module or file."""
    return f"{FACTOR_HOOKS}:{hooks}"


def functions_of(unit: str) -> dict[str, Any]:
    """The exported functions of a unit by their names; its module, or the user's file, is imported."""
    module, _, other = unit.partition(":")
    return _functions(importlib.import_module(module), module_at(other) if other else None)


@functools.cache
def _functions(module: ModuleType, other: ModuleType | None) -> dict[str, Any]:
    if other is not None:
        return {function.__name__: function for function in module.unit_of(other)}
    return {name: each for name, each in vars(module).items() if _is_of(each, module)}


def _is_of(value: Any, module: ModuleType) -> bool:
    return is_exported(value) and value.__module__ == module.__name__


def symbol_of(unit: str, name: str) -> str:
    """What a function of a unit is called in machine code."""
    return f"{unit}.{name}"


def wrapper_of(symbol: str) -> str:
    """What the wrapper of a function is called in machine code: Python calls it."""
    return f"py.{symbol}"


def unit_of_symbol(symbol: str) -> tuple[str, str]:
    """The unit and the name of an exported function, by what it is called in machine code."""
    unit, _, name = symbol.rpartition(".")
    return unit, name


def is_of_a_user(unit: str) -> bool:
    """Whether a unit has functions from outside this package."""
    return not all(part.startswith("pointsman.") and not part.endswith(".py") for part in unit.split(":"))


def module_at(place: str) -> ModuleType:
    """The module of this name, or that of a user's file as it is now: one that was edited, or is elsewhere, is another
    module.
    """
    if not place.endswith(".py"):
        return importlib.import_module(place)
    source = Path(place).read_bytes()
    name = f"{Path(place).stem}_{hashlib.sha256(os.path.abspath(place).encode() + source).hexdigest()[:12]}"
    if name not in sys.modules:
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = place
        try:
            exec(compile(source, place, "exec"), vars(module))
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
