"""Dally's auto-tuner: how long a level is worth waiting for, learned from how long it took to appear.

For each level and demand (GPUs, in powers of two) the waits of the last day are kept as sums by hour, in whole seconds
so that the sums are exact. A timer is their mean plus a multiple of their standard deviation. A wait that ended at a
looser level says only that the tighter one takes longer: it counts in the mean, cut off at its timer, but not in the
deviation, so that timers neither collapse nor ratchet up. The concept is the paper's (arXiv 2401.16492, Algorithm 2),
the statistic ours.
"""

from typing import Any

import numpy as np

from pointsman.policies.dally.declared import BINS, DEMANDS, DelayMemory, DelayScheduling
from pointsman.policies.parts.levels import NODE
from pointsman.policies.sdk import Int, State, cold, core, open_state, view_of

params, memory = view_of(DelayScheduling), view_of(DelayMemory)


@core
def _row(level: Int, demand: Int) -> Int:
    """The row of waits of a level and demand."""
    return (level - NODE) * DEMANDS + demand


@core
def _stamp(S: State) -> Int:
    """The number of the bin that now falls into, from 1."""
    return S.g[0].now * BINS // params(S).history_ms + 1


@core
def demand_of(gpus: Int) -> Int:
    """The demand's class: ceil(log2 of its GPUs)."""
    b = np.int64(0)
    while (np.int64(1) << b) < gpus:
        b += 1
    return b


@cold
def _learn(address: int, level: Int, gpus: Int, waited_ms: Int, censored: Int) -> None:
    S = open_state(address)
    stamp = _stamp(S)
    W = memory(S).waits[_row(level, demand_of(gpus)), stamp % BINS]
    if W.stamp != stamp:
        W.stamp = stamp
        W.count = W.sum = W.seen = W.seen_sum = W.seen_squares = 0.0
    seconds = np.float64(waited_ms // 1000)
    W.count += 1.0
    W.sum += seconds
    if censored == 0:
        W.seen += 1.0
        W.seen_sum += seconds
        W.seen_squares += seconds * seconds


@core
def learn(S: State, level: Int, gpus: Int, waited_ms: Int, censored: Int) -> None:
    """A gang waited so long for `level` and got it, or (`censored`) settled for a looser one."""
    _learn(S.g[0].address, level, gpus, waited_ms, censored)


@cold
def _tuned_ms(address: int, level: Int, gpus: Int) -> float:
    S = open_state(address)
    P, stamp = params(S), _stamp(S)
    row = _row(level, demand_of(gpus))
    count = total = seen = seen_sum = squares = 0.0
    for k in range(BINS):
        W = memory(S).waits[row, k]
        if W.stamp > stamp - BINS and W.stamp > 0:
            count += W.count
            total += W.sum
            seen += W.seen
            seen_sum += W.seen_sum
            squares += W.seen_squares
    if count < P.least_entries:
        return _initial_ms(P, level)
    timer = 1000.0 * total / count
    if seen > 0.0:
        spread = np.sqrt(max(seen * squares - seen_sum * seen_sum, 0.0))
        timer += P.deviations * 1000.0 * spread / seen
    return min(max(np.ceil(timer), np.float64(P.shortest_timer_ms)), np.float64(P.longest_timer_ms))


@core
def _initial_ms(P: Any, level: Int) -> float:
    """The timer of a level before any is tuned."""
    return P.node_timer_ms if level == NODE else P.rack_timer_ms


@core
def timer_ms(S: State, level: Int, gpus: Int) -> float:
    """Return how long (ms) a gang of `gpus` GPUs waits for `level`, NODE or RACK, before it takes a looser one."""
    if not params(S).tuned:
        return _initial_ms(params(S), level)
    timer = _tuned_ms(S.g[0].address, level, gpus)
    return timer if level == NODE else max(timer, _tuned_ms(S.g[0].address, np.int64(NODE), gpus))
