"""What jobs on one GPU do to each other (``docs/reference/semantics.md`` §10): the compiled part of `gpu_sharing`."""

from pointsman.engine.index.bits import lowest, without_lowest
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import core
from pointsman.engine.state.codes import RUNNING
from pointsman.engine.state.records import Int, State


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


@core
def slowed(S: State, f: Int, j: Int) -> float:
    """How many times as long an iteration of job `j` takes: on its slowest GPU."""
    worst = 1.0
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        N = S.nodes[P.node]
        mask = P.mask & N.shared & ~N.fractions
        while mask != 0:
            worst = max(worst, _beside(S, j, N.gpu0 + lowest(mask), N.gpu_type))
            mask = without_lowest(mask)
        i = P.next
    return worst


@core
def begin(S: State, f: Int, j: Int) -> None:
    """Those beside job `j` may get another rate."""
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
            mask = without_lowest(mask)
        i = P.next


cease = begin
