"""What jobs on one GPU do to each other (``docs/reference/semantics.md`` §10)."""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import DISTURB, SLOW, Int, State
from pointsman.engine.state.state_pointer import call_apart


@core
def slow_down(S: State, a: Int, b: Int, kind: Int) -> float:
    """How many times as long an iteration of job `a` takes beside job `b` on a GPU of type `kind`: ξ(a | b) >= 1."""
    kinds = S.g[0].kinds
    return S.slowdowns[kind * kinds + S.models[S.jobs[a].speed].kind, S.models[S.jobs[b].speed].kind]


@core
def feel_corunners(S: State, j: Int) -> None:
    """Find out how many times as long an iteration of job `j` takes by those that run beside it."""
    if S.g[0].jobs_per_gpu > 1:
        call_apart(S.g[0].sharing, S.g[0].address, SLOW, j)


@core
def disturb(S: State, j: Int) -> None:
    """Job `j` begins or ceases to run: those beside it may get another rate."""
    if S.g[0].jobs_per_gpu > 1:
        call_apart(S.g[0].sharing, S.g[0].address, DISTURB, j)
