"""The hooks of a policy, which the loop calls by their addresses in ``State.g``: a unit of every policy's module."""

import dis
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from pointsman.engine.jit.compile import exported
from pointsman.engine.jit.policy_code import HOOKS
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state
from pointsman.errors import UsageError

_NOTHING = ("RESUME", "NOP", "LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST", "RETURN_VALUE")


def unit_of(policy: ModuleType) -> list[Callable[..., Any]]:
    """What the loop calls of the hooks of a module, without those that do nothing.

    Raises:
        UsageError: the module lacks a hook.
    """
    if missing := [name for name in HOOKS if not hasattr(policy, name)]:
        at = policy.__file__ or policy.__name__
        raise UsageError(f"{at}: there is no {missing[0]}: a compiled policy has the functions {', '.join(HOOKS)}")
    decide_, on_event_, on_run_ = (getattr(policy, name) for name in HOOKS)

    @exported("int64(int64, int64, int64)")
    def decide(address: Int, what: Int, j: Int) -> Int:
        """The policy decides."""
        decide_(open_state(address))
        return np.int64(0)

    @exported("int64(int64, int64, int64)")
    def on_event(address: Int, what: Int, j: Int) -> Int:
        """An event of kind `what` of job `j`, or of no job: -1."""
        on_event_(open_state(address), what, j)
        return np.int64(0)

    @exported("int64(int64, int64, int64)")
    def on_run(address: Int, what: Int, j: Int) -> Int:
        """Job `j` runs at another rate."""
        on_run_(open_state(address), j)
        return np.int64(0)

    made = {decide: decide_, on_event: on_event_, on_run: on_run_}
    return [function for function, hook in made.items() if not _does_nothing(hook)]


def _does_nothing(hook: Any) -> bool:
    return all(step.opname in _NOTHING for step in dis.get_instructions(getattr(hook, "py_func", hook)))
