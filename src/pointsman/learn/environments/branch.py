"""A copy of a simulation of PlaceGang, in which choices are tried."""

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.sdk.environments import unit
from pointsman.errors import UsageError
from pointsman.learn.environments.batch_state import BatchState
from pointsman.learn.environments.compiled import columns
from pointsman.learn.environments.loading import BRANCHING
from pointsman.learn.environments.setting import Made


class Branch:
    """Where the choices of simulations of `made` are tried, one after the other."""

    def __init__(self, made: Made, rules: NDArray[np.int64]) -> None:
        if made.choice != "gangs":
            raise UsageError("choices can be tried in PlaceGang only")
        self._worth = unit(BRANCHING).worth_of
        self._batch, self._rules = BatchState(made.template, 1), rules
        self._sims = np.zeros((1, columns.SIM_COLUMNS), np.int64)
        self._sims[:, columns.ADDRESS] = self._batch.addresses
        self._windows = np.zeros((1, made.setting.slots), np.int64)
        self._masks = np.zeros((1, made.actions), np.int8)
        self._answers = np.zeros((1, columns.ANSWER))
        self._mean_ms = float(made.pool.prepared.trace["work"].mean())
        self._scale = float(made.template.state.g["gpus"][0]) * made.setting.tau_s * 1000.0 / self._mean_ms

    def worth(
        self, row: NDArray[np.int64], window: NDArray[np.int64], mask: NDArray[np.int8], actions: list[int],
        weights: NDArray[np.float64], reach: float,
    ) -> NDArray[np.float64]:  # fmt: skip
        """(K,) minus the delay that follows each of `actions`, all jobs together, in mean durations of a job.

        `row` is the simulation as it stands, `weights` are those of the `scorer` that goes on from there, for `reach`
        mean durations.
        """
        found = np.zeros(len(actions))
        self._worth(
            row, window, mask, self._sims, self._batch.rows, self._windows, self._masks, self._answers, self._rules,
            np.asarray(actions, np.int64), weights, reach * self._mean_ms, found,
        )  # fmt: skip
        return found * self._scale
