"""Jobs that the world must look at after the pass."""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import DIRTY, Int, State


@core
def mark(S: State, j: Int) -> None:
    """The world must look at job `j` after this pass."""
    if S.jobs[j].dirty == 0:
        S.jobs[j].dirty = 1
        S.lists[DIRTY, S.g[0].dirty] = j
        S.g[0].dirty += 1
