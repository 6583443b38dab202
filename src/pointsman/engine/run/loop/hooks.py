"""What the loop tells a policy: by its compiled hooks, or by the inbox of one written in Python."""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state


@core
def tell_policy(address: Int, kind: Int, j: Int) -> None:
    """Let the policy know of an event."""
    hook = open_state(address).g[0].on_event
    if hook != 0:
        call_apart(hook, address, kind, j)


@core
def tell_rate(address: Int, j: Int) -> None:
    """Let the policy know that job `j` runs at another rate."""
    hook = open_state(address).g[0].on_run
    if hook != 0:
        call_apart(hook, address, np.int64(0), j)


@core
def tell(S: State, kind: Int, j: Int) -> None:
    """Let the policy know of an event."""
    g = S.g[0]
    g.happened |= np.int64(1) << kind
    if g.inbox_on:
        S.inbox[g.inbox, 0] = kind
        S.inbox[g.inbox, 1] = j
        g.inbox += 1
    tell_policy(g.address, np.int64(kind), j)
