"""How many times their estimates jobs run, as told by the jobs that have completed: a histogram.

Its buckets are geometric: sixteen of each power of two.
"""

from typing import Any

import numpy as np

from pointsman.policies.sdk import Int, State, core

RUN_TIME_BUCKETS = 640
_SHIFT, _ZERO, _PARTS = 48, 1023 << 4, 16
_ONE = 65536.0
"""Where in the histogram jobs stand that run for as long as their estimates; none stands below 1."""


@core
def _bucket(ran: Int, estimate: float) -> Int:
    """Return the bucket of a job that has run for `ran` ms: the exponent of the ratio, and its first four bits."""
    ratio = max(1.0, _ONE * ran / max(1.0, estimate))
    return min((np.float64(ratio).view(np.int64) >> _SHIFT) - _ZERO, np.int64(RUN_TIME_BUCKETS - 1))


@core
def _end_of(bucket: Int) -> float:
    """The ratio at which a bucket ends."""
    power = np.float64(np.int64(1) << ((bucket + 1) // _PARTS))
    return (_PARTS + (bucket + 1) % _PARTS) * power / (_PARTS * _ONE)


@core
def learn_run_time(S: State, j: Int, run_times: Any) -> None:
    """Job `j` has completed."""
    run_times[_bucket(S.jobs[j].executed, S.jobs[j].estimate)] += 1.0


@core
def run_ratio(ran: Int, estimate: float, quantile: float, run_times: Any) -> float:
    """Return the predicted ratio of the run time to the estimate (ms) of a job that has run for `ran` ms.

    It is a quantile of the ratios of the completed jobs that ran as many times their estimates or longer. Without any,
    the job is predicted to run twice as long as it has run, and at least its estimate.
    """
    longer = 0.0
    first = _bucket(ran, estimate)
    for k in range(first, RUN_TIME_BUCKETS):
        longer += run_times[k]
    if longer == 0.0 or first == RUN_TIME_BUCKETS - 1:
        return max(1.0, 2.0 * ran / max(1.0, estimate))
    shorter = 0.0
    k = first - 1
    while shorter < quantile * longer:
        k += 1
        shorter += run_times[k]
    return _end_of(k)
