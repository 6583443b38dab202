"""What a policy that learns interference sees of running jobs: the combinations that they are in, and how slow they
are. On a real cluster a profile of a training step tells the same.
"""

import numpy as np

from pointsman.engine.index.bits import lowest
from pointsman.engine.jit.compile import entry
from pointsman.engine.rate_models.factors.learned_neighbours import combination_on, is_known
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state
from pointsman.types import JobState

RUNNING = int(JobState.RUNNING)
MOST_ROWS = 1 << 24
ROW, SLOW, NOTED = 0, 1, 2
"""What was last seen of a slot: the row of its job and the combination as one number, and its slow-down."""


@entry("int64(int64, int64, float64[:, ::1], int64[::1], int64[::1], float64[::1])")
def watch(address: Int, f: Int, noted: np.ndarray, slots: np.ndarray, rows: np.ndarray, slow_downs: np.ndarray) -> Int:
    """Write the `slots` of jobs that run on one node, the `rows` of the table of factor `f` that their combinations
    have, and their `slow_downs`, unless they are in `noted`, where they come; how many there are.

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
        if row < 0 or (noted[j, ROW] == told and noted[j, SLOW] == J.slow_computing):
            continue
        noted[j, ROW] = told
        noted[j, SLOW] = J.slow_computing
        slots[found] = j
        rows[found] = row
        slow_downs[found] = J.slow_computing
        found += 1
    return found
