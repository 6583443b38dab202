"""Which policies can decide on a cluster that runs, and why others cannot."""

from typing import Any

from pointsman.engine.sdk.live import Terms, declared_by
from pointsman.errors import UsageError

SLICES = 4
"""How many times as long as a preemption a slice must be, or most time goes into stops and starts."""


def check_suits_live(policy: Any, terms: Terms, preemption_ms: int) -> None:
    """That the policy can decide where a preemption takes so long, and nothing is done but starts and stops.

    Raises:
        UsageError: it cannot; the sentence says why.
    """
    check_reads_no_log(policy)
    if reason := _unsuitable(policy, terms, preemption_ms):
        raise UsageError(f"policy {getattr(policy, 'name', type(policy).__name__)!r} cannot run live: {reason}")


def check_reads_no_log(policy: Any) -> None:
    """That the policy requires no columns of a log.

    Raises:
        UsageError: it does.
    """
    if columns := declared_by(policy):
        raise UsageError(
            f"policy {policy.name!r} cannot run live: it requires the column {columns[0]} of a job log, and jobs of a "
            "live cluster have no columns of your own"
        )


def _unsuitable(policy: Any, terms: Terms, preemption_ms: int) -> str | None:
    model = terms.base_model
    if model.counts_iterations:
        return "it lets transfers of jobs begin, which nothing outside of a training can do"
    if model.adapts_gangs:
        return "it changes the number of GPUs of running jobs, which no backend can do yet"
    if model.most_jobs_per_gpu(terms.jobs_per_gpu) > 1:
        return "it lets jobs share a GPU, which no backend can do yet"
    slice_ms = 1000 * getattr(policy, "slice_s", float("inf"))
    if slice_ms < SLICES * preemption_ms:
        slice_s, takes_s = slice_ms / 1000, preemption_ms / 1000
        return (
            f"its slices of {slice_s:g} s are not long against a preemption, which takes {takes_s:g} s: set slice_s to "
            f"{SLICES * takes_s:g} or more"
        )
    return None
