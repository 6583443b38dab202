"""The log's own schedule beside the policies, where it has one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pointsman.cli import screen
from pointsman.types import AS_LOGGED

if TYPE_CHECKING:
    from pointsman.report.result import Result
    from pointsman.workload import Workload


REALISTIC = ("easy", "fifo-backfill", "multifactor")
"""Policies close to the schedulers that most clusters run."""


def logged_runs(workload: "Workload", results: "Sequence[Result]") -> "list[Result]":
    """What really happened, once for each seed of `results`; none, and a notice, where the log does not say it all."""
    from pointsman.engine.run.logged import with_seed

    logged = _read_logged(workload, results[0])
    if logged is None:
        return []
    if not any(result.info["policy"].partition(":")[0] in REALISTIC for result in results):
        screen.note(f"to see how well this cluster model fits the log, add --policy {REALISTIC[0]}")
    seeds = dict.fromkeys(int(result.info["seed"]) for result in results)
    return [with_seed(logged, seed) for seed in seeds]


def check_logged(workload: "Workload", baseline: str | None) -> None:
    """Before a long run: the log says when its jobs started, if policies are to be compared with that.

    Raises:
        UsageError: it does not, or of fewer than half of them.
    """
    from pointsman.engine.run.logged import check_starts
    from pointsman.errors import UsageError

    if baseline != AS_LOGGED:
        return
    if not workload.is_logged:
        raise UsageError(f"--baseline {AS_LOGGED}: the log has no start times, or they no longer apply")
    try:
        check_starts(workload.jobs["start_s"])
    except UsageError as why:
        raise UsageError(f"--baseline {AS_LOGGED}: {why}") from None


def tell_logged(workload: "Workload", result: "Result", window: tuple[float, float] | None) -> None:
    """Say on stderr what really happened to the jobs of a run, if the log says so."""
    logged = _read_logged(workload, result)
    if logged is not None:
        from pointsman.report import measure
        from pointsman.report.units import duration

        figures = measure(logged, window).summary
        jct, pending = (duration(figures[name]) for name in ("jct_mean_s", "pending_mean_s"))
        told = f"mean completion time {jct}, mean time pending {pending}"
        screen.note(f"as logged: {told}; 'pointsman compare' shows more")


def _read_logged(workload: "Workload", result: "Result") -> "Result | None":
    if not workload.is_logged:
        return None
    from pointsman.engine.run.logged import as_logged
    from pointsman.errors import UsageError

    try:
        return as_logged(workload, result)
    except UsageError as why:
        screen.note(f"no row {AS_LOGGED}: {why}")
        return None
