"""The speed of a running job, looked up in what was tabulated before the run."""

from pointsman.engine.compile import core
from pointsman.engine.records import Int, State


@core
def rate_of(S: State, j: Int) -> float:
    """Nominal milliseconds that job `j` does in a millisecond where it is now.

    Co-runners, link contention and accumulation will be further factors here; the engine's loop does not change.
    """
    J = S.jobs[j]
    return S.rates[J.speed + (J.gpu_type if J.gpu_type > 0 else 0), J.locality]


@core
def exposed_of(S: State, j: Int) -> float:
    """The share of its time in which job `j` waits for communication where it is now."""
    J = S.jobs[j]
    return S.exposed[J.speed + (J.gpu_type if J.gpu_type > 0 else 0), J.locality]
