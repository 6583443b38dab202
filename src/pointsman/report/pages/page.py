"""The report as one HTML file that needs nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pointsman.engine.rate_models.registry import parse_rate_model
from pointsman.inputs.messages import counted
from pointsman.report.comparison import Comparison
from pointsman.report.figures.catalogue import draw_all, workload_name
from pointsman.report.figures.drawing import Drawing
from pointsman.report.figures.price import draw_price
from pointsman.report.metrics.draws import drawn_with, workload_seeds
from pointsman.report.metrics.groups import Group, run_name, simulated
from pointsman.report.metrics.sections.registered import facts_of_factors
from pointsman.report.metrics.shared import model_of_run
from pointsman.report.pages.advice import Advice, fit_section
from pointsman.report.pages.filling import render
from pointsman.report.pages.lead import featured, happened, lead, losers, price_of, who_pays
from pointsman.report.tables.calibration import calibration_tables
from pointsman.report.tables.equal_columns import figures_first, laid_out
from pointsman.report.tables.gpu_time import gpu_time_table, locality_table, sharing_table
from pointsman.report.tables.losers import change_tables, worst_jobs
from pointsman.report.tables.price import price_table
from pointsman.report.tables.settings import overheads_of, setting
from pointsman.report.tables.tables import (
    Table,
    left_over,
    summary_table,
)
from pointsman.report.tables.waiting import longest_waits, waiting_tables
from pointsman.report.units import count, digits, duration


@dataclass(frozen=True)
class Page:
    """The page, and its figures apart."""

    html: str
    drawings: list[Drawing]


def make_page(
    groups: list[Group],
    *,
    comparison: Comparison | None = None,
    command: str | None = None,
    runs: bool = True,
    savings: Table | None = None,
    advice: Advice | None = None,
) -> Page:
    """Draws the figures and fills the page of one run, or of a comparison, beside which its `runs` stand or not;
    `savings` is what a search for the least clusters found; `advice` is what follows from the comparison.
    """
    drawings, policies = [*draw_all(groups), *_of_price(comparison)], simulated(groups)
    measured = None if comparison is None else comparison.calibration
    known = [] if comparison is None else comparison.changes
    paid = [] if comparison is None else who_pays(comparison, policies)
    base = policies[0].label if comparison is None else comparison.baseline.policy
    worst = [worst_jobs(policies, runs=runs)] if len(policies) > 1 else []
    price = None if comparison is None else comparison.price
    said = lead(policies) + happened(groups) + losers(paid) + price_of(price, policies)
    html = render(
        "report",
        drawings,
        title=title(policies),
        lead=said if advice is None else advice.lead,
        facts=facts(policies),
        assumptions=assumptions(groups),
        headline=summary_table(groups[0].first.summary) if comparison is None else figures_first(laid_out(comparison)),
        details=[make(groups) for make in (gpu_time_table, sharing_table, locality_table) if make(groups).rows],
        calibration=calibration_tables(measured) if measured else [],
        explanations=measured.explanations if measured else (),
        losers=[*change_tables(paid, base, known), *(table for table in worst if table.rows)],
        price=None if price is None else replace(price_table(price), note=""),  # which is under the picture
        savings=savings,
        fit=None if advice is None else fit_section(advice),
        waiting=waiting(groups),
        command=command,
        timeline=_timeline(policies, is_compared=comparison is not None) if runs else None,
    )
    return Page(html, drawings)


def _of_price(comparison: Comparison | None) -> list[Drawing]:
    if comparison is None or comparison.price is None:
        return []
    return [draw_price(comparison.price, comparison.groups)]


def _timeline(policies: list[Group], *, is_compared: bool) -> str | None:
    """The command, in the directory of the page, that draws the timeline of a run beside it that kept its events: of a
    comparison, under the policy that the lead names.
    """
    group = featured(policies) or policies[0]
    if group.first.result.events is None:
        return None
    place = f"runs/{run_name(group, group.first)}" if is_compared else "."
    return f"pointsman report {place} --timeline run.json.gz"


def waiting(groups: list[Group]) -> list[Table]:
    """Tables of who waits."""
    tables = waiting_tables(groups)
    anyone = len(groups) == 1 and (groups[0].counted["pending_s"] > 0).any()
    return [*tables, longest_waits(groups[0])] if anyone else tables


def title(groups: list[Group]) -> str:
    """What was run, in a few words."""
    info = groups[0].first.result.info
    policies = groups[0].label if len(groups) == 1 else f"{len(groups)} policies"
    return f"{policies} on {workload_name(info)}"


def facts(groups: list[Group]) -> list[tuple[str, str]]:
    """What was run, term by term."""
    run = groups[0].first
    info, summary = run.result.info, run.summary
    return [
        ("Workload", _workload(info)),
        ("Log", _quality(info.get("quality") or {})),
        ("Cluster", f"{info['cluster']}: {counted(info['nodes'], 'node')}, {counted(run.gpus, 'GPU')}"),
        (
            "Load",
            "all at once"
            if summary["load"] is None
            else f"{digits(summary['load'])}, GPU-time requested over GPU-time offered while jobs are submitted",
        ),
        ("Counted", _describe_window(groups)),
        _seeds(groups),
        ("Policies" if len(groups) > 1 else "Policy", "; ".join(map(_policy, groups))),
        ("Placement", _each(groups, "placement")),
        ("Overheads", overheads_of(groups)),
        ("Models", _alike(groups, _models)),
        ("Network", _alike(groups, _network)),
        ("Speed", _alike(groups, _speed)),
        *_factors(groups),
    ]


def _models(info: dict[str, Any]) -> str:
    seed = info.get("assign_models")
    return "as the log names them" if seed is None else f"given to jobs without one, by seed {seed}"


def _network(info: dict[str, Any]) -> str:
    congestion = info.get("congestion") or {}
    beyond = {"network": "every level beyond the node"}
    slowed = [f"the bandwidth of {beyond.get(at, at)} divided by {factor:g}" for at, factor in congestion.items()]
    contention = info.get("contention") or "none"
    shared = "links are not shared" if contention == "none" else f"links are shared ({contention})"
    return "; ".join([*slowed, "a law of its own" if model_of_run(info).instead_of_congestion else shared])


def _speed(info: dict[str, Any]) -> str:
    model = str(info.get("rate_model") or "rates")
    return parse_rate_model(model).described(model)


def _factors(groups: list[Group]) -> list[tuple[str, str]]:
    titles = [title for title, _ in facts_of_factors(groups[0].first.result.info)]
    return [(title, _alike(groups, lambda info, title=title: dict(facts_of_factors(info))[title])) for title in titles]


def _alike(groups: list[Group], said_of: Callable[[dict[str, Any]], str]) -> str:
    """What is said of all runs, or of each."""
    said = [said_of(group.first.result.info) for group in groups]
    if len(set(said)) == 1:
        return said[0]
    return "; ".join(f"{group.label}: {words}" for group, words in zip(groups, said, strict=True))


def _seeds(groups: list[Group]) -> tuple[str, str]:
    """Seeds of the runs, and of the workloads where there are several."""
    runs = [run for group in groups for run in group.runs]
    seeds = sorted({run.seed for run in runs})
    listed = ", ".join(map(str, seeds))
    if drawn := workload_seeds(runs):
        with_seeds = f"jobs drawn with workload seed {', '.join(map(str, drawn))}"
        return "Workloads and seeds", f"{drawn_with(runs)}: {with_seeds}; runs with seed {listed}"
    alike = len(seeds) > 1 and not any(group.depends_on_seed for group in groups)
    told = "; nothing depends on it, so one run of each policy counts" if alike else ""
    return "Seeds" if len(seeds) > 1 else "Seed", listed + told


def _workload(info: dict[str, Any]) -> str:
    """The log, and where its jobs came from if it was converted or generated."""
    told, workload = [], info.get("workload") or {}
    while workload:
        told.append(_log(workload))
        workload = workload.get("origin") or {}
    return "; its jobs: ".join(told) or workload_name(info)


def _log(workload: dict[str, Any]) -> str:
    digest = str(workload.get("sha256") or "")[:12]
    name, form = workload_name({"workload": workload}), str(workload.get("format") or "unknown")
    made = str(workload.get("command") or "") if form == "generated" else ""
    parts = [name, "" if form in name else f"format {form}", f"sha256 {digest}…" if digest else "", made]
    return ", ".join(filter(None, parts))


def _quality(quality: dict[str, Any]) -> str:
    parts = [
        f"{count(quality[key])} {said}"
        for key, said in (("rows_read", "rows read"), ("kept", "kept"))
        if key in quality
    ]
    parts += [f"{count(number)} merged: {what}" for what, number in (quality.get("merged") or {}).items()]
    parts += [f"{count(number)} dropped: {reason}" for reason, number in (quality.get("dropped") or {}).items()]
    parts += [f"{count(number)} changed: {what}" for what, number in (quality.get("clamped") or {}).items()]
    return "; ".join([*parts, *(quality.get("notes") or ())]) or "its quality is unknown"


def _describe_window(groups: list[Group]) -> str:
    summary, window = groups[0].first.summary, groups[0].first.summary["window"]
    submitted = summary["jobs_counted"] + summary["jobs_censored"]
    said = f"{count(submitted)} of {count(summary['jobs'])} jobs: those submitted {duration(window['from_s'])} to "
    said += f"{duration(window['to_s'])} after the first"
    said += f".{left}" if (left := left_over(groups)) else ", all of which ran to their end."
    outside = summary["jobs"] - submitted
    return said + (f" The other {count(outside)} also run, because they add to the queue." if outside else "")


def _policy(group: Group) -> str:
    params = _settings(group.first.result.info.get("params") or {})
    return f"{group.label} ({params})" if params else group.label


def _settings(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {_number(value)}" for name, value in values.items())


def _number(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_number, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _each(groups: list[Group], name: str) -> str:
    said = list(dict.fromkeys(setting(group.first.result.info.get(name)) for group in groups))
    return said[0] if len(said) == 1 else "; ".join(
        f"{group.label}: {setting(group.first.result.info.get(name))}" for group in groups
    )  # fmt: skip


def assumptions(groups: list[Group]) -> list[str]:
    """Every assumption of any of the runs, once; with those that it is about, if not about all policies."""
    by_text: dict[str, list[str]] = {}
    for group in sorted(groups, key=lambda group: group.is_logged):
        for told in group.first.result.info.get("assumptions") or ():
            by_text.setdefault(told, []).append(group.label)
    policies = [group.label for group in simulated(groups)]
    return [told if {*policies} <= {*of} else f"{told} ({', '.join(of)})" for told, of in by_text.items()]
