"""The three hooks of a policy, which the loop calls by their addresses in ``State.g``.

This module is a template: `loading.load_hooks` writes copies in which the import of the hooks names another policy.
"""

import dis
from collections.abc import Callable
from typing import Any

import numpy as np

from pointsman.engine.actions.python_policy_hooks import decide, on_event, on_run
from pointsman.engine.jit.compile import apart
from pointsman.engine.state.records import RATED, Int
from pointsman.engine.state.state_pointer import open_state


@apart("int64(int64, int64, int64)")
def hooks(address: Int, what: Int, j: Int) -> Int:
    """DECIDE, RATED (job `j` got another rate), or the kind of an event of job `j`."""
    S = open_state(address)
    if what >= 0:
        on_event(S, what, j)
    elif what == RATED:
        on_run(S, j)
    else:
        decide(S)
    return np.int64(0)


def _does_something(hook: Any) -> bool:
    function: Callable[..., Any] = getattr(hook, "py_func", hook)
    nothing = ("RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE")
    return any(step.opname not in nothing for step in dis.get_instructions(function))


ADDRESSES = {
    "on_event": hooks.address if _does_something(on_event) else 0,
    "on_run": hooks.address if _does_something(on_run) else 0,
    "decide": hooks.address if _does_something(decide) else 0,
}
"""By the fields of ``State.g``; 0: there is nothing to call."""
