"""Throughput less the slow-down of waiting jobs (``docs/papers/topdrl.md`` §5, version B, the authors' last)."""

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.columns import memory, params


@core
def flow(S: State) -> float:
    """Σ running GPUs x rate / GPUs of the cluster - Σ waiting τ / length."""
    return memory(S).sums.run_rate / S.g[0].gpus - memory(S).sums.wait_urgency * params(S).tau_ms


@core
def at_start(S: State, j: Int) -> float:
    """Nothing at once."""
    return 0.0
