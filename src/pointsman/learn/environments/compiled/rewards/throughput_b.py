"""Throughput less the slow-down of waiting jobs (``docs/papers/topdrl.md`` §5, version B, the authors' last)."""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State
from pointsman.learn.environments.compiled.columns import RUN_RATE, TAU, WAIT_URGENCY


@core
def flow(S: State) -> float:
    """Σ running GPUs x rate / GPUs of the cluster - Σ waiting τ / length."""
    return S.memory[RUN_RATE] / S.g[0].gpus - S.memory[WAIT_URGENCY] * S.params[TAU]


@core
def at_start(S: State, j: Int) -> float:
    """Nothing at once."""
    return 0.0
