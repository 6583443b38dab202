"""The compiled code of a run: the main loop, and where it finds the hooks of a policy."""

import functools
import sys
from collections.abc import Iterator
from types import FunctionType
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
        UsageError: a user's file does not compile, declares something else than the class that was imported, or opens a
            memory that the policy does not declare.
    """
    loop, hooked, *_ = units(*units_of(getattr(policy, "hooks", HOSTED_HOOKS)))
    _check_declarations(policy)
    if hasattr(policy, "hooks") and hasattr(policy, "memory"):
        _check_memory(type(policy))
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


@functools.cache
def _check_memory(policy: Any) -> None:
    """That a class of policies declares the memory that its hooks open: there is no room for another."""
    module, has = module_at(policy.hooks), policy.memory.layout.slots
    for opened in _opened_by([getattr(module, hook) for hook in HOOKS]):
        if opened.place == "memory" and opened.slots != has[: len(opened.slots)]:  # a file may be loaded twice
            said = f"its functions open {opened.name}, which {policy.__name__} does not declare: memory = {opened.name}"
            raise UsageError(f"{policy.hooks}: {said}")


def _opened_by(ahead: list[Any]) -> Iterator[Any]:
    """The layouts of records that these functions open (`state.views`), and those that they call."""
    met = set(ahead)
    while ahead:
        function = ahead.pop()
        for value in map(function.__globals__.get, function.__code__.co_names):
            if hasattr(value, "record") and hasattr(value, "compiled_from"):
                yield value.record.layout
            elif isinstance(value, FunctionType) and value not in met:
                met.add(value)
                ahead.append(value)
