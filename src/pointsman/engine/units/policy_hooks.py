"""The three hooks of a policy, which the loop calls by their addresses in ``State.g``.

This module is a template: `loading.load_hooks` writes copies in which the import of the hooks names another policy.
"""

import dis
from collections.abc import Callable
from typing import Any

import numpy as np

from pointsman.engine.actions.python_policy_hooks import decide, on_event, on_run
from pointsman.engine.jit.compile import apart
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state


def _address(hook: Any, caller: Callable[[int, int, int], int]) -> int:
    """Where `caller` is, compiled; 0 if the hook that it calls does nothing."""
    nothing = ("RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE")
    if all(step.opname in nothing for step in dis.get_instructions(getattr(hook, "py_func", hook))):
        return 0
    UNITS.append(apart("int64(int64, int64, int64)")(caller))
    return int(UNITS[-1].address)


UNITS: list[Any] = []
"""What was compiled: its addresses are good as long as it is kept."""


def call_on_event(address: Int, what: Int, j: Int) -> Int:
    """An event of kind `what` of job `j`, or of no job: -1."""
    on_event(open_state(address), what, j)
    return np.int64(0)


def call_on_run(address: Int, what: Int, j: Int) -> Int:
    """Job `j` runs at another rate."""
    on_run(open_state(address), j)
    return np.int64(0)


def call_decide(address: Int, what: Int, j: Int) -> Int:
    """The policy decides."""
    decide(open_state(address))
    return np.int64(0)


ADDRESSES = {
    "on_event": _address(on_event, call_on_event),
    "on_run": _address(on_run, call_on_run),
    "decide": _address(decide, call_decide),
}
"""By the fields of ``State.g``."""
