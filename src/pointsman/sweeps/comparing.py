"""Comparisons in Python: of results, or of policies that are simulated for it."""

from collections.abc import Sequence
from typing import Any, cast, overload

from pointsman.errors import UsageError
from pointsman.policies.given import GivenPolicy
from pointsman.report.comparison import Comparison
from pointsman.report.comparison import compare as compare_results
from pointsman.report.metrics.price import Repeated
from pointsman.report.result import Result
from pointsman.workload.given import GivenWorkload


@overload
def compare(
    given: Sequence[Result],
    /,
    *,
    baseline: str | None = None,
    window: tuple[float, float] | None = None,
    repeated: Repeated | None = None,
) -> Comparison: ...


@overload
def compare(
    given: GivenWorkload,
    cluster: str,
    policy: GivenPolicy | Sequence[GivenPolicy],
    /,
    *,
    baseline: str | None = None,
    window: tuple[float, float] | None = None,
    seeds: int | Sequence[int] = 0,
    workload_seeds: int | Sequence[int] = (),
    on: str = "local",
    at_once: int | None = None,
    **options: Any,
) -> Comparison: ...


def compare(
    given: Sequence[Result] | GivenWorkload,
    /,
    cluster: str | None = None,
    policy: GivenPolicy | Sequence[GivenPolicy] | None = None,
    *,
    baseline: str | None = None,
    window: tuple[float, float] | None = None,
    **options: Any,
) -> Comparison:
    """Puts policies side by side: those of results, or those that it first simulates on one workload and cluster.

    Runs of one policy with several seeds, or on several workloads that were generated alike, are one row. Differences
    are paired on the workloads and seeds that a policy and the baseline have in common.

    Args:
        given: Results, as of `simulate` and `read_run`; or a `Workload`, a file that `read_workload` reads, or a table
            that `Workload.of` takes.
        cluster: A name, a shorthand or a file, as `load_cluster` takes it.
        policy: Names (``my_policy.py:MyPolicy``, too) and policy objects, as `sweep` takes them.
        baseline: Policy that the others are compared with. Default: the first.
        window: Count only jobs submitted between these times, in seconds since the first submission.
        repeated: Of results: runs of these policies where preemption loses work, for `Comparison.price`.
        seeds: Of a workload: random seeds of estimates, failures and policies; each policy runs once with each.
        workload_seeds: Of a workload: random seeds that draw its jobs anew, if it was generated.
        on: Of a workload: where to simulate: local, ray or ray://HOST[:PORT].
        at_once: Of a workload: maximum number of parallel runs. Default: 1, or the number of CPUs of the Ray cluster.
        options: Of a workload: ``load`` and further options of `simulate`, the same for every policy.

    Raises:
        InputError: the workload or the cluster file is wrong, or a gang could never start.
        UsageError: there are no results, a run is given twice, the baseline is unknown, the window is empty, an option,
            a policy or a parameter is wrong, or a policy object cannot be pickled.
    """
    if isinstance(given, Result) or (cluster is None and policy is None):
        if simulating := sorted(options.keys() - {"repeated"}):
            raise UsageError(
                f"{simulating[0]} is for runs to be simulated: pointsman.compare(workload, cluster, policies, "
                f"{simulating[0]}=…)"
            )
        return compare_results(cast("Sequence[Result]", given), baseline=baseline, window=window, **options)
    from pointsman.sweeps.asked import results_of

    results = results_of(given, cluster, policy, baseline, window, **options)
    return compare_results(results, baseline=baseline, window=window)
