"""The reward, compiled apart from the episodes, which call it by its address: a unit of every module of a reward."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from pointsman.engine.sdk.environments import Int, exported, open_state
from pointsman.learn.environments.compiled.columns import FLOWING, memory


def unit_of(of: ModuleType) -> list[Callable[..., Any]]:
    """The one function that is called of the reward of a module.

    Raises:
        AttributeError: the module lacks ``at_start`` or ``flow``.
    """
    at_start, flow = of.at_start, of.flow

    @exported("int64(int64, int64, int64)")
    def reward(address: Int, what: Int, j: Int) -> Int:
        """Note the reward per τ as things are, or grant what job `j` is worth, which has just been given its GPUs."""
        S = open_state(address)
        if what == FLOWING:
            memory(S).sums.flow = flow(S)
        else:
            memory(S).sums.granted += at_start(S, j)
        return 0

    return [reward]
