"""A measurement is a list of items, the most telling first, that is worked off until the time is over."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from pointsman.measure.machine import Machine, clock_mhz
from pointsman.measure.messages import Setting
from pointsman.measure.pool import Place, Pool
from pointsman.measure.process import JobFailed, Slot
from pointsman.measure.rounds import Limits, Measured, measure
from pointsman.measure.rows import SAME, Row, RowFile

Cells = dict[str, object]
Tell = Callable[[float, str], None]


class Item(NamedTuple):
    """A few rows that are measured together."""

    title: str
    identities: Sequence[Cells]
    """The cells of each row that are known before it is measured."""
    measure: Callable[[], Sequence[Cells]]
    """Measures the other cells of each; raises JobFailed."""


@dataclass
class Outcome:
    """What has become of a plan."""

    rows: list[Row] = field(default_factory=list)
    """All that were asked for and are in the file, in the order of the plan."""
    measured: int = 0
    kept: int = 0
    failed_before: int = 0
    """Rows among those kept that have failed."""
    failed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class Budget:
    """Time for a plan, which begins when this is made."""

    def __init__(self, budget_s: float, usual_s: float) -> None:
        """A time in seconds, and about how long an item takes, as far as that is known before any is measured."""
        self._until_s = time.monotonic() + budget_s
        self._usual_s = usual_s
        self._spans_s: list[float] = []

    def has_room(self) -> bool:
        """Whether one more item is expected to fit. The first one says little: it starts processes."""
        expected_s = median(self._spans_s[1:]) if len(self._spans_s) > 1 else self._usual_s
        return time.monotonic() + expected_s <= self._until_s

    @contextmanager
    def spent(self) -> Generator[None]:
        """What is done meanwhile is an item."""
        begin_s = time.monotonic()
        yield
        self._spans_s.append(time.monotonic() - begin_s)


@dataclass
class Bench:
    """Where and how things are measured."""

    pool: Pool
    machine: Machine
    limits: Limits
    precision: str
    _clock: dict[Slot, str] = field(default_factory=dict)

    def about(self) -> dict[str, str]:
        """The cells that all rows have in common."""
        return {**self.machine.about(), "precision": self.precision}

    def run(self, places: Sequence[Place]) -> Measured:
        """Measure jobs that run at the same time; JobFailed if one cannot."""
        slot = places[0][1]

        def look() -> None:
            self._clock[slot] = clock_mhz(self.machine, slot)

        try:
            return measure(self.pool.take(places), self.limits, look)
        except JobFailed:
            self.pool.drop()
            raise

    def cells(self, found: Measured, slot: Slot) -> Cells:
        """What a row says of how it was measured."""
        return {
            "rounds": found.rounds,
            "disturbed": found.disturbed,
            "spread": found.spread,
            "clock_mhz": self._clock.get(slot, ""),
        }

    def setting(self, place: str, batch: int, parts: int = 1) -> Setting:
        """A training in the precision of this bench."""
        return Setting(place, batch, parts, self.precision)


def work_off(
    items: Sequence[Item],
    file: RowFile,
    about: Mapping[str, str],
    budget: Budget,
    tell: Tell,
    *,
    retry_failed: bool = False,
) -> Outcome:
    """Measure each item that is not in the file yet, and write its rows at once.

    Args:
        items: the plan, in order.
        file: rows that it has are kept.
        about: what all rows say of the machine.
        budget: no item is begun that is expected to end after it.
        tell: hears the share that is done, and what is being measured.
        retry_failed: whether rows of failures are measured again.
    """
    outcome = Outcome()
    for done, item in enumerate(items):
        tell(done / len(items), item.title)
        same = {column: about[column] for column in SAME}
        kept = [row for identity in item.identities if (row := file.find({**identity, **same}))]
        if len(kept) == len(item.identities) and not (retry_failed and any(row["reason"] for row in kept)):
            outcome.kept += len(kept)
            outcome.failed_before += sum(bool(row["reason"]) for row in kept)
            outcome.rows += kept
            continue
        if not budget.has_room():
            outcome.left_out.append(item.title)
            continue
        with budget.spent():
            rows = _measure(item, outcome)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        file.add([{**about, **row, "measured_at": now} for row in rows])
        outcome.rows += file.rows[-len(rows) :]
    tell(1.0, "")
    return outcome


def _measure(item: Item, outcome: Outcome) -> list[Cells]:
    try:
        rows = [{**known, **found} for known, found in zip(item.identities, item.measure(), strict=True)]
    except JobFailed as failure:
        outcome.failed.append(f"{item.title}: {failure}")
        return [{**known, "reason": str(failure)} for known in item.identities]
    outcome.measured += len(rows)
    return rows
