"""Running the suite: a comparison for each cell, policies that need durations with and without errors in them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pointsman.parallel.file_bundle import Parcel, pack
from pointsman.parallel.pool import ONE_BY_ONE
from pointsman.parallel.workers import Workers
from pointsman.policies.registry import get_policy
from pointsman.suite.definition import Cell

if TYPE_CHECKING:
    from pointsman.engine.run.result import Result
    from pointsman.report.metrics.comparison import Comparison

Entry = tuple[str, str | None]
"""A policy, and the estimate it is given (None: what it needs)."""


def entries(policies: Sequence[str], errors: Sequence[str]) -> list[Entry]:
    """Every policy as it is, and those that need durations again with each error."""
    return [
        (name, estimate)
        for name in policies
        for estimate in (None, *(errors if get_policy(name).needs != "none" else ()))
    ]


def measure(cell: Cell, policies: Sequence[str], workers: Workers = ONE_BY_ONE) -> "Comparison":
    """All policies side by side on one cell, paired on the suite's seeds, the first policy as baseline.

    Raises:
        RunError: this machine does not generate the frozen workloads.
    """
    from pointsman.report.metrics.comparison import compare

    spec = cell.suite.spec
    workloads = {seed: cell.frozen(seed) for seed in spec.seeds}
    runs = [(entry, seed) for entry in entries(policies, spec.errors) for seed in spec.seeds]
    parcel = pack(list(policies)) if workers.far else Parcel()
    calls = [(workloads[seed], cell, parcel.there(name), errors, seed) for (name, errors), seed in runs]
    results = [replace(result, info=parcel.back(result.info)) for result in workers(_run, calls, parcel)]
    return compare(results, window=cell.window(workloads[spec.seeds[0]]))


def _run(workload: Any, cell: Cell, policy: str, estimate: str | None, seed: int) -> "Result":
    from pointsman.api import simulate

    return simulate(workload, cell.workload.cluster, policy, seed=seed, estimate=estimate)


def table(cell: Cell, comparison: "Comparison") -> Iterator[dict[str, Any]]:
    """The rows of results, one a policy."""
    for row in comparison.rows:
        change = row.differences["jct_mean_s"]
        low, high = change.ratio_interval or (None, None)
        yield {
            "workload": cell.workload.like,
            "cluster": cell.workload.cluster,
            "load": cell.load,
            "policy": row.policy,
            "knowledge": row.knowledge,
            "profiles": row.profiles,
            "progress": row.progress,
            "seeds": len(row.seeds),
            "jobs_counted": row.jobs_counted,
            "jobs_censored": row.jobs_censored,
            **row.values,
            "jct_mean_change": change.ratio,
            "jct_mean_change_low": low,
            "jct_mean_change_high": high,
        }
