"""What jobs on one GPU do to each other (``docs/reference/semantics.md`` §10)."""

from pointsman.engine.bits import lowest
from pointsman.engine.compile import cold, core
from pointsman.engine.dirty import mark
from pointsman.engine.handle import open_state
from pointsman.engine.records import Int, State
from pointsman.types import JobState

RUNNING = int(JobState.RUNNING)


@core
def slow_down(S: State, a: Int, b: Int, kind: Int) -> float:
    """How many times as long an iteration of job `a` takes beside job `b` on a GPU of type `kind`: ξ(a | b) >= 1."""
    kinds = S.g[0].kinds
    return S.slowdowns[kind * kinds + S.models[S.jobs[a].speed].kind, S.models[S.jobs[b].speed].kind]


@core
def _beside(S: State, j: Int, x: Int, kind: Int) -> float:
    """How many times as long an iteration of job `j` takes by those that run on GPU `x` with it."""
    product = 1.0
    for o in range(S.gpus[x].used):
        b = S.occupants[x, o]
        if b != j and S.jobs[b].state == RUNNING:
            product *= slow_down(S, j, b, kind)
    return product


@cold
def _slowest(address: Int, j: Int) -> float:
    S = open_state(address)
    worst = 1.0
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        N = S.nodes[P.node]
        mask = P.mask & N.shared & ~N.fractions
        while mask != 0:
            worst = max(worst, _beside(S, j, N.gpu0 + lowest(mask), N.gpu_type))
            mask &= mask - 1
        i = P.next
    return worst


@core
def slowed_by(S: State, j: Int) -> float:
    """How many times as long an iteration of job `j` takes by its co-runners: on its slowest GPU."""
    return _slowest(S.g[0].address, j) if S.g[0].limit > 1 else 1.0


@cold
def _disturb(address: Int, j: Int) -> None:
    S = open_state(address)
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        N = S.nodes[P.node]
        mask = P.mask & N.shared & ~N.fractions
        while mask != 0:
            x = N.gpu0 + lowest(mask)
            for o in range(S.gpus[x].used):
                if S.occupants[x, o] != j:
                    mark(S, S.occupants[x, o])
            mask &= mask - 1
        i = P.next


@core
def disturb(S: State, j: Int) -> None:
    """Job `j` begins or ceases to run: those beside it may get another rate."""
    if S.g[0].limit > 1:
        _disturb(S.g[0].address, j)
