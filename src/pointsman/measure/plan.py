"""A measurement is a list of items, the most telling first, that is worked off until the time is over."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
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
    failed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


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
    budget_s: float,
    tell: Tell,
    *,
    retry_failed: bool = False,
) -> Outcome:
    """Measure each item that is not in the file yet, and write its rows at once.

    Args:
        items: the plan, in order.
        file: rows that it has are kept.
        about: what all rows say of the machine.
        budget_s: no item is begun that would end later than that, if it takes as long as the longest so far.
        tell: hears the share that is done, and what is being measured.
        retry_failed: whether rows of failures are measured again.
    """
    outcome, begin, longest_s = Outcome(), time.monotonic(), 0.0
    for done, item in enumerate(items):
        tell(done / len(items), item.title)
        same = {column: about[column] for column in SAME}
        kept = [row for identity in item.identities if (row := file.find({**identity, **same}))]
        if len(kept) == len(item.identities) and not (retry_failed and any(row["reason"] for row in kept)):
            outcome.kept += len(kept)
            outcome.rows += kept
            continue
        item_begin = time.monotonic()
        if item_begin - begin + longest_s > budget_s:
            outcome.left_out.append(item.title)
            continue
        rows = _measure(item, outcome)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        file.add([{**about, **row, "measured_at": now} for row in rows])
        outcome.rows += file.rows[-len(rows) :]
        longest_s = max(longest_s, time.monotonic() - item_begin)
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
