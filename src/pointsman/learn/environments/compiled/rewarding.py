"""The reward, compiled apart from the episodes, which call it by its address.

This module is a template: `loading` writes copies in which the import of the hooks names another reward.
"""

from pointsman.engine.jit.compile import apart
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state
from pointsman.learn.environments.compiled.columns import FLOWING, memory
from pointsman.learn.environments.compiled.rewards.throughput import at_start, flow


@apart("int64(int64, int64, int64)")
def reward(address: Int, what: Int, j: Int) -> Int:
    """Note the reward per τ as things are, or grant what job `j` is worth, which has just been given its GPUs."""
    S = open_state(address)
    if what == FLOWING:
        memory(S).sums.flow = flow(S)
    else:
        memory(S).sums.granted += at_start(S, j)
    return 0
