"""Fewer jobs in the system: by Little's law the mean completion time."""

from pointsman.engine.sdk.environments import Int, State, core


@core
def flow(S: State) -> float:
    """Minus the jobs that wait or run, over the GPUs of the cluster."""
    g = S.g[0]
    return -(g.pending + g.starting + g.running) / g.gpus


@core
def at_start(S: State, j: Int) -> float:
    """Nothing at once."""
    return 0.0
