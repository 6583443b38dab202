"""Estimates of jobs' work from the jobs that have finished (``docs/reference/semantics.md`` §6), compiled.

A ridge regression of the logarithm of work on decayed means of earlier jobs: of all, of the same size, of the same
queue, of the same user. Features are those of the instant of submission. The method is ours.
"""

import numpy as np

from pointsman.engine.estimates.logarithm import exp, ln
from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State

ALL, SIZE, QUEUE, QUEUE_GPUS, USER, USER_GPUS, KEYS = range(7)
"""Keys of a job; `State.history_keys` says where each begins in `State.history`: its number of jobs, decayed, and the
sum of the logarithms of their work."""
DECAYS = (0.9995, 0.999, 0.99, 0.7, 0.95, 0.5)
FEATURES = 8
COLUMNS = FEATURES + KEYS
"""Columns of State.history_features: the features of a job, and where its keys begin in State.history."""
FIRST_MEAN = 7.0
"""ln s: what is thought of the work of jobs before the first has finished."""
LEAST_S = 10.0
"""Shorter jobs count as long as that."""
ENOUGH = 5.0
"""Jobs of a user and size with which their own mean counts in full."""
PENALTY = 5.0
LEAST_ENDS = 200
"""Finished jobs before weights are fitted."""
PERIOD_MS = 43_200_000
"""Weights are fitted once in each."""
HIGHEST = 20.0
"""ln s."""
FITTED, ENDED, WEIGHTS = 0, 1, 2
SUMS = WEIGHTS + FEATURES
"""Sums of products of features, row by row; then of features and ln work."""
TARGETS = SUMS + FEATURES * FEATURES
SOLVED = TARGETS + FEATURES
"""Where the equations are solved: rows of FEATURES + 1."""
HEAD = SOLVED + FEATURES * (FEATURES + 1)
"""Numbers of State.history before those of keys."""
FORETELL, LEARN = 0, 1
"""What the code at State.g.history is asked for."""


@core
def _mean(S: State, row: Int, key: Int, parent: float, weight: float) -> float:
    at = S.history_keys[row, key]
    return (S.history[at + 1] + weight * parent) / (S.history[at] + weight)


@core
def _note_features(S: State, j: Int) -> None:
    """Keep what is known of job `j` as it is submitted."""
    row, F = S.jobs[j].row & S.g[0].row_mask, S.history_features
    for key in range(KEYS):
        F[j, FEATURES + key] = S.history_keys[row, key]
    F[j, 0] = 1.0
    F[j, 1] = _mean(S, row, ALL, FIRST_MEAN, 2.0)
    F[j, 2] = _mean(S, row, SIZE, F[j, 1], 2.0)
    F[j, 3] = _mean(S, row, QUEUE, F[j, 2], 2.0)
    F[j, 4] = _mean(S, row, QUEUE_GPUS, F[j, 3], 2.0)
    F[j, 5] = _mean(S, row, USER, F[j, 3], 2.0)
    F[j, 6] = _mean(S, row, USER_GPUS, F[j, 5], 0.5)
    F[j, 7] = F[j, 6] * min(1.0, S.history[S.history_keys[row, USER]] / ENOUGH)


@core
def _set_equations(S: State) -> None:
    """Set up the equations of the ridge regression, whose penalty is on departing from the mean of jobs of the same
    size.
    """
    H = S.history
    for k in range(FEATURES):
        for i in range(FEATURES):
            H[SOLVED + k * (FEATURES + 1) + i] = H[SUMS + k * FEATURES + i]
        H[SOLVED + k * (FEATURES + 1) + k] += PENALTY
        H[SOLVED + k * (FEATURES + 1) + FEATURES] = H[TARGETS + k]
    H[SOLVED + 2 * (FEATURES + 1) + FEATURES] += PENALTY


@core
def _solve(S: State) -> None:
    """Eliminate, then substitute back; the matrix is positive definite, so no pivot is 0."""
    H, width = S.history, FEATURES + 1
    for k in range(FEATURES):
        for i in range(k + 1, FEATURES):
            share = H[SOLVED + i * width + k] / H[SOLVED + k * width + k]
            for c in range(k, width):
                H[SOLVED + i * width + c] -= share * H[SOLVED + k * width + c]
    for k in range(FEATURES - 1, -1, -1):
        rest = H[SOLVED + k * width + FEATURES]
        for c in range(k + 1, FEATURES):
            rest -= H[SOLVED + k * width + c] * H[WEIGHTS + c]
        H[WEIGHTS + k] = rest / H[SOLVED + k * width + k]


@core
def foretell(S: State, j: Int) -> None:
    """Give job `j`, which is being submitted, its estimate."""
    H, period = S.history, S.g[0].now // PERIOD_MS
    if period > H[FITTED] and H[ENDED] >= LEAST_ENDS:
        H[FITTED] = period
        _set_equations(S)
        _solve(S)
    _note_features(S, j)
    y = 0.0
    for k in range(FEATURES):
        y += H[WEIGHTS + k] * S.history_features[j, k]
    S.jobs[j].estimate = np.floor(1000.0 * exp(min(max(y, 0.0), HIGHEST)) + 0.5)


@core
def learn(S: State, j: Int) -> None:
    """Job `j` has finished."""
    H, F = S.history, S.history_features
    x = ln(max(S.jobs[j].done / 1000.0, LEAST_S))
    for key in range(KEYS):
        at = np.int64(F[j, FEATURES + key])
        H[at] = H[at] * DECAYS[key] + 1.0
        H[at + 1] = H[at + 1] * DECAYS[key] + x
    for k in range(FEATURES):
        for i in range(FEATURES):
            H[SUMS + k * FEATURES + i] += F[j, k] * F[j, i]
        H[TARGETS + k] += x * F[j, k]
    H[ENDED] += 1.0
