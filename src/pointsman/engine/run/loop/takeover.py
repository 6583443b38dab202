"""Another policy takes over a state, or the truth about its jobs changes."""

import numpy as np

from pointsman.engine.actions.running import settle
from pointsman.engine.index.queues import stopping_index
from pointsman.engine.index.treap import insert
from pointsman.engine.jit.compile import core
from pointsman.engine.run.loop.event_kinds import SUBMIT
from pointsman.engine.run.loop.forget import forget_policy
from pointsman.engine.run.loop.hooks import tell_policy, tell_rate
from pointsman.engine.run.loop.rating import schedule
from pointsman.engine.state.codes import PENDING, RUNNING, STARTING, STOPPING
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_state, open_world


@core
def _is_rated(S: State, j: Int) -> bool:
    """Whether running job `j` has got its rate; one that was just started gets it when the pass is carried out."""
    return S.jobs[j].rate > 0.0 or S.jobs[j].off_rate >= 0


@core
def _introduce(S: State, j: Int) -> None:
    """Let a policy that takes over know of job `j`."""
    J = S.jobs[j]
    if J.state == PENDING or J.state == STARTING:
        tell_policy(S.g[0].address, np.int64(SUBMIT), j)
    elif J.state == STOPPING:
        J.key = 0.0
        J.aux = np.inf
        insert(S, stopping_index(S), j)
    elif J.state == RUNNING and _is_rated(S, j):
        settle(S, j)
        tell_rate(S.g[0].address, j)


@core
def reschedule(address: Int) -> None:
    """Put the next event of every job into the heap anew: what is known of their ends, or the policy, has changed."""
    S = open_state(address)
    W = open_world(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            schedule(S, W, j)


@core
def adopt(address: Int) -> None:
    """Take over a state that another policy left: its indexes are built anew as if the jobs had just come, and there is
    a scheduling cycle at this instant. `reschedule` is to follow.
    """
    S = open_state(address)
    forget_policy(S)
    for j in range(S.g[0].slots):
        _introduce(S, np.int64(j))
    S.g[0].wake = S.g[0].now
    S.g[0].happened = 0
    S.g[0].inbox = 0
    S.g[0].pass_id += 1
    open_world(address).clock[0].resume = 1  # what the host puts into the inbox is of this instant
