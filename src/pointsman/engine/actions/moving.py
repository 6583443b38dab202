"""Moving a running job to a place at a tighter level."""

from pointsman.engine.actions.verbs import preempt, preempt_released, start_placed
from pointsman.engine.actions.worse import release_tentatively, take_back
from pointsman.engine.jit.compile import cold, exported
from pointsman.engine.placement.placing import fits, place, unplace
from pointsman.engine.placement.tightest import RACK
from pointsman.engine.state.codes import OK, RESOURCES, TIGHTEST
from pointsman.engine.state.records import Int, State
from pointsman.types import Reason

MIGRATED = int(Reason.Migrated)


@cold
def _has_room(S: State, c: Int, level: Int) -> bool:
    """Whether a gang of class `c` has a place at `level` or tighter; only the placement TIGHTEST looks at levels."""
    if not fits(S, c):
        return False
    if S.g[0].placement == TIGHTEST:
        return True
    place(S, c)
    within = S.g[0].placed == 1 or level >= RACK
    for i in range(1, S.g[0].placed):
        within = within and S.nodes[S.place[i].node].rack == S.nodes[S.place[0].node].rack
    unplace(S)
    return bool(within)


@exported("int64(State, int64, int64)")
def move(S: State, v: Int, level: Int) -> Int:
    """Move running job `v` to a place at `level` or tighter, its own GPUs counted as free: OK, or RESOURCES.

    Where stopping takes time, the job is preempted, and waits to be started there. State.g.within stays `level`.
    """
    S.g[0].within = level
    release_tentatively(S, v)
    if not _has_room(S, S.jobs[v].cls, level):
        take_back(S, v)
        return RESOURCES
    if S.g[0].stop_ms > 0:
        take_back(S, v)
        preempt(S, v, MIGRATED)
    else:
        place(S, S.jobs[v].cls)
        preempt_released(S, v, MIGRATED)
        start_placed(S, v, OK)
    return OK
