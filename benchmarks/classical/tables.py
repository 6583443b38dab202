"""The tables of the page, as Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.classical.cases import Case
from benchmarks.classical.runs import (
    ASSIGNMENTS,
    PREEMPTIVE,
    Workloads,
    all_entries,
    change,
    mean_jct_s,
    measured,
    policies,
    with_models,
)
from pointsman.report.metrics.confidence import Interval
from pointsman.report.metrics.groups import Group
from pointsman.report.units import NOTHING, count, digits, duration, percent
from pointsman.workload import Workload
from pointsman.workload.generator.profile import DAY_S

TYPICAL = [str(seed) for mix, seed in ASSIGNMENTS if mix == "typical"]


UNVERIFIED = ("easy", "las")
"""No published figure has been reproduced with these; `benchmarks.classical.published` has those that were."""


@dataclass(frozen=True)
class Measured:
    """One workload at one load: the runs of every entry, the baseline first, and what the other tables need."""

    case: Case
    load: float
    workloads: Workloads
    groups: list[Group]

    @classmethod
    def of(cls, case: Case, load: float) -> "Measured":
        """Run every entry."""
        workloads = case.workloads(load)
        return cls(case, load, workloads, measured(case, workloads, all_entries()))

    def textbook(self) -> dict[str, Group]:
        """Every policy with the knowledge it wants, by name."""
        named: dict[str, Group] = {}
        for group in self.groups:
            named.setdefault(group.first.summary["policy"], group)
        return named


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table whose first `words` columns hold words, the others figures."""
    rule = "|" + "".join(":--|" if i < words else "--:|" for i in range(len(columns)))
    head, *body = (f"| {' | '.join(cells)} |" for cells in (columns, *rows))
    return "\n".join([head, rule, *body]) + "\n"


WORKLOADS = ("workload", "what it is", "cluster", "GPUs", "jobs a run", "widest gang", "runs", "submits span, days")


def workload_row(found: Sequence[Measured]) -> tuple[str, ...]:
    """What was run, at all loads."""
    case, workloads = found[0].case, found[0].workloads
    widest, jobs = max(int(work.jobs["gpus"].max()) for work in workloads.values()), workloads[0].jobs.height  # ty: ignore
    spans = ", ".join(f"{_span_days(one.workloads[0]):.1f} at {one.load:g}" for one in found)
    runs = f"{len(case.seeds)} seeds" if len(case.seeds) > 1 else "the log"
    name, gpus = f"`{case.cluster.name}`", count(case.cluster.gpus)
    return case.name, case.told, name, gpus, count(jobs), count(widest), runs, spans


def _span_days(workload: Workload) -> float:
    return float(workload.jobs["submit_s"][-1] - workload.jobs["submit_s"][0]) / DAY_S


def overview_columns(one: Measured) -> dict[str, list[str]]:
    """Mean JCT of the baseline at one load, and how all policies change it."""
    base = one.groups[0]
    changes = [percent(change(group, base)[0], signed=True) for group in one.groups[1:]]
    return {
        "policy": [_marked(group) for group in one.groups],
        "knows": [group.knowledge for group in one.groups],
        f"{one.case.name} at {one.load:g}": [duration(base.mean("jct_mean_s")), *changes],
    }


DETAIL = (
    "policy", "knows", "counted / censored", "mean JCT", "to fifo", "95 % CI", "p99 JCT", "mean wait", "above bound",
    "allocated", "preemptions a job", "ρ max",
)  # fmt: skip


def detail_tables(found: Sequence[Measured]) -> str:
    """Every figure of one workload, a table a load."""
    tables = [
        f"**Load {one.load:g}**\n\n"
        + markdown(DETAIL, [_detail_row(group, one.groups[0]) for group in one.groups], words=2)
        for one in found
    ]
    return "\n".join(tables)


def _detail_row(group: Group, base: Group) -> tuple[str, ...]:
    (ratio, interval), mean = change(group, base), group.mean
    counted, censored = (sum(run.summary[f"jobs_{name}"] for run in group.runs) for name in ("counted", "censored"))
    preemptions, worst = _preemptions_a_job(group), mean("fairness_rho_max")
    return (
        _marked(group),
        group.knowledge,
        f"{count(counted)} / {count(censored)}",
        duration(mean("jct_mean_s")),
        NOTHING if group is base else percent(ratio, signed=True),
        _interval(interval),
        duration(mean("jct_p99_s")),
        duration(mean("wait_mean_s")),
        percent(mean("jct_above_bound_ratio")),
        percent(mean("window_allocated_ratio")),
        digits(preemptions),
        NOTHING if worst is None else digits(worst),
    )


def _marked(group: Group) -> str:
    name = group.first.summary["policy"]
    return f"{name} (unverified)" if name in UNVERIFIED else name


def _preemptions_a_job(group: Group) -> float:
    return sum(run.summary["preemptions"] for run in group.runs) / sum(run.summary["jobs"] for run in group.runs)


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return NOTHING
    low, high = (percent(end, signed=True) for end in interval)
    return f"{low.removesuffix(' %')} to {high}"


MODELS = (
    "load", "policy", "no models", *(f"typical, {seed}" for seed in TYPICAL), "insensitive",
    "to fifo: no models", "typical", "insensitive",
)  # fmt: skip


def models_table(found: Sequence[Measured]) -> str:
    """Mean JCT of one workload with and without models; changes to the baseline under the same models."""
    return markdown(MODELS, [row for one in found for row in _models_rows(one)], words=2)


def _models_rows(one: Measured) -> list[tuple[str, ...]]:
    plain = {name: float(group.mean("jct_mean_s") or 0.0) for name, group in one.textbook().items()}
    assigned = [with_models(one.workloads, mix, seed) for mix, seed in ASSIGNMENTS]
    columns = [plain, *({name: mean_jct_s(one.case, work, name) for name in policies()} for work in assigned)]
    base = policies()[0]
    return [_models_row(one.load, name, [(column[name], column[base]) for column in columns]) for name in plain]


def _models_row(load: float, name: str, cells: list[tuple[float, float]]) -> tuple[str, ...]:
    without, *typical, insensitive = [mean / base - 1 for mean, base in cells]
    said = (percent(change, signed=True) for change in (without, insensitive))
    first, last = ("", "") if name == policies()[0] else said
    span = "" if name == policies()[0] else _interval((min(typical), max(typical)))
    return f"{load:g}", name, *(duration(mean) for mean, _ in cells), first, span, last


PLACEMENTS = (
    "workload", "policy", "no models: consolidated", "spread", "change", "typical models: consolidated", "spread",
    "change",
)  # fmt: skip
PLACED = ("fifo", "fifo-backfill", "easy", "las")


def placement_rows(one: Measured) -> list[tuple[str, ...]]:
    """What packing gangs onto few nodes costs, with jobs that feel where they run and without."""
    return [(f"{one.case.name} at {one.load:g}", name, *_placement_cells(one, name)) for name in PLACED]


def _placement_cells(one: Measured, policy: str) -> list[str]:
    cells: list[str] = []
    for workloads in (one.workloads, with_models(one.workloads, *ASSIGNMENTS[0])):
        close, apart = (mean_jct_s(one.case, workloads, policy, placed) for placed in ("consolidated", "spread"))
        cells += [duration(close), duration(apart), percent(apart / close - 1, signed=True)]
    return cells


OVERHEADS = (
    "load", "policy", "mean JCT, free", "realistic", "dearer by", "95 % CI", "to fifo, free", "realistic",
    "preemptions a job, free", "realistic",
)  # fmt: skip


def overheads_table(found: Sequence[Measured]) -> str:
    """What the preemptive policies are when starting, stopping and restoring take time."""
    return markdown(OVERHEADS, [row for one in found for row in _overheads_rows(one)], words=2)


def _overheads_rows(one: Measured) -> list[tuple[str, ...]]:
    free, names = one.textbook(), [policies()[0], *PREEMPTIVE]
    dear = measured(one.case, one.workloads, [(name, None) for name in names], overheads="realistic")
    return [
        _overheads_row(one.load, (free[name], group), (free[names[0]], dear[0]))
        for name, group in zip(names, dear, strict=True)
    ]


def _overheads_row(load: float, groups: tuple[Group, Group], bases: tuple[Group, Group]) -> tuple[str, ...]:
    dearer, interval = change(groups[1], groups[0])
    changes = [change(group, base)[0] for group, base in zip(groups, bases, strict=True)]
    return (
        f"{load:g}",
        groups[0].first.summary["policy"],
        *(duration(group.mean("jct_mean_s")) for group in groups),
        percent(dearer, signed=True),
        _interval(interval),
        *("" if groups == bases else percent(ratio, signed=True) for ratio in changes),
        *(digits(_preemptions_a_job(group)) for group in groups),
    )
