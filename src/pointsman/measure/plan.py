"""A measurement is a list of items, the most telling first, that is worked off until the time is over."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from statistics import median
from typing import NamedTuple

from pointsman.measure.messages import Setting
from pointsman.measure.process import JobFailed, TimeIsOver
from pointsman.measure.rows import Row, RowFile, cell
from pointsman.speed.measured_rows import spread_of

Cells = dict[str, object]
Tell = Callable[[float, str], None]


class Item(NamedTuple):
    """A few rows that are measured together."""

    title: str
    identities: Sequence[Cells]
    """The cells of each row that are known before it is measured."""
    measure: Callable[[], Sequence[Cells]]
    """Measures the other cells of each; raises JobFailed or TimeIsOver."""
    settings: Sequence[Setting] = ()
    """What is trained."""
    count_runs: Callable[[], int] = lambda: 1
    """How many times jobs are run for it, as far as that is known now."""


@dataclass
class Outcome:
    """What has become of a plan."""

    rows: list[Row] = field(default_factory=list)
    """All that were asked for and are in the file, in the order of the plan."""
    measured: int = 0
    """Rows that are new."""
    kept: list[Row] = field(default_factory=list)
    """Rows that the file had, and still has."""
    failed: int = 0
    """New rows that say why they failed."""
    failures: list[str] = field(default_factory=list)
    """What could not be measured now, and why."""
    start_s: float = 0.0
    """About how long starting takes, before and in the first item."""
    left_out: dict[str, float] = field(default_factory=dict)
    """About how many seconds each item takes that was left out; twice what it had if it was ended."""
    ended: dict[str, float] = field(default_factory=dict)
    """How many seconds each item had that did not end in time."""

    def least_s(self) -> float:
        """The least time in which one more item that was left out can be expected to end."""
        return self.start_s + max(self.left_out.values())


class Budget:
    """Time for a plan."""

    def __init__(self, until_s: float = inf, run_s: float = 0.0, begin_s: float | None = None) -> None:
        """When the time is over and when it began (now), on the monotonic clock, and the least that a run of jobs
        takes; in seconds.
        """
        self._until_s, self._run_s = until_s, run_s
        self._begin_s = time.monotonic() if begin_s is None else begin_s
        self._seen_s: list[float] = []
        self.start_s = 0.0
        """How long starting took, as far as that is known: until the first item, and what the first that ended took
        longer than a run takes.
        """
        self._has_started = False

    def begin_items(self) -> None:
        """From now on items are measured."""
        self.start_s = time.monotonic() - self._begin_s

    def left_s(self) -> float:
        """How much time is left."""
        return self._until_s - time.monotonic()

    def expect_s(self, runs: int) -> float:
        """About how long runs take."""
        return runs * (median(self._seen_s) if self._seen_s else self._run_s)

    def has_room(self, runs: int) -> bool:
        """Whether this many runs are expected to fit."""
        return self.expect_s(runs) <= self.left_s()

    @contextmanager
    def spent(self, runs: int) -> Generator[None]:
        """Count what is done meanwhile as this many runs. The first that end say little: they start processes. What has
        failed or did not end in time would have taken as long as was expected, at least.
        """
        begin_s, left_s, expected_s = time.monotonic(), self.left_s(), self.expect_s(runs)
        try:
            yield
        except TimeIsOver:
            self._seen_s.append(max(left_s, expected_s) / runs)
            raise
        except JobFailed:
            self._seen_s.append(max(time.monotonic() - begin_s, expected_s) / runs)
            raise
        took_s = time.monotonic() - begin_s
        if self._has_started:
            self._seen_s.append(took_s / runs)
        else:
            self.start_s += max(0.0, took_s - expected_s)
        self._has_started = True


def work_off(
    items: Sequence[Item],
    file: RowFile,
    about: Mapping[str, str],
    budget: Budget,
    tell: Tell,
    *,
    again: Callable[[Row], bool] = lambda row: False,
    check: Callable[[Sequence[Setting]], None] = lambda settings: None,
) -> Outcome:
    """Measure each item that is not in the file yet, and write its rows at once.

    Args:
        items: the plan, in order.
        file: rows that it has are kept.
        about: what all rows say of the machine.
        budget: an item that is expected to end after it is not begun.
        tell: hears the share that is done, and what is being measured.
        again: which rows of the file are measured again.
        check: is given all that will be trained, before anything is measured.
    """
    outcome = Outcome()
    known = [[row for identity in item.identities if (row := file.find(identity))] for item in items]
    is_kept = [
        len(rows) == len(item.identities) and not any(map(again, rows)) for item, rows in zip(items, known, strict=True)
    ]
    with suppress(TimeIsOver):
        check([setting for item, kept in zip(items, is_kept, strict=True) if not kept for setting in item.settings])
    budget.begin_items()
    for done, (item, rows, kept) in enumerate(zip(items, known, is_kept, strict=True)):
        tell(done / len(items), item.title)
        new = [] if kept else _measure(item, rows, file, about, budget, outcome)
        outcome.rows += new or rows
        outcome.kept += [] if new else rows
    tell(1.0, "")
    outcome.start_s = budget.start_s
    return outcome


def _measure(
    item: Item, old: Sequence[Row], file: RowFile, about: Mapping[str, str], budget: Budget, outcome: Outcome
) -> Sequence[Row]:
    """New rows of an item, if there is time; a failure replaces none that have times, and no row a steadier one."""
    runs, left_s, found = max(1, item.count_runs()), budget.left_s(), None
    try:
        if budget.has_room(runs):
            with budget.spent(runs):
                found = [{**known, **cells} for known, cells in zip(item.identities, item.measure(), strict=True)]
    except TimeIsOver:
        outcome.ended[item.title] = left_s
    except JobFailed as failure:
        outcome.failures.append(f"{item.title}: {failure}")
        if any(not row["reason"] for row in old):
            return []
        found = [{**known, "reason": str(failure)} for known in item.identities]
        outcome.failed += len(found)
    else:
        if found and _are_steadier(old, found):
            return []
        outcome.measured += len(found or ())
    if found is None:
        outcome.left_out[item.title] = max(budget.expect_s(runs), 2 * outcome.ended.get(item.title, 0.0))
        return []
    now = datetime.now(UTC).isoformat(timespec="seconds")
    file.add([{**about, **row, "measured_at": now} for row in found], instead_of=old)
    return file.rows[-len(found) :]


def _are_steadier(old: Sequence[Row], new: Sequence[Cells]) -> bool:
    """Whether all rows of an item are there, and differ less from round to round than new ones."""
    if len(old) < len(new) or any(row["reason"] for row in old):
        return False
    before, now = (max(spread_of(cell(row.get("spread"))) for row in rows) for rows in (old, new))
    return before < now
