"""Tables as people read them, for a terminal and for a page alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pointsman.engine.rate_models.factors.gpu_sharing import GpuSharing
from pointsman.engine.rate_models.registry import options_of_factors
from pointsman.report.metrics.comparison_rows import Compared, Row
from pointsman.report.metrics.draws import workload_seeds
from pointsman.report.metrics.groups import SETTINGS, Group, simulated
from pointsman.report.metrics.paired.differences import Difference
from pointsman.report.metrics.sections.registered import section_lines
from pointsman.report.metrics.shared import unlike_sharing
from pointsman.report.tables import markup
from pointsman.report.tables.oversized import oversized
from pointsman.report.tables.settings import overheads_name, overheads_of
from pointsman.report.units import NOTHING, count, digits, duration, number_of_jobs, percent

if TYPE_CHECKING:
    from rich.table import Table as RichTable

UNFINISHED = "unfinished"
"""The column of jobs not run to their end, there if there are any."""

NETWORK = "for the network"
"""The column of the mean time that jobs wait for communication, there if any do."""


DEADLINES = "deadlines met"
"""The column of the share of deadlines met, there if jobs have any."""


@dataclass(frozen=True)
class Table:
    """Cells as text; the first column is left-aligned, and so are those in `left`."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    left: tuple[str, ...] = ()

    def is_left(self, column: str) -> bool:
        """Whether a column holds words, not figures."""
        return column == self.columns[0] or column in self.left

    def to_markdown(self) -> str:
        """With its title and note as paragraphs."""
        table = markup.markdown(self.columns, self.rows, [column for column in self.columns if self.is_left(column)])
        return "\n".join(f"{part}\n" for part in (self.title, table.rstrip("\n"), self.note) if part)

    def to_latex(self) -> str:
        r"""A ``tabular`` with the rules of booktabs (``\usepackage{booktabs}``); its title and note as comments."""
        table = markup.latex(self.columns, self.rows, [column for column in self.columns if self.is_left(column)])
        comments = [f"% {line}\n" for part in (self.title, self.note) for line in part.splitlines()]
        return "".join(comments) + table

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [(tag, cells) for tag, some in (("th", [self.columns]), ("td", self.rows)) for cells in some]
        body = "".join(f"<tr>{''.join(map(self._cell, repeat(tag), self.columns, cells))}</tr>" for tag, cells in rows)
        paragraphs = (f"<p>{escape(part)}</p>" if part else "" for part in (self.title, self.note))
        return f"<table>{body}</table>".join(paragraphs)

    def _cell(self, tag: str, column: str, cell: str) -> str:
        side = "left" if self.is_left(column) else "right"
        return f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'

    def to_rich(self) -> "RichTable":
        """For a terminal."""
        from rich import box
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
        table.caption = self.note or None
        for column in self.columns:
            table.add_column(column, justify="left" if self.is_left(column) else "right")
        for row in self.rows:
            table.add_row(*row)
        return table


def summary_table(summary: dict[str, Any]) -> Table:
    """The headline figures of one run."""
    window, fragments = summary["window"], summary["fragmentation"] or {}
    bound, above = duration(summary["jct_lower_bound_s"]), percent(summary["jct_above_bound_ratio"])
    lines = [
        ("jobs counted", f"{count(summary['jobs_counted'])} of {count(summary['jobs'])}"),
        ("not run to the end", count(summary["jobs_censored"])),
        ("window of submits", f"{duration(window['from_s'])} to {duration(window['to_s'])}"),
        ("load", digits(summary["load"]) if summary["load"] is not None else NOTHING),
        ("job completion time, mean", duration(summary["jct_mean_s"])),
        ("… median, 95 %, 99 %", _three(summary, "jct")),
        ("… above the lower bound", f"{above} (bound {bound})"),
        ("pending, mean", f"{duration(summary['pending_mean_s'])} (also after preemptions)"),
        ("… median, 95 %, 99 %", _three(summary, "pending")),
        ("… longest", duration(summary["pending_max_s"])),
        ("… of it until the first start, mean", duration(summary["wait_mean_s"])),
        ("waiting for the network, mean", _network(summary)),
        *_deadlines(summary),
        ("makespan", f"{duration(summary['makespan_s'])} (at least {duration(summary['makespan_lower_bound_s'])})"),
        ("GPU time allocated", percent(summary["gpu_allocated_ratio"])),
        ("… while jobs are submitted", percent(summary["window_allocated_ratio"])),
        ("GPU time productive", percent(summary["gpu_productive_ratio"])),
        *section_lines(summary),
        ("idle GPUs lost to fragmentation", percent(summary["fragmentation_ratio"])),
        ("… share of time with such GPUs", percent(fragments.get("blocked_time_ratio"))),
        ("overheads", overheads_name(summary["overheads"])),
        ("preemptions", _preemptions(summary)),
        *([("changes of GPUs while running", count(summary["resizes"]))] if summary["resizes"] else []),
        ("work lost", f"{_digits(summary['lost_gpu_hours'])} GPU-hours"),
        ("finish-time fairness ρ, median, 99 %, worst", _rho(summary)),
        ("… later than with a fair share", percent(summary["fairness_rho_above_1_ratio"])),
        ("decisions", f"{count(summary['decisions'])} in {duration(summary['engine_s'])} of computing"),
    ]
    return Table(f"{summary['policy']} [{told_apart(summary)}]", ("figure", "value"), lines)


def _digits(value: float | None) -> str:
    return NOTHING if value is None else digits(value)


def _network(summary: dict[str, Any]) -> str:
    """``3 min, 12 % of running``."""
    if summary["comm_mean_s"] is None:
        return NOTHING
    if not summary["comm_mean_s"]:
        return "none"
    return f"{duration(summary['comm_mean_s'])}, {percent(summary['comm_ratio'])} of running"


def _deadlines(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Where jobs have deadlines."""
    met = summary["deadlines_met_ratio"]
    return [] if met is None else [(DEADLINES, percent(met))]


def _preemptions(summary: dict[str, Any]) -> str:
    """``4, of 3 jobs``: preemptions, and how many jobs they were of."""
    jobs = summary["jobs_preempted"]
    if jobs is None:
        return NOTHING
    most = f"; up to {count(summary['preemptions_max'])} of one" if summary["preemptions_max"] else ""
    return f"{count(summary['preemptions'])}, of {number_of_jobs(jobs)}{most}" if jobs else "none"


def _three(summary: dict[str, Any], name: str) -> str:
    return " · ".join(duration(summary[f"{name}_p{p}_s"]) for p in (50, 95, 99))


def _rho(summary: dict[str, Any]) -> str:
    found = [summary[f"fairness_rho_{name}"] for name in ("p50", "p99", "max")]
    return " · ".join(NOTHING if value is None else digits(value) for value in found)


def told_apart(summary: dict[str, Any]) -> str:
    """What the policy knew: of durations, and of model profiles if anything."""
    profiles = summary.get("told_profiles") or "none"
    return summary["knowledge"] if profiles == "none" else f"{summary['knowledge']}, profiles {profiles}"


INFORMATION = ("durations", "profiles", "progress")
"""Columns that say what a policy knew: ``docs/reference/policies.md``."""


def comparison_table(comparison: Compared) -> Table:
    """One row a policy, its mean JCT against the baseline with the interval of the paired difference."""
    columns, rows = comparison_cells(comparison.rows)
    note = " ".join(filter(None, (comparison_note(comparison), oversized(comparison.groups))))
    return Table(f"Overheads: {overheads_of(comparison.groups)}", columns, rows, note, left=INFORMATION)


def comparison_cells(rows: Sequence[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The columns of a comparison, and a row for each policy."""
    unfinished = any(row.jobs_censored for row in rows)
    talks = any(row.values["comm_mean_s"] for row in rows)
    due = any(row.values["deadlines_met_ratio"] is not None for row in rows)
    columns = (
        "policy", *INFORMATION, *((UNFINISHED,) if unfinished else ()), "mean JCT", "to baseline", "95 % CI",
        "above bound", "99 % JCT", "mean pending", "99 % pending", *((NETWORK,) if talks else ()), "GPUs in use",
        "preemptions", "longest pending", *((DEADLINES,) if due else ()),
    )  # fmt: skip
    return columns, [_comparison_row(row, unfinished, talks, due) for row in rows]


def comparison_note(comparison: Compared) -> str:
    """What must be known of the table: the baseline, what is counted, how intervals were made."""
    counted = f"{counted_span(comparison.groups[0])}{left_over(comparison.groups)}"
    return f"Baseline: {comparison.baseline.policy}.{counted}{_methods(comparison.rows)}{_unlike(comparison.groups)}"


def counted_span(group: Group) -> str:
    """When the jobs that count were submitted, if not all do."""
    workloads = (
        {run.workload_seed: run for run in reversed(group.runs)} if workload_seeds(group.runs) else {0: group.first}
    )
    summaries = [run.summary for run in workloads.values()]
    submitted, jobs = sum(s["jobs_counted"] + s["jobs_censored"] for s in summaries), sum(s["jobs"] for s in summaries)
    if submitted == jobs:
        return ""
    window, of = group.first.window, "" if len(workloads) == 1 else f" of {len(workloads)} workloads"
    alike = len({run.window for run in workloads.values()}) == 1
    until = (
        f"between {duration(window.from_s)} and {duration(window.to_s)}"
        if alike
        else f"{duration(window.from_s)} or more"
    )
    return f" Counted are the {count(submitted)} of {count(jobs)} jobs{of} submitted {until} after the first."


def left_over(groups: Sequence[Group]) -> str:
    """Which policies have not run all jobs to their end, and what that does to the figures."""
    told = [
        f"{count(group.censored)} of {count(group.censored + group.counted.height)} jobs "
        + (f"{group.label} (the log does not say when)" if group.is_logged else f"under {group.label}")
        for group in groups
        if group.censored
    ]
    if not told:
        return ""
    changes = ", and changes are of the jobs that both completed" if len(groups) > 1 else ""
    return f" Not run to their end: {', '.join(told)}; times leave these out{changes}."


def _methods(rows: Sequence[Row]) -> str:
    """How the intervals were made, and of which policies if not all alike."""
    by_method: dict[str, list[str]] = {}
    for row in rows:
        by_method.setdefault(row.differences["jct_mean_s"].method, []).append(row.policy)
    for none in ("", "baseline"):
        by_method.pop(none, None)
    if len(by_method) == 1:
        return f" Intervals: {next(iter(by_method))}."
    return "".join(f" Intervals of {', '.join(of)}: {method}." for method, of in by_method.items())


ASSUMED = (
    *("assign_models", "congestion", "contention", "rate_model", "overheads"),
    *(name for name in options_of_factors() if name not in GpuSharing.options),
)
"""Settings that should be alike where policies are compared."""


def _unlike(groups: Sequence[Group]) -> str:
    """A warning, where not only the policies differ."""
    results = [group.first.result for group in simulated(groups)]
    differ = [name for name in ASSUMED if len({repr(SETTINGS[name](result)) for result in results}) > 1]
    words = ", ".join([name.replace("_", " ") for name in differ] + unlike_sharing([result.info for result in results]))
    return f" Caution: these did not run under the same assumptions ({words})." if words else ""


def _comparison_row(row: Row, unfinished: bool, talks: bool, due: bool) -> tuple[str, ...]:
    value, change = row.values, row.differences["jct_mean_s"]
    return (
        row.policy,
        row.knowledge,
        row.profiles,
        row.progress,
        *((count(row.jobs_censored),) if unfinished else ()),
        duration(value["jct_mean_s"]),
        "baseline" if change.method == "baseline" else percent(change.ratio, signed=True),
        _interval(change),
        percent(value["jct_above_bound_ratio"]),
        *(duration(value[metric]) for metric in ("jct_p99_s", "pending_mean_s", "pending_p99_s")),
        *((duration(value["comm_mean_s"]),) if talks else ()),
        percent(value["window_allocated_ratio"] or value["gpu_allocated_ratio"]),
        count(value["preemptions"]),
        duration(value["pending_max_s"]),
        *((percent(value["deadlines_met_ratio"]),) if due else ()),
    )


def _interval(change: Difference) -> str:
    if change.ratio_interval is None:
        return NOTHING
    low, high = (percent(end, signed=True) for end in change.ratio_interval)
    return f"{low.removesuffix(' %')} to {high}"
