"""The table of how far policies are from what really happened."""

from pointsman.report.metrics.calibration.fits import Calibration, Fit, Times
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, duration, percent

COLUMNS = (
    "policy", "mean wait", "median", "90 %", "mean JCT", "median JCT", "90 % JCT", "starts apart by",
    "10 % / 50 % / 90 % start", "within 1 min",
)  # fmt: skip


def calibration_table(calibration: Calibration) -> Table:
    """The log first, then one row a policy, with its change to the log."""
    first = calibration.fits[0]
    logged = (calibration.logged, *_times(first.wait_logged, None), *_times(first.jct_logged, None), *[NOTHING] * 3)
    note = (
        "In brackets: the change to the log. Starts apart by: mean distance of the simulated from the logged start. "
        "Last columns: how much later (+) or sooner (-) than logged a tenth, half and nine tenths of the jobs start at "
        f"most, and the share that starts within a minute of the log. Closest: {calibration.closest}."
    )
    return Table("Calibration", COLUMNS, [logged, *map(_row, calibration.fits)], note)


def _row(fit: Fit) -> tuple[str, ...]:
    return (
        fit.policy,
        *_times(fit.wait, fit.wait_logged),
        *_times(fit.jct, fit.jct_logged),
        duration(fit.apart_mean_s),
        " / ".join(_signed(later_s) for later_s in (fit.later_p10_s, fit.later_p50_s, fit.later_p90_s)),
        percent(fit.reproduced_ratio),
    )


def _times(times: Times, logged: Times | None) -> tuple[str, ...]:
    """``2.1 h (-4.0 %)``."""
    values = (times.mean, times.p50, times.p90)
    if logged is None:
        return tuple(map(duration, values))
    return tuple(map(_changed, values, (logged.mean, logged.p50, logged.p90)))


def _changed(value: float | None, logged: float | None) -> str:
    if value is None or logged is None:
        return NOTHING
    change = percent(value / logged - 1, signed=True) if logged else _signed(value)
    return f"{duration(value)} ({change})"


def _signed(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    sign = "+" if seconds > 0 else "-" if seconds < 0 else ""
    return f"{sign}{duration(abs(seconds))}"
