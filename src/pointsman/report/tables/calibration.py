"""The tables of how far policies are from what really happened."""

from pointsman.report.metrics.calibration.fits import Calibration, Fit, Times
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, duration, percent

TIMES = ("policy", "mean wait", "median wait", "90 % wait", "mean JCT", "median JCT", "90 % JCT")
JOBS = ("policy", "within 1 min", "starts apart", "10 % start", "50 % start", "90 % start", "JCTs apart")


def calibration_tables(calibration: Calibration) -> list[Table]:
    """One row a policy: its waits and completion times beside the log's, and how far it is from the log job by job."""
    first = calibration.fits[0]
    logged = (calibration.logged, *_times(first.wait_logged, None), *_times(first.jct_logged, None))
    times = [logged, *((fit.policy, *_both(fit)) for fit in calibration.fits)]
    note = (
        "Columns: share of jobs that start within a minute of the log; mean absolute difference of starts; 10th, 50th "
        "and 90th percentile of simulated less logged start (negative: sooner); mean absolute difference of completion "
        f"times. Closest to the log: {calibration.closest}. A wait ends at the first start, because logs record no "
        "later ones; time pending after preemptions is in the first table."
    )
    return [
        Table("Calibration: wait and completion time, and their change to the log", TIMES, times),
        Table("Calibration: job by job, simulated less logged", JOBS, [_apart(fit) for fit in calibration.fits], note),
    ]


def _both(fit: Fit) -> tuple[str, ...]:
    return (*_times(fit.wait, fit.wait_logged), *_times(fit.jct, fit.jct_logged))


def _apart(fit: Fit) -> tuple[str, ...]:
    later = (_signed_duration(later_s) for later_s in (fit.later_p10_s, fit.later_p50_s, fit.later_p90_s))
    within, apart = percent(fit.reproduced_ratio), duration(fit.apart_mean_s)
    return (fit.policy, within, apart, *later, duration(fit.jct_apart_mean_s))


def _times(times: Times, logged: Times | None) -> tuple[str, ...]:
    """``2.1 h (-4.0 %)``."""
    values = (times.mean, times.p50, times.p90)
    if logged is None:
        return tuple(map(duration, values))
    return tuple(map(_render_change, values, (logged.mean, logged.p50, logged.p90)))


def _render_change(value: float | None, logged: float | None) -> str:
    if value is None or logged is None:
        return NOTHING
    if not logged:  # then the time itself is the change
        return duration(value)
    change = f"{value / logged:,.0f} times" if value >= 10 * logged else percent(value / logged - 1, signed=True)
    return f"{duration(value)} ({change})"


def _signed_duration(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    sign = "+" if seconds > 0 else "-" if seconds < 0 else ""
    return f"{sign}{duration(abs(seconds))}"
