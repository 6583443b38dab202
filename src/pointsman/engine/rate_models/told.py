"""What policies are told of model profiles, which may be wrong (``--profile-error``), as against how fast jobs run."""

from pointsman.engine.jit.compile import core
from pointsman.engine.rate_models.rates import iteration_s, rate_at, row_of
from pointsman.engine.state.records import Int, State


@core
def told_rate(S: State, j: Int) -> float:
    """Nominal ms that job `j` is said to do in a ms where it is: its rate, as wrong as its profile is there."""
    row, locality = row_of(S, j), S.jobs[j].locality
    return rate_at(S, j, iteration_s(S, j)) * (S.told_rates[row, locality] / S.rates[row, locality])


@core
def slow_down(S: State, a: Int, b: Int, kind: Int) -> float:
    """How many times as long an iteration of job `a` is said to take beside job `b` on a GPU of type `kind`: ξ >= 1."""
    kinds = S.g[0].kinds
    return S.told_slowdowns[kind * kinds + S.models[S.jobs[a].speed].kind, S.models[S.jobs[b].speed].kind]
