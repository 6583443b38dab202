"""How much a gang would suffer on a node beside the jobs that run there, by the interference model of the run."""

from typing import Final

from pointsman.policies.placers.sockets import gpus_of
from pointsman.policies.sdk import Int, State, core, slowed_beside_others, take_off, try_on

FORECASTS_BY: Final = "what it forecasts slowdowns on nodes by, as --node-interference takes it; null: by the run's own"
"""The parameter ``interference``."""


@core
def slowdown_on(S: State, j: Int, n: Int, k: Int) -> float:
    """How many times as long job `j` would take with k workers, all it has for now, on free GPUs of node `n`."""
    P = S.place[0]
    P.node = n
    P.mask = gpus_of(S, n, k)
    P.gpus = k
    S.g[0].placed = 1
    before = try_on(S, j)
    found = slowed_beside_others(S, j)
    take_off(S, j, before)
    S.g[0].placed = 0
    return found


@core
def is_idle(S: State, n: Int) -> bool:
    """Whether all GPUs of node `n` are free: nothing runs there that could slow a job."""
    return bool(S.nodes[n].free == S.nodes[n].gpus)
