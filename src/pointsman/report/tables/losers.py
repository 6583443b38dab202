"""Tables of who gains and who loses, and of the jobs that wait longest or are preempted most."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

import polars as pl

from pointsman.report.metrics.groups import Group, Run, run_name
from pointsman.report.metrics.holdings import parts_held
from pointsman.report.metrics.paired.changes import WORTH_NAMING, Change, largest_loss
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, count, digits, duration, percent

MOST_ROWS = 6
"""The most rows of groups that lose, and of groups that gain; ``changes.csv`` has all."""


def change_tables(found: Sequence[Change], baseline: str, of_all: Sequence[Change] = ()) -> list[Table]:
    """Who loses most under a policy, and who gains most, of the changes that are not by chance. Widths of few jobs are
    there too: that wide gangs are few is no reason to hide what becomes of them. Of the other policies in
    `of_all`, who loses most under each is said in a sentence.
    """
    losses = [one for one in found if one.loses or _few(one, 1)]
    gains = [one for one in reversed(found) if one.gains or _few(one, -1)]
    tested = [one for one in found if one.jct_interval]
    tables = []
    for title, ones in (("Who loses", losses), ("Who gains", gains)):
        if ones:
            note = f"By the time that all jobs of a group {'lose' if ones is losses else 'gain'} together."
            note += f" These are {MOST_ROWS} of {len(ones)} groups." * (len(ones) > MOST_ROWS)
            note += MANY.format(len(tested), -(-len(tested) // 40))
            note += FEW if any(one.jct_interval is None for one in ones[:MOST_ROWS]) else ""
            note += _lost_under([one for one in of_all if one.policy != ones[0].policy]) if ones is losses else ""
            rows = [changed(one) for one in ones[:MOST_ROWS]]
            tables.append(Table(f"{title} under {ones[0].policy}: {baseline} → {ones[0].policy}", CHANGED, rows, note))
    return tables


def _lost_under(others: Sequence[Change]) -> str:
    """The largest group that loses under each policy, as a sentence after others."""
    policies = dict.fromkeys(one.policy for one in others)
    found = [largest_loss([one for one in others if one.policy == policy]) for policy in policies]
    said = [
        f"{one.policy}: {group_name(one)} ({percent(one.jct_ratio, signed=True)})" for one in found if one is not None
    ]
    return f" The largest group that loses under {'; under '.join(said)}." if said else ""


def _few(one: Change, sign: int) -> bool:
    """Whether it is a width of too few jobs for an interval, with a change of this sign that is worth naming."""
    return one.kind == "gpus" and one.jct_interval is None and sign * (one.jct_ratio or 0.0) >= WORTH_NAMING


FEW = " Rows without an interval are of fewer jobs, and may be chance."
MANY = (
    " Of {} groups of 20 jobs or more, about {} would be here by chance alone; changes.csv has all, under each policy."
)
CHANGED = (
    "jobs of", "jobs", "GPU-hours", "mean JCT", "to baseline", "95 % CI", "95 % JCT", "mean pending", "95 % pending",
)  # fmt: skip


def changed(one: Change) -> tuple[str, ...]:
    """A row of these columns."""
    low, high = (percent(end, signed=True) for end in one.jct_interval or (None, None))
    interval = f"{low.removesuffix(' %')} to {high}" if one.jct_interval else NOTHING
    return (
        group_name(one),
        count(one.jobs),
        digits(one.gpu_hours),
        _from_to(one.jct_mean_baseline_s, one.jct_mean_s),
        percent(one.jct_ratio, signed=True),
        interval,
        _from_to(one.jct_p95_baseline_s, one.jct_p95_s),
        _from_to(one.pending_mean_baseline_s, one.pending_mean_s),
        _from_to(one.pending_p95_baseline_s, one.pending_p95_s),
    )


def _from_to(before_s: float, after_s: float) -> str:
    return f"{duration(before_s)} → {duration(after_s)}"


def group_name(one: Change) -> str:
    """``65-128 GPUs``; ``account physics``."""
    if one.kind != "gpus":
        return f"{one.kind} {one.name}"
    return f"{one.name} GPU" if one.name == "1" else f"{one.name} GPUs"


def worst_jobs(groups: Sequence[Group], *, runs: bool) -> Table:
    """Under each policy the job that was pending longest, and the one that was preempted most; of the first seed. With
    the `runs` beside the page, also how to ask why.
    """
    rows = [row for group in groups for row in _worst(group)]
    columns = ("policy", "worst", "job", "GPUs", "user", "pending", "preemptions", "JCT", "why")
    if not runs:
        rows, columns = [row[:-1] for row in rows], columns[:-1]
    note = "The commands ask why the job waited, in the middle of its longest wait; run them where this page is." * runs
    return Table("The jobs that fare worst", columns, rows, note, left=("worst", "job", "user", "why"))


def _worst(group: Group) -> list[tuple[str, ...]]:
    found = []
    for worst, column in (("longest pending", "pending_s"), ("most preempted", "preemptions")):
        most = group.first.counted.filter(pl.col(column) > 0).sort([column, "row"], descending=[True, False]).head(1)
        for job in most.to_dicts():
            found.append((
                group.label, worst, str(job["job_id"]), count(job["gpus"]), str(job["user"] or NOTHING),
                duration(job["pending_s"]), count(job["preemptions"]), duration(job["jct_s"]),
                NOTHING if group.is_logged else _why(group, job),
            ))  # fmt: skip
    return found


def _why(group: Group, job: Mapping[str, Any]) -> str:
    """The command that asks why the job waited."""
    where = f"runs/{run_name(group, group.first)} --at {_in_longest_wait(group.first, job)}"
    return f"pointsman explain {quote(str(job['job_id']))} --run {where}"


def _in_longest_wait(run: Run, job: Mapping[str, Any]) -> str:
    """A time in the longest wait of a job, as ``--at`` takes it, with no more digits than that needs."""
    submit_s = job["submit_s"] - float(run.result.jobs["submit_s"][0])
    holdings = [(submit_s + job["wait_s"], submit_s + job["jct_s"])]
    if run.result.events is not None:
        held = parts_held(run.result, run.result.events.filter(pl.col("row") == job["row"]))
        holdings = sorted(set(held.select("from_s", "to_s").iter_rows()))
    ends = [submit_s, *(end for _, end in holdings)]
    begin_s, end_s = max(zip(ends, (begin for begin, _ in holdings), strict=False), key=lambda gap: gap[1] - gap[0])
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        at = round((begin_s + end_s) / 2 / size, 1)
        if abs(at * size - (begin_s + end_s) / 2) <= (end_s - begin_s) / 4:
            return f"+{at:g}{unit}"
    return f"+{(begin_s + end_s) / 2:g}"
