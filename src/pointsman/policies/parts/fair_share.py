"""Slurm's classic fair share (https://slurm.schedmd.com/classic_fair_share.html) of decayed GPU-seconds: what each user
and account has used, and the factor of a user.
"""

import math

import numpy as np

from pointsman.policies.parts.accounts import (
    EFFECTIVE,
    FACTOR,
    HELD,
    OWNED,
    PARENT,
    ROOT,
    SHARE,
    SINCE,
    STAMP,
    TAKEN,
    USAGE,
    USED,
)
from pointsman.policies.sdk import Int, State, core

DECAY, PERIOD_MS, DAMPENING = 9, 10, 11
"""Of State.params."""
USER = 0
"""The column of State.job_numbers that says where the row of a job's user begins in State.memory."""


@core
def last_calculation(S: State) -> Int:
    """The last multiple of the period, ms."""
    period = np.int64(S.params[PERIOD_MS])
    return S.g[0].now // period * period


@core
def _usage_at(S: State, row: Int, time: Int) -> float:
    """Decayed usage at `time` ms, GPU-ms, of the account or user whose row begins there."""
    usage, held = S.memory[row + USAGE], S.memory[row + HELD]
    elapsed = time - S.memory[row + SINCE]
    if elapsed <= 0.0:
        return usage
    decay = S.params[DECAY]
    if decay == 0.0:
        return usage + held * elapsed
    return usage * math.exp(-decay * elapsed) - held * math.expm1(-decay * elapsed) / decay


@core
def _usage_taken(S: State, row: Int, time: Int) -> float:
    """Its usage at the last calculation, `time`: taken before anything later changes it."""
    if S.memory[row + TAKEN] != time:
        S.memory[row + TAKEN] = time
        S.memory[row + USED] = _usage_at(S, row, time)
    return S.memory[row + USED]


@core
def hold(S: State, j: Int, gpus: Int) -> None:
    """The user of job `j`, and all above, hold so many GPUs more from now on."""
    row = np.int64(S.job_numbers[j, USER])
    while row >= 0:
        _usage_taken(S, row, last_calculation(S))
        S.memory[row + USAGE] = _usage_at(S, row, S.g[0].now)
        S.memory[row + SINCE] = S.g[0].now
        S.memory[row + HELD] += gpus
        row = np.int64(S.memory[row + PARENT])


@core
def _calculate(S: State, row: Int, time: Int) -> None:
    """Effective usage and fair-share factor at `time`; those of its parent are known."""
    parent = np.int64(S.memory[row + PARENT])
    total = _usage_taken(S, np.int64(ROOT), time)
    used = _usage_taken(S, row, time) / total if total > 0.0 else 0.0
    if parent != ROOT:
        used += (S.memory[parent + EFFECTIVE] - used) * S.memory[row + SHARE]
    owned = S.memory[row + OWNED]
    S.memory[row + EFFECTIVE] = used
    S.memory[row + FACTOR] = math.exp(-math.log(2.0) * used / owned / S.params[DAMPENING]) if owned > 0.0 else 0.0
    S.memory[row + STAMP] = time


@core
def fair_share(S: State, row: Int, time: Int) -> float:
    """The fair-share factor of a user at the last calculation, `time`."""
    while S.memory[row + STAMP] != time:
        highest = row
        parent = np.int64(S.memory[row + PARENT])
        while parent != ROOT and S.memory[parent + STAMP] != time:
            highest = parent
            parent = np.int64(S.memory[parent + PARENT])
        _calculate(S, highest, time)
    return S.memory[row + FACTOR]
