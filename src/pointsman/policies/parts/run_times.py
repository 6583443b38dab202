"""How long jobs run in all, as told by the jobs that have completed: a histogram in State.memory, from `memory` on.

Its buckets are geometric: four of each power of two of milliseconds.
"""

import numpy as np

from pointsman.policies.sdk import Int, State, core

RUN_TIME_BUCKETS = 212
"""Numbers of State.memory that the histogram takes: up to 2 ** 53 ms."""
UNKNOWN_MS = 3_600_000.0
"""How long jobs are predicted to run while none has completed that ran so long, at least."""
_SHIFT, _ZERO = 50, 1023 << 2


@core
def _bucket(ms: float) -> Int:
    """The exponent of a time of 1 ms or more, and the first two bits behind it."""
    return min((np.float64(ms).view(np.int64) >> _SHIFT) - _ZERO, np.int64(RUN_TIME_BUCKETS - 1))


@core
def _end_of(bucket: Int) -> float:
    """Where a bucket ends, ms."""
    return (4.0 + (bucket + 1) % 4) * np.float64(np.int64(1) << ((bucket + 1) // 4)) / 4.0


@core
def learn_run_time(S: State, ran: Int, memory: Int) -> None:
    """A job has completed that ran for `ran` ms."""
    S.memory[memory + _bucket(max(1.0, np.float64(ran)))] += 1.0


@core
def predicted_run_ms(S: State, ran: Int, quantile: float, memory: Int) -> float:
    """How long a job that has run for `ran` ms runs in all: a quantile of the completed jobs that ran so long."""
    longer = 0.0
    first = _bucket(max(1.0, np.float64(ran)))
    for k in range(first, RUN_TIME_BUCKETS):
        longer += S.memory[memory + k]
    if longer == 0.0:
        return max(UNKNOWN_MS, 2.0 * ran)
    shorter = 0.0
    k = first - 1
    while shorter < quantile * longer:
        k += 1
        shorter += S.memory[memory + k]
    return np.ceil(_end_of(k))
