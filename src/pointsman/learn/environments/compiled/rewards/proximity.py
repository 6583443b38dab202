"""How close to each other the GPUs of a job are (Proximity-DRL, ``docs/papers/topdrl.md`` §2)."""

from pointsman.engine.sdk.environments import Int, State, core
from pointsman.learn.environments.compiled.distance import nearness


@core
def flow(S: State) -> float:
    """Nothing by and by."""
    return 0.0


@core
def at_start(S: State, j: Int) -> float:
    """Return how near to each other the GPUs of job `j` are, from 0 (farthest) to 1 (nearest); 0 for a single GPU."""
    return nearness(S, j)
