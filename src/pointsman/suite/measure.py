"""Running the suite: a comparison for each cell, policies that need durations with and without errors in them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pointsman.parallel.file_bundle import FileBundle, pack
from pointsman.parallel.pool import ONE_BY_ONE
from pointsman.parallel.workers import Workers
from pointsman.policies.registry import get_policy
from pointsman.suite.definition import Cell
from pointsman.sweeps.digests import digest_of, workload_digest
from pointsman.sweeps.kept import InMemory, Store, finish

if TYPE_CHECKING:
    from pointsman.report.comparison import Comparison
    from pointsman.report.result import Result

Entry = tuple[str, str | None]
"""A policy, and the estimate it is given (None: what it needs)."""
OVERHEADS = "none"
"""The overheads of every run of Suite v1, which was frozen before preemption had a price by default."""


def entries(policies: Sequence[str], errors: Sequence[str], *, imports: bool = True) -> list[Entry]:
    """Every policy as it is, and those that need durations again with each error; `imports` as in `get_policy`."""
    return [
        (name, estimate)
        for name in policies
        for estimate in (None, *(errors if get_policy(name, imports=imports).needs != "none" else ()))
    ]


def measure(
    cell: Cell, policies: Sequence[str], workers: Workers = ONE_BY_ONE, store: Store | None = None
) -> "Comparison":
    """All policies side by side on one cell, paired on the suite's seeds, the first policy as baseline.

    Runs that `store` has are not made again.

    Raises:
        RunError: this machine does not generate the frozen workloads.
    """
    from pointsman.report.comparison import compare

    spec, store = cell.suite.spec, InMemory() if store is None else store
    workloads = {seed: cell.frozen(seed) for seed in spec.seeds}
    jobs = {seed: workload_digest(workload) for seed, workload in workloads.items()}
    runs = [(*entry, seed) for entry in entries(policies, spec.errors) for seed in spec.seeds]
    digests = {run: digest_of(jobs[run[-1]], cell.workload.cluster, run) for run in runs}
    missing = [run for run in runs if not store.has(digests[run])]
    bundle = pack(list(policies)) if workers.far else FileBundle()
    calls = [(workloads[seed], cell, bundle.there(name), errors, seed) for name, errors, seed in missing]

    def received(result: "Result") -> "Result":
        return replace(result, info=bundle.back(result.info))

    for _ in finish([digests[run] for run in missing], _run, calls, workers, store, bundle, received):
        pass
    comparison = compare([store.take(digests[run]) for run in runs], window=cell.window(workloads[spec.seeds[0]]))
    return comparison


def cell_digest(cell: Cell, policies: Sequence[str]) -> str:
    """What determines the comparison of a cell."""
    spec = cell.suite.spec
    runs = entries(policies, spec.errors)
    return digest_of(cell.name, cell.workload.cluster, cell.frozen_digests(), runs, spec.seeds, spec.warmup_ratio)


def _run(workload: Any, cell: Cell, policy: str, estimate: str | None, seed: int) -> "Result":
    from pointsman.api import simulate

    return simulate(
        workload, cell.workload.cluster, policy, seed=seed, estimate=estimate, overheads=OVERHEADS, log=None
    )


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
