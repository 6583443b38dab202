"""The log's own schedule beside the policies, where it has one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pointsman.cli import screen

if TYPE_CHECKING:
    from pointsman.engine.run.result import Result
    from pointsman.workload import Workload


def logged_runs(workload: "Workload", results: "Sequence[Result]") -> "list[Result]":
    """What really happened, once for each seed of `results`; none where the log does not say, with a notice if it says
    something.
    """
    from pointsman.engine.run.logged import AS_LOGGED, as_logged, with_seed
    from pointsman.errors import UsageError

    if not workload.is_logged:
        return []
    try:
        logged = as_logged(workload, results[0])
    except UsageError as why:
        screen.note(f"no row {AS_LOGGED}: {why}")
        return []
    seeds = dict.fromkeys(int(result.info["seed"]) for result in results)
    return [with_seed(logged, seed) for seed in seeds]


def tell_logged(workload: "Workload", result: "Result") -> None:
    """Say on stderr what really happened to the jobs of a run, if the log says so."""
    from pointsman.report import measure
    from pointsman.report.units import duration

    for logged in logged_runs(workload, [result]):
        figures = measure(logged).summary
        times = (duration(figures[name]) for name in ("jct_mean_s", "pending_mean_s"))
        jct, pending = times
        screen.note(
            f"as logged: mean completion time {jct}, mean time pending {pending}; 'pointsman compare' shows more"
        )
