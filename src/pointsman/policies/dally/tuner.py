"""Dally's auto-tuner: how long a level is worth waiting for, learned from how long it took to appear.

For each level and demand (GPUs, in powers of two) the waits of the last day are kept as sums by hour, in whole seconds
so that the sums are exact. A timer is their mean and so many standard deviations. A wait that ended at a looser level
says only that the tighter one takes longer: it counts in the mean, cut off at its timer, but not in the deviation, so
that timers neither collapse nor ratchet up. The concept is the paper's (arXiv 2401.16492, Algorithm 2), the statistic
ours.
"""

import numpy as np

from pointsman.policies.parts.levels import NODE
from pointsman.policies.sdk import Int, State, cold, core, open_state

TUNED, HISTORY_MS, LEAST_ENTRIES, DEVIATIONS, SHORTEST_MS, LONGEST_MS, NODE_MS, RACK_MS = range(8)  # params
TUNER_PARAMS = 8
BINS, DEMANDS = 24, 18
STAMP, COUNT, SUM, SEEN, SEEN_SUM, SEEN_SQUARES, FIELDS = range(7)  # of a bin
TUNER_MEMORY = 2 * DEMANDS * BINS * FIELDS


@core
def _bin(level: Int, demand: Int, stamp: Int) -> Int:
    """Where in State.memory the bin of `stamp` begins."""
    row = (level - NODE) * DEMANDS + demand
    return (row * BINS + stamp % BINS) * FIELDS


@core
def _stamp(S: State) -> Int:
    """The number of the bin that now falls into, from 1."""
    return S.g[0].now * BINS // np.int64(S.params[HISTORY_MS]) + 1


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
    M = S.memory
    stamp = _stamp(S)
    i = _bin(level, demand_of(gpus), stamp)
    if M[i + STAMP] != stamp:
        for k in range(FIELDS):
            M[i + k] = 0.0
        M[i + STAMP] = stamp
    seconds = np.float64(waited_ms // 1000)
    M[i + COUNT] += 1.0
    M[i + SUM] += seconds
    if censored == 0:
        M[i + SEEN] += 1.0
        M[i + SEEN_SUM] += seconds
        M[i + SEEN_SQUARES] += seconds * seconds


@core
def learn(S: State, level: Int, gpus: Int, waited_ms: Int, censored: Int) -> None:
    """A gang waited so long for `level` and got it, or (`censored`) settled for a looser one."""
    _learn(S.g[0].address, level, gpus, waited_ms, censored)


@cold
def _tuned_ms(address: int, level: Int, gpus: Int) -> float:
    S = open_state(address)
    M = S.memory
    stamp = _stamp(S)
    first = _bin(level, demand_of(gpus), np.int64(0))
    count = total = seen = seen_sum = squares = 0.0
    for k in range(BINS):
        i = first + k * FIELDS
        if M[i + STAMP] > stamp - BINS and M[i + STAMP] > 0.0:
            count += M[i + COUNT]
            total += M[i + SUM]
            seen += M[i + SEEN]
            seen_sum += M[i + SEEN_SUM]
            squares += M[i + SEEN_SQUARES]
    if count < S.params[LEAST_ENTRIES]:
        return S.params[NODE_MS + level - NODE]
    timer = 1000.0 * total / count
    if seen > 0.0:
        spread = np.sqrt(max(seen * squares - seen_sum * seen_sum, 0.0))
        timer += S.params[DEVIATIONS] * 1000.0 * spread / seen
    return min(max(np.ceil(timer), S.params[SHORTEST_MS]), S.params[LONGEST_MS])


@core
def timer_ms(S: State, level: Int, gpus: Int) -> float:
    """How long a gang of so many GPUs holds out for `level`, NODE or RACK, before it takes a looser one."""
    if S.params[TUNED] == 0.0:
        return S.params[NODE_MS + level - NODE]
    timer = _tuned_ms(S.g[0].address, level, gpus)
    return timer if level == NODE else max(timer, _tuned_ms(S.g[0].address, np.int64(NODE), gpus))
