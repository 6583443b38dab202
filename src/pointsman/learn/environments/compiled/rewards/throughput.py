"""Throughput (papers/topdrl.md §5, version A): work done per time, less a little for GPUs that are waited for.

It says something only where an episode is cut at a horizon and jobs always wait (§9): in one that is drained it adds up
to the same whatever is done.
"""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State
from pointsman.learn.environments.compiled.columns import HOLD, RUN_RATE


@core
def flow(S: State) -> float:
    """(Σ running GPUs x rate - h Σ waiting GPUs) / GPUs of the cluster."""
    g = S.g[0]
    return (S.memory[RUN_RATE] - S.params[HOLD] * g.queued_gpus) / g.gpus


@core
def at_start(S: State, j: Int) -> float:
    """Nothing at once."""
    return 0.0
