"""A reward of one's own: fewer jobs waiting, and each start on several nodes costs something."""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State


@core
def flow(S: State) -> float:
    """Per τ (`tau_s`) of simulated time, as things are: minus the waiting jobs for each GPU of the cluster."""
    return -S.g[0].pending / S.g[0].gpus


@core
def at_start(S: State, j: Int) -> float:
    """At once, for job j, which has just been given its GPUs."""
    return -0.1 * (S.jobs[j].nodes - 1)
