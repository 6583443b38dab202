"""The table of slow-downs that a policy writes anew as it learns (`online_interference`), in the state of a run."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.rate_models.factors.learned_neighbours import LAWS, TIMES
from pointsman.engine.rate_models.rates import FINEST
from pointsman.engine.state.records import OF_POLICY, State


class PolicyTable(NamedTuple):
    """Where it is, and its numbers: views of the state."""

    factor: int
    """Which of the factors of the run it belongs to."""
    times: NDArray[np.float64]
    """(combinations,) how many times as long each takes, in whole 1/2^30."""
    laws: NDArray[np.float64]
    """The law for others; behind it, numbers of other factors."""

    def write(self, rows: NDArray[np.int64] | slice, times: NDArray[np.float64]) -> None:
        """Set how many `times` as long combinations `rows` take from now on."""
        self.times[rows] = np.round(times * FINEST) / FINEST

    def write_law(self, law: NDArray[np.float64]) -> None:
        """Set the law of all other combinations."""
        self.laws[: len(law)] = law


def table_of_policy(state: State) -> PolicyTable:
    """Find the table in the state of a run whose policy has one."""
    factor = int(np.flatnonzero(state.factors["role"] == OF_POLICY)[0])
    numbers = state.factor_numbers[int(state.factors["numbers"][factor]) :]
    times, laws = int(numbers[TIMES]), int(numbers[LAWS])
    return PolicyTable(factor, numbers[times:laws], numbers[laws:])
