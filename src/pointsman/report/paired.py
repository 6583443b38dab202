"""How far two policies differ on the same jobs, and how sure that is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pointsman.report.confidence import Floats, Interval, mean_interval, paired_bootstrap, ratio_interval
from pointsman.report.groups import Group, Run

PERCENTILE = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Difference:
    """A policy's figure less the baseline's, and the same as a share of the baseline's; None where unknown."""

    value: float | None
    interval: Interval | None
    ratio: float | None
    ratio_interval: Interval | None
    method: str


NOTHING = Difference(None, None, None, None, "")


def difference(group: Group, baseline: Group, metric: str) -> Difference:
    """`group` against `baseline` in one figure of the summary, paired on the seeds both have.

    With two or more common seeds the interval is Student's over the seeds' differences; with one, a paired block
    bootstrap over the jobs both completed (mean and percentiles of JCT and wait only).
    """
    pairs = _pairs(group, baseline)
    here, there = (_figures([pair[side] for pair in pairs], metric) for side in (0, 1))
    if not pairs or here is None or there is None:
        return NOTHING
    if group is baseline:
        return Difference(0.0, None, 0.0, None, "baseline")
    value, base = float((here - there).mean()), float(there.mean())
    ratio = value / base if base else None
    if len(pairs) > 1:
        method = f"Student's t over {len(pairs)} common seeds"
        return Difference(value, mean_interval(here - there), ratio, ratio_interval(here, there), method)
    interval, of_ratio = _over_jobs(pairs[0], metric) or (None, None)
    method = "" if interval is None else "block bootstrap over the jobs of one seed"
    return Difference(value, interval, ratio, of_ratio, method)


def _pairs(group: Group, baseline: Group) -> list[tuple[Run, Run]]:
    theirs = {run.seed: run for run in baseline.runs}
    return [(run, theirs[run.seed]) for run in group.runs if run.seed in theirs]


def _figures(runs: list[Run], metric: str) -> Floats | None:
    found: list[Any] = [run.summary[metric] for run in runs]
    return None if None in found else np.array(found, dtype=np.float64)


def _over_jobs(pair: tuple[Run, Run], metric: str) -> tuple[Interval, Interval | None] | None:
    name, _, kind = metric.removesuffix("_s").partition("_")
    if name not in ("jct", "wait") or (kind != "mean" and kind not in PERCENTILE):
        return None
    return paired_bootstrap(*_same_jobs(*pair, f"{name}_s"), _statistic(kind))


def _statistic(kind: str) -> Callable[[Floats], float]:
    if kind == "mean":
        return lambda values: float(values.mean())
    return lambda values: float(np.quantile(values, PERCENTILE[kind]))


def _same_jobs(first: Run, second: Run, column: str) -> tuple[Floats, Floats]:
    both = first.counted.select("row", column).join(
        second.counted.select("row", pl.col(column).alias("other")), on="row", how="inner", maintain_order="left"
    )
    return both[column].to_numpy(), both["other"].to_numpy()
