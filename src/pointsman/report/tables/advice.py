"""Tables of what a policy would change beside how far the model is from the log, and of how well the model fits."""

from collections.abc import Sequence

from pointsman.report.metrics.calibration.fits import Times
from pointsman.report.metrics.calibration.verdict import Check, Part, Verdict
from pointsman.report.metrics.comparison_rows import Compared, Row
from pointsman.report.metrics.paired.differences import Difference
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, count, duration, percent

FIGURES = {
    "jct_mean_s": "mean JCT",
    "jct_p50_s": "median JCT",
    "jct_p90_s": "90 % JCT",
    "pending_mean_s": "mean pending",
    "pending_p90_s": "90 % pending",
    "pending_p99_s": "99 % pending",
    "pending_max_s": "longest pending",
}
"""What a policy is judged by."""
MOST_PARTS = 12


def reading(change: Difference, error_s: float | None) -> str:
    """What a change may be called: nothing that may be chance, or is smaller than the error of the model."""
    if change.value is None or error_s is None:
        return NOTHING
    if not change.value:
        return "no change"
    if change.may_be_chance:
        return "may be chance"
    if abs(change.value) <= error_s:
        return "within error"
    return "gain" if change.value < 0 else "loss"


def error_s(comparison: Compared, metric: str) -> float | None:
    """How far the model of the present scheduler, the baseline, is from the log in a metric."""
    off = comparison.rows[0].differences[metric].value
    return None if off is None else abs(off)


def advice_table(comparison: Compared, policy: str) -> Table:
    """One row a figure: under the model of the present scheduler, under a policy, and as logged."""
    (row,) = (each for each in comparison.rows if each.policy == policy)
    columns = ("figure", "present", policy, "change", "reading", "model's error", "95 % CI", "as logged")
    rows = [(said, *_figure(comparison, row, metric)) for metric, said in FIGURES.items()]
    return Table("", columns, rows, left=("reading",))


def _figure(comparison: Compared, row: Row, metric: str) -> tuple[str, ...]:
    change, error = row.differences[metric], error_s(comparison, metric)
    low, high = (percent(end, signed=True) for end in change.ratio_interval or (None, None))
    return (
        duration(comparison.baseline.values[metric]),
        duration(row.values[metric]),
        percent(change.ratio, signed=True),
        reading(change, error),
        duration(error),
        f"{low.removesuffix(' %')} to {high}" if change.ratio_interval else NOTHING,
        duration(comparison.rows[0].values[metric]),
    )


def fit_table(verdict: Verdict) -> Table:
    """One row a check: what was measured, its limit, and whether it is within."""
    rows = [(check.name, *check_cells(check), "yes" if check.passes else "no") for check in verdict.checks]
    return Table("", ("of the fit", "difference", "limit", "within"), rows, _fit_note(verdict), left=("within",))


def check_cells(check: Check) -> tuple[str, str]:
    """The value of a check, and its limit."""
    if check.is_least:
        return (NOTHING if check.value is None else f"{check.value:.2f}"), f"{check.limit:g} or more"
    signed = not check.parts
    return percent(check.value, signed=signed), f"{'±' if signed else ''}{100 * check.limit:g} %"


def _fit_note(verdict: Verdict) -> str:
    wait = verdict.wait
    return (
        f"{count(verdict.jobs)} jobs, of which {count(verdict.waiting)} waited for more than a minute in the log. Mean "
        f"wait {duration(wait.logged.mean)} in the log and {duration(wait.simulated.mean)} simulated; 90 % wait "
        f"{duration(wait.logged.p90)} and {duration(wait.simulated.p90)}. Differences are shares of the log's mean "
        "wait, or of its 90 % wait if that is longer; those by parts of the jobs are means over the jobs."
    )


def part_tables(checks: Sequence[Check]) -> list[Table]:
    """Logged and simulated waits of each part of the jobs, of the checks that have parts."""
    figures = (f"{figure}, {of}" for figure in ("mean", "median", "90 %") for of in ("logged", "simulated"))
    columns = ("jobs of", "jobs", *figures)
    found = []
    for check in checks:
        if len(check.parts) > 1:
            parts = sorted(check.parts, key=lambda part: -part.jobs)[:MOST_PARTS]
            rows = [_part(part) for part in check.parts if part in parts]
            found.append(Table(check.name.capitalize().replace("gpus", "GPUs"), columns, rows))
    return found


def _part(part: Part) -> tuple[str, ...]:
    both = zip(_times(part.logged), _times(part.simulated), strict=True)
    return (part.name, count(part.jobs), *(duration(each) for pair in both for each in pair))


def _times(times: Times) -> tuple[float | None, ...]:
    return times.mean, times.p50, times.p90
