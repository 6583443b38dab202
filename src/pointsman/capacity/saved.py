"""What policies save against the first: how many GPUs fewer are enough for jobs to fare no worse."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointsman.capacity.curve import Point
from pointsman.errors import InputError
from pointsman.report.manifest import read_manifest
from pointsman.report.tables.price import interval_name
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, count, percent

EQUAL = {"jct_mean_s": "mean", "jct_p99_s": "99 %"}
"""What is equal, and what tables call it."""


@dataclass(frozen=True)
class Saving:
    """What one policy saves, at one interval between checkpoints (0 s: preemption loses nothing), in one metric."""

    policy: str
    checkpoint_every_s: float
    metric: str
    limit_s: float
    """The metric under the first policy on the whole cluster, at the same interval."""
    whole_gpus: int
    """GPUs of the whole cluster."""
    least: Point | None
    """The least cluster from which on the metric is no more than that; None: none of those tried."""

    @property
    def saved(self) -> int | None:
        """GPUs; below 0 where the policy needs more."""
        return None if self.least is None else self.whole_gpus - self.least.gpus

    def record(self) -> dict[str, Any]:
        """A row of ``savings.csv``."""
        return {
            "policy": self.policy,
            "checkpoint_every_s": self.checkpoint_every_s,
            "metric": self.metric,
            "limit_s": self.limit_s,
            "whole_gpus": self.whole_gpus,
            "nodes": self.least.nodes if self.least else None,
            "gpus": self.least.gpus if self.least else None,
            "saved_gpus": self.saved,
        }


@dataclass(frozen=True, repr=False)
class Savings:
    """One or more of them."""

    first: str
    """Its name."""
    found: Sequence[Saving]
    lost_s: float = 0.0
    """Work that a preemption loses at every interval."""
    file = "savings.csv"
    wanted = "savings"
    """For the manifest."""

    def __repr__(self) -> str:
        """``Savings(against fifo: srtf 12 for equal mean JCT, srtf 3 for equal 99 % JCT)``: GPUs."""
        told = (f"{one.policy} {one.saved} for equal {EQUAL[one.metric]} JCT" for one in self.found)
        return f"Savings(against {self.first}: {', '.join(told)})"

    def _repr_html_(self) -> str:
        """For notebooks: the table that `pointsman capacity --savings` prints."""
        return self.table()._repr_html_()

    def notes(self) -> list[str]:
        """None."""
        return []

    def drawing(self) -> None:
        """None: a table says it."""
        return

    def records(self) -> list[dict[str, Any]]:
        """The rows of ``savings.csv``."""
        return [one.record() | {"compared_with": self.first, "lost_s": self.lost_s} for one in self.found]

    @property
    def answer(self) -> str:
        """What is compared, in sentences."""
        whole = count(self.found[0].whole_gpus)
        return (
            f"Compared with {self.first} on all {whole} GPUs, at the same interval between checkpoints. "
            "Given is the least cluster from which on jobs fare no worse; node types keep their proportions."
        )

    def table(self) -> Table:
        """A row for each policy and interval: how many GPUs are enough, and how many of all that saves."""
        columns = [column for name in EQUAL.values() for column in (f"GPUs for equal {name} JCT", f"saved ({name})")]
        keys = dict.fromkeys((one.policy, one.checkpoint_every_s) for one in self.found)
        return Table("", ("policy", "checkpoints", *columns), [self._row(*key) for key in keys], left=("checkpoints",))

    def _row(self, policy: str, interval_s: float) -> tuple[str, ...]:
        of = [one for one in self.found if (one.policy, one.checkpoint_every_s) == (policy, interval_s)]
        cells = [cell for one in of for cell in _cells(one)]
        return policy, interval_name(interval_s, self.lost_s, "every "), *cells


def _cells(one: Saving) -> tuple[str, str]:
    if one.least is None or one.saved is None:
        return NOTHING, NOTHING
    return count(one.least.gpus), f"{one.saved:,} ({percent(one.saved / one.whole_gpus)})"


def read_savings(directory: Path) -> Savings:
    """What ``capacity --savings -o DIR`` wrote.

    Raises:
        InputError: it is another directory, or damaged.
    """
    if (target := read_manifest(directory, "capacity").get("target")) != Savings.wanted:
        fix = "run capacity --savings"
        raise InputError(f"this is the answer to the target {target!r:.60}, not to --savings", path=directory, fix=fix)
    path = directory / Savings.file
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        return Savings(rows[0]["compared_with"], [_saving(row) for row in rows], float(rows[0]["lost_s"]))
    except OSError as error:
        raise InputError(f"this cannot be read ({error.strerror})", path=path, fix="run again") from None
    except (ValueError, KeyError, IndexError, TypeError):
        raise InputError("this file is damaged", path=path, fix="run again") from None


def _saving(row: dict[str, str]) -> Saving:
    whole = int(row["whole_gpus"])
    least = Point(int(row["nodes"]), int(row["gpus"]), None) if row["gpus"] else None
    every_s, limit_s = float(row["checkpoint_every_s"]), float(row["limit_s"])
    return Saving(row["policy"], every_s, row["metric"], limit_s, whole, least)
