"""Example of a reward: it penalises waiting jobs, and each start on several nodes."""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State


@core
def flow(S: State) -> float:
    """Rate per τ (`tau_s`) of simulated time: minus the number of waiting jobs per GPU of the cluster."""
    return -S.g[0].pending / S.g[0].gpus


@core
def at_start(S: State, j: Int) -> float:
    """Added once when job j is allocated its GPUs."""
    return -0.1 * (S.jobs[j].nodes - 1)
