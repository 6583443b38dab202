"""What a policy that learns interference sees of running jobs: the combinations that they are in, and how slow they
are (on a real cluster a profile of a training step tells the same); and how little it knows of a candidate placement.
"""

import numpy as np

from pointsman.engine.sdk.environments import (
    Int,
    State,
    alternative_with_room,
    cold,
    combination_on,
    exported,
    is_known,
    lowest,
    model_of,
    open_state,
    take_off,
    try_on,
)
from pointsman.learn.environments.compiled.columns import NOTED_ROW, NOTED_SLOW
from pointsman.policies.placers.candidates.features import features_of
from pointsman.policies.placers.candidates.places import note_candidate
from pointsman.policies.placers.declared import MOST_CANDIDATES
from pointsman.policies.placers.filling import is_compact
from pointsman.policies.placers.waiting.patience import is_patient
from pointsman.types import JobState

RUNNING = int(JobState.RUNNING)
MOST_ROWS = 1 << 24


@exported("int64(int64, int64, float64[:, ::1], int64[::1], float64[::1])")
def watch(address: Int, f: Int, noted: np.ndarray, rows: np.ndarray, slow_downs: np.ndarray) -> Int:
    """Write which `rows` of the table of factor `f` the combinations of jobs have that run on one node, and their
    `slow_downs`, unless they are in `noted`, where they come; how many there are.

    A job whose speed is yet to be found anew is seen the next time. Gangs on several nodes are as slow as the worst,
    which cannot be told, and GPUs that jobs share slow them besides: neither is seen.
    """
    S = open_state(address)
    found = np.int64(0)
    for j in range(S.g[0].slots):
        J = S.jobs[j]
        if J.state != RUNNING or J.nodes != 1 or J.dirty != 0 or not is_known(S, f, np.int64(j)):
            continue
        P = S.parts[J.part]
        if S.nodes[P.node].shared != 0:
            continue
        row = combination_on(S, f, np.int64(j), J.part, lowest(P.mask))
        told = np.float64(J.row * MOST_ROWS + row)
        if row < 0 or (noted[j, NOTED_ROW] == told and noted[j, NOTED_SLOW] == J.slow_computing):
            continue
        noted[j, NOTED_ROW] = told
        noted[j, NOTED_SLOW] = J.slow_computing
        rows[found] = row
        slow_downs[found] = J.slow_computing
        found += 1
    return found


@exported("int64(int64, int64, int64)")
def model(address: Int, f: Int, j: Int) -> Int:
    """Which of the models of factor `f` job `j` has; -1 if none."""
    return model_of(open_state(address), f, j)


@cold
def _least_known(S: State, f: Int, j: Int, uncertainty: np.ndarray) -> float:
    """The greatest uncertainty among the nodes that job `j` is on trial on; 0 where nothing is tabulated."""
    most = 0.0
    i = S.jobs[j].part
    while i >= 0:
        row = combination_on(S, f, j, i, lowest(S.parts[i].mask))
        if row >= 0:
            most = max(most, uncertainty[row])
        i = S.parts[i].next
    return most


@exported("void(int64, int64, int64, int8[::1], float64[::1], float64[::1], float64[::1])")
def weigh(
    address: Int, f: Int, j: Int, mask: np.ndarray, uncertainty: np.ndarray, slowness: np.ndarray, unknown: np.ndarray
) -> None:
    """Write the `slowness` of each candidate of job `j`, and how `unknown` its nodes are.

    The candidates have just been measured. `slowness` is 1 plus the forecast slow-down of the job and the harm to
    others; `unknown` goes by the `uncertainty` of the rows of factor `f`. A candidate that `scorer` would not consider
    has the slowness infinity, and 0.
    """
    S = open_state(address)
    a = alternative_with_room(S, S.jobs[j].cls)
    for i in range(MOST_CANDIDATES):
        slowness[i] = np.inf
        unknown[i] = 0.0
        if mask[i] == 0:
            continue
        note_candidate(S, j, a, np.int64(i))
        if is_patient(S, j) and not is_compact(S, a, S.classes[S.jobs[j].cls].gpus):
            continue
        before = try_on(S, j)
        if is_known(S, f, j):
            unknown[i] = _least_known(S, f, j, uncertainty)
        take_off(S, j, before)
        F = features_of(S, np.int64(i))
        slowness[i] = 1.0 + F.slow_down + F.harm
