"""What was found, in tables."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from pointsman.inputs.durations import NOTHING, duration
from pointsman.live.report.findings import (
    Agreement,
    Decision,
    Findings,
    Foretold,
    by_account,
    by_bucket,
    by_day,
    by_hour,
    by_partition,
    median_error_s,
)
from pointsman.live.report.words import moment
from pointsman.report.metrics.counted import BUCKETS
from pointsman.report.tables.tables import Table
from pointsman.report.units import count, digits, percent

LEADS_S: Final = ((600.0, "at most 10 min"), (3600.0, "10 min to 1 h"), (6 * 3600.0, "1 h to 6 h"))
"""How far ahead a start was predicted, at most."""
LONGER: Final = "more than 6 h"


def differences_table(found: Findings, most: int, *, sentences: bool = True) -> Table:
    """The jobs that waited longest after the policy would have started them."""
    differences = found.differences()
    columns = ("job", "GPUs", "user", "since", "waited", "passed over", *(["first decision"] if sentences else []))
    rows = [
        (
            one.job.shown, count(one.job.gpus), one.job.user, _short(one.since_s),
            ("" if one.begun else ">\N{NO-BREAK SPACE}") + duration(one.waited_s), _times(one.times),
            *([one.said] if sentences else []),
        )
        for one in differences[:most]
    ]  # fmt: skip
    shown = f"{len(rows)} of {len(differences):,} jobs" if len(rows) < len(differences) else ""
    title = f"Longest waits after {found.policy} would have started the job"
    return Table(title, columns, rows, shown and f"{shown}, by how long they then waited.", ("user", "first decision"))


def _short(at_s: float) -> str:
    return time.strftime("%b %d %H:%M", time.localtime(at_s)).replace(" ", "\N{NO-BREAK SPACE}")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def agreement_tables(found: Findings) -> list[Table]:
    """By GPUs; by partition and by account, where there are several."""
    tables = [bucket_table(found)]
    for name, by in (("partition", by_partition), ("account", by_account)):
        groups = found.agreements(by)
        if len(groups) > 1:
            tables.append(_agreement_table(f"By {name}", name, groups))
    return tables


def bucket_table(found: Findings) -> Table:
    """By the GPUs of the job that was started."""
    return _agreement_table("By GPUs of the job", "GPUs", found.agreements(by_bucket, BUCKETS.index))


def time_tables(found: Findings) -> list[Table]:
    """By day and by hour of the day."""
    kinds: tuple[tuple[str, str, Callable[[Decision], str]], ...] = (
        ("By day", "day", by_day),
        ("By hour of the day", "from", by_hour),
    )
    return [_agreement_table(title, name, found.agreements(by)) for title, name, by in kinds]


def _agreement_table(title: str, name: str, groups: Sequence[Agreement]) -> Table:
    rows = [(one.name or NOTHING, count(one.starts), count(one.agreed), percent(one.share)) for one in groups]
    return Table(title, (name, "starts", "agreed", "share"), rows)


def foretold_table(found: Findings) -> Table:
    """How good predicted starts were, by how far ahead they were."""
    groups: dict[str, list[Foretold]] = {name: [] for _, name in LEADS_S} | {LONGER: []}
    for one in found.foretold:
        groups[_lead_of(one)].append(one)
    rows = [_foretold_row(name, some) for name, some in groups.items() if some]
    note = "Within range should be 90 %. Jobs that still wait, longer than predicted, are later."
    columns = ("predicted wait", "jobs", "within range", "sooner", "later", "median error")
    return Table("", columns, rows, note)


def _lead_of(one: Foretold) -> str:
    return next((name for most_s, name in LEADS_S if one.likely_s is not None and one.likely_s <= most_s), LONGER)


def _foretold_row(name: str, some: Sequence[Foretold]) -> tuple[str, ...]:
    shares = (sum(getattr(one, side) for one in some) / len(some) for side in ("is_kept", "is_early", "is_late"))
    return name, count(len(some)), *map(percent, shares), duration(median_error_s(some))


def cost_table(found: Findings) -> Table:
    """What looking cost the controller."""
    costs = [*found.costs, *([found.all_costs] if found.all_costs else [])]
    rows = [
        (one.command or "all", digits(one.a_minute), digits(one.most_a_minute), duration(one.slowest_s))
        for one in costs
    ]
    return Table("", ("command", "requests a minute", "in the highest hour", "slowest answer"), rows)


def alarms_table(found: Findings, most: int) -> Table:
    """The last alarms."""
    rows = [(moment(at_s), said) for at_s, said in found.alarms[-most:]]
    return Table("Alarms", ("time", "alarm"), rows, left=("alarm",))
