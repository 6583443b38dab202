"""Slow-down (DeepRM, Mao et al., HotNets 2016): it adds up to minus the jobs' times in the system over their
lengths.
"""

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.columns import memory, params


@core
def flow(S: State) -> float:
    """Minus Σ τ / length of the jobs that wait or run."""
    return -memory(S).sums.urgency * params(S).tau_ms


@core
def at_start(S: State, j: Int) -> float:
    """Nothing at once."""
    return 0.0
