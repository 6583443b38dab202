"""From runs to the figures of the page: percent above the bound, and paired differences with intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.gittins.contestants import GITTINS, RUNNABLE
from benchmarks.gittins.runs import Cell, kept
from benchmarks.results.figures import Difference, paired

RESAMPLES = 2000
RIVALS = tuple(who.label for who in RUNNABLE if who.policy != "gittins")
"""Policies that are told no durations, as `gittins` is told none."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A workload at a load, with models or without; seeds are runs of it."""

    workload: str
    load: float
    models: bool

    @property
    def name(self) -> str:
        """As tables have it."""
        return f"{self.workload} {self.load}"


class Figures:
    """Every run, by place and policy."""

    def __init__(self, path: Path) -> None:
        self.runs: dict[tuple[Place, str], list[Row]] = {}
        for (cell, policy), rows in kept(path).items():
            self.runs.setdefault((_place(cell), policy), []).extend(rows)
        for rows in self.runs.values():
            rows.sort(key=lambda row: (row["seed"], row.get("draw", 0)))

    @property
    def places(self) -> list[Place]:
        """In the order of the runs."""
        return list(dict.fromkeys(place for place, _ in self.runs))

    def policies(self, place: Place) -> list[str]:
        """Those that were run there."""
        return [policy for where, policy in self.runs if where == place]

    def rivals(self, place: Place) -> list[str]:
        """Those of `RIVALS` that were run there."""
        return [policy for policy in RIVALS if (place, policy) in self.runs]

    def mean(self, place: Place, policy: str, figure: str) -> float:
        """Of a figure, over seeds and draws."""
        return float(np.mean([row[figure] for row in self.runs[place, policy]]))

    def above(self, place: Place, policy: str) -> float:
        """Percent of mean JCT above the lower bound."""
        return float(np.mean([100 * (row["jct_mean_s"] / row["bound_s"] - 1) for row in self.runs[place, policy]]))

    def best(self, place: Place) -> str:
        """Of the rivals."""
        return min(self.rivals(place), key=lambda policy: self.above(place, policy))

    def closed(self, place: Place, policy: str, told: Sequence[str]) -> float:
        """Percent of what is between the best policy that is told nothing and the best that is told all."""
        best, least = self.above(place, self.best(place)), min(self.above(place, one) for one in told)
        return 100 * (best - self.above(place, policy)) / (best - least)

    def against(self, place: Place, policy: str, other: str) -> Difference:
        """Paired by seed, or by day of submission where there is one set of jobs."""
        mine, others = self.runs[place, policy], self.runs[place, other]
        if len({row["seed"] for row in mine}) > 1:
            by_seed = {row["seed"]: row["jct_mean_s"] for row in others}
            pairs = [(row["jct_mean_s"] / by_seed[row["seed"]], 1.0) for row in mine if row["seed"] in by_seed]
            return paired(*np.array(pairs).T)
        return _resampled(_by_day(mine, others))


def _place(cell: Cell) -> Place:
    return Place(cell.workload, cell.load, cell.models)


def _by_day(mine: Sequence[Row], others: Sequence[Row]) -> NDArray[np.float64]:
    """(days, 2) sums of JCTs, means over draws."""
    sides = [[dict((day, total) for day, total, _ in row["days"]) for row in rows] for rows in (mine, others)]
    days = sorted(set(sides[0][0]) & set(sides[1][0]))
    return np.array([[np.mean([draw[day] for draw in side]) for side in sides] for day in days])


def _resampled(pairs: NDArray[np.float64]) -> Difference:
    """Ratio of the sums of both columns, with an interval from rows drawn with replacement."""
    draw = np.random.default_rng(0)
    sums = np.array([pairs[draw.integers(0, len(pairs), len(pairs))].sum(0) for _ in range(RESAMPLES)])
    low, high = np.percentile(100 * (sums[:, 0] / sums[:, 1] - 1), [2.5, 97.5])
    whole = pairs.sum(0)
    return Difference(100 * float(whole[0] / whole[1] - 1), float(low), float(high))


def table(figures: Figures) -> pl.DataFrame:
    """A row for each place and policy: the data file of the page."""
    rows = []
    for place in figures.places:
        for policy in figures.policies(place):
            runs = figures.runs[place, policy]
            against = figures.against(place, GITTINS, policy)
            rows.append(
                {
                    "workload": place.workload, "load": place.load, "models": place.models, "policy": policy,
                    "runs": len(runs), "jobs": runs[0]["jobs"], "above_bound_percent": figures.above(place, policy),
                    **{name: figures.mean(place, policy, name) for name in MEANS},
                    "gittins_to_it_percent": against.percent, "low": against.low, "high": against.high,
                }
            )  # fmt: skip
    return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).map_elements(_four_digits, return_dtype=pl.Float64))


def pairs(figures: Figures) -> pl.DataFrame:
    """Mean JCT (s) by seed, or by day of submission where there is one set of jobs, in a column for each policy: from
    it the intervals can be drawn again. Of hints that are drawn several times, means.
    """
    units: dict[tuple, Row] = {}
    for (place, policy), runs in figures.runs.items():
        seeds = len({row["seed"] for row in runs}) > 1
        for row in runs:
            sums = [(row["seed"], row["jct_mean_s"] * row["jobs"], row["jobs"])] if seeds else row["days"]
            for number, jct_s, jobs in sums:
                unit = units.setdefault((place, number), {"jobs": jobs})
                unit.setdefault(policy, []).append(jct_s / jobs)
    rows = [
        {"workload": place.workload, "load": place.load, "models": place.models, "seed_or_day": number}
        | {name: value if name == "jobs" else round(float(np.mean(value)), 1) for name, value in unit.items()}
        for (place, number), unit in units.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


MEANS = ("jct_mean_s", "pending_mean_s", "slowdown_p99", "slowdown_max", "preemptions", "jobs_per_s")


def _four_digits(value: float) -> float:
    return float(f"{value:.4g}") if math.isfinite(value) else value
