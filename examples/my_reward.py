"""Example of a reward: it penalises waiting jobs, and each start on several nodes."""

from pointsman.engine.sdk.environments import Int, State, core


@core
def flow(S: State) -> float:
    """Rate per τ (`tau_s`) of simulated time: minus the number of waiting jobs per GPU of the cluster."""
    return -S.g[0].pending / S.g[0].gpus


@core
def at_start(S: State, j: Int) -> float:
    """Added once when job j is allocated its GPUs."""
    return -0.1 * (S.jobs[j].nodes - 1)
