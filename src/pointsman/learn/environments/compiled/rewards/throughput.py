"""Throughput (``docs/papers/topdrl.md`` §5, version A): progress per time, less a little for GPUs that jobs wait for.

It is informative only where an episode is cut at a horizon while jobs wait: over an episode in which all jobs end it
adds up to the same for every policy.
"""

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.columns import memory, params


@core
def flow(S: State) -> float:
    """(Σ running GPUs x rate - h Σ waiting GPUs) / GPUs of the cluster."""
    g = S.g[0]
    return (memory(S).sums.run_rate - params(S).hold * g.queued_gpus) / g.gpus


@core
def at_start(S: State, j: Int) -> float:
    """Nothing at once."""
    return 0.0
