"""What `explain` says of jobs whose waits are bounded, in clauses."""

from typing import Any

from pointsman.inputs.durations import duration
from pointsman.inputs.messages import counted


def said_of_limit(state: Any, job: Any, now_ms: int, limit_ms: float) -> str:
    """When a waiting job, a record of ``State.jobs``, will have waited for its limit, or that it has, and who is before
    it.
    """
    if job["overdue"]:
        before = _before(state, job)
        turn = f"{counted(before, 'such job')} before it" if before else "it is the next such job"
        return f"it has waited longer than its limit of {duration(limit_ms / 1000)}; {turn}"
    left_ms = limit_ms - job["pended"] - (now_ms - job["pend_since"])
    limit = f"its limit of {duration(limit_ms / 1000)}"
    return f"in {duration(max(0.0, left_ms) / 1000)} it will have waited for {limit}, and then goes before others"


def _before(state: Any, job: Any) -> int:
    """How many overdue jobs are before an overdue job."""
    count = 0
    while job["ahead"] >= 0:
        job = state.jobs[job["ahead"]]
        count += 1
    return count
