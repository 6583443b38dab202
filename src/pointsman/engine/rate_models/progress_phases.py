"""The stages of jobs' progress on which their rates depend (``docs/reference/semantics.md`` §11). Compiled once, apart
from the loops.
"""

import numpy as np

from pointsman.engine.actions.running import settle
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import core, exported
from pointsman.engine.state.due_times import NEVER, after
from pointsman.engine.state.records import NEXT, Int, State, World
from pointsman.engine.state.state_pointer import open_state, open_world


@core
def _find_turn(S: State, W: World, j: Int) -> None:
    """When job `j`, whose progress has just been counted, comes to its next stage at its rate."""
    J = S.jobs[j]
    T = W.truth[j]
    left = T.work * ((J.stage + 1) / S.g[0].stages) - J.done
    T.turn = after(S.g[0].now, left, J.rate) if J.stage + 1 < S.g[0].stages else np.int64(NEVER)


@exported("int64(int64, int64, int64)")
def stages(address: Int, what: Int, j: Int) -> Int:
    """See `records.TURN`."""
    S = open_state(address)
    if what == NEXT:
        settle(S, j)
        S.jobs[j].stage += 1
        mark(S, j)
    _find_turn(S, open_world(address), j)
    return np.int64(0)
