"""Slurm's classic fair share (https://slurm.schedmd.com/classic_fair_share.html) of decayed GPU-seconds: what each user
and account has used, and the factor of a user.

`A` are the rows of `Account` in a policy's memory; `P` are its parameters, among them `calc_period_ms`, `decay` (of
usage, per ms; 0: none) and `dampening`.
"""

import math
from typing import Any

import numpy as np

from pointsman.policies.parts.accounts import ROOT
from pointsman.policies.sdk import Int, State, core

USER = 0
"""The column of State.job_numbers that has the row of a job's user."""


@core
def last_calculation(S: State, P: Any) -> Int:
    """The last multiple of the period, ms."""
    return S.g[0].now // P.calc_period_ms * P.calc_period_ms


@core
def _usage_at(A: Any, row: Int, P: Any, time: Int) -> float:
    """Decayed usage at `time` ms, GPU-ms, of an account or user."""
    usage, held = A[row].usage, A[row].held
    elapsed = time - A[row].since
    if elapsed <= 0:
        return usage
    if P.decay == 0.0:
        return usage + held * elapsed
    return usage * math.exp(-P.decay * elapsed) - held * math.expm1(-P.decay * elapsed) / P.decay


@core
def _usage_taken(A: Any, row: Int, P: Any, time: Int) -> float:
    """Its usage at the last calculation, `time`: taken before anything later changes it."""
    if A[row].taken != time:
        A[row].taken = time
        A[row].used = _usage_at(A, row, P, time)
    return A[row].used


@core
def hold(S: State, A: Any, P: Any, j: Int, gpus: Int) -> None:
    """Record that the user of job `j`, and all accounts above, hold `gpus` GPUs more from now on."""
    row = np.int64(S.job_numbers[j, USER])
    while row >= 0:
        _usage_taken(A, row, P, last_calculation(S, P))
        A[row].usage = _usage_at(A, row, P, S.g[0].now)
        A[row].since = S.g[0].now
        A[row].held += gpus
        row = A[row].parent


@core
def _calculate(A: Any, row: Int, P: Any, time: Int) -> None:
    """Effective usage and fair-share factor at `time`; those of its parent are known."""
    total = _usage_taken(A, np.int64(ROOT), P, time)
    used = _usage_taken(A, row, P, time) / total if total > 0.0 else 0.0
    if A[row].parent != ROOT:
        used += (A[A[row].parent].effective - used) * A[row].share
    owned = A[row].owned
    A[row].effective = used
    A[row].factor = math.exp(-math.log(2.0) * used / owned / P.dampening) if owned > 0.0 else 0.0
    A[row].stamp = time


@core
def fair_share(A: Any, row: Int, P: Any, time: Int) -> float:
    """The fair-share factor of a user at the last calculation, `time`."""
    while A[row].stamp != time:
        highest = row
        parent = A[row].parent
        while parent != ROOT and A[parent].stamp != time:
            highest = parent
            parent = A[parent].parent
        _calculate(A, highest, P, time)
    return A[row].factor
