"""The compiled code of a run: the main loop, and where it finds the hooks of a policy."""

import sys
from typing import Any

from pointsman.engine.jit.loaded import Unit, units
from pointsman.engine.jit.units import HOSTED_HOOKS, MAIN_LOOP, PYTHON_API, hooks_unit, module_at
from pointsman.errors import UsageError

HOOKS = ("decide", "on_event", "on_run")
Code = tuple[Unit, dict[str, int]]
"""The main loop, and where it finds the hooks of a policy."""


def units_of(hooks: str) -> list[str]:
    """What a run needs of the policy with these hooks, named by their module or, of a user's own, their file."""
    return [MAIN_LOOP, hooks_unit(hooks), *([PYTHON_API] if hooks == HOSTED_HOOKS else [])]


def load_policy(policy: object) -> Code:
    """The main loop, and where it finds the hooks of a policy: addresses by fields of ``State.g``, 0 where a hook does
    nothing.

    Raises:
        UsageError: a user's file does not compile, or declares something else than the class that was imported.
    """
    loop, hooked, *_ = units(*units_of(getattr(policy, "hooks", HOSTED_HOOKS)))
    _check_declarations(policy)
    return loop, {hook: hooked.addresses.get(hook, 0) for hook in HOOKS}


def _check_declarations(policy: object) -> None:
    """That hooks in a user's file, as it is now, find numbers where this policy has them."""
    hooks, own = getattr(policy, "hooks", ""), type(policy)
    if not hooks.endswith(".py") or getattr(sys.modules.get(own.__module__), "__file__", "") != hooks:
        return
    if _declarations(getattr(module_at(hooks), own.__name__, own)) != _declarations(own):
        raise UsageError(f"{hooks}: declares other numbers than when {own.__name__} was imported: import it again")


def _declarations(of: Any) -> tuple[Any, ...]:
    return of.parameter_record().layout, of.memory.layout, of.kept.layout
