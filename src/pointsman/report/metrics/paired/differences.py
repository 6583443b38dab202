"""How far two policies differ on the same jobs, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pointsman.errors import UsageError
from pointsman.report.metrics.counted import ENDED
from pointsman.report.metrics.draws import units, workload_seeds
from pointsman.report.metrics.groups import Group, Run
from pointsman.report.metrics.paired.confidence import (
    STATISTICS,
    Floats,
    Interval,
    mean_interval,
    paired_bootstrap,
    ratio_interval,
)
from pointsman.report.metrics.summary import job_metrics

RESAMPLED = {f"{name}_{kind}_s": (f"{name}_s", kind) for name in ("jct", "pending", "wait") for kind in STATISTICS}
"""Metrics whose intervals can be had by resampling jobs: of which column, which statistic."""

JOB = ("job_id", "submit_s", "gpus", "duration_s")
"""What makes two runs' jobs the same."""


@dataclass(frozen=True)
class Difference:
    """A policy's metric less the baseline's, and the same as a share of the baseline's; None where unknown.

    Figures of jobs are of those that both completed, for a mean over fewer jobs may be less for that alone.
    """

    value: float | None
    interval: Interval | None
    ratio: float | None
    ratio_interval: Interval | None
    method: str

    @property
    def may_be_chance(self) -> bool:
        """Whether 0 is in the interval of the share, which tables show; False where there is none."""
        return self.ratio_interval is not None and self.ratio_interval[0] <= 0 <= self.ratio_interval[1]

    @property
    def is_lower(self) -> bool:
        """Whether it is below 0, and not by chance."""
        return not self.may_be_chance and (self.ratio or 0.0) < 0


@dataclass(frozen=True)
class _Side:
    """A run in a pair: its jobs that both completed, and its metrics of them."""

    run: Run
    counted: pl.DataFrame
    metrics: dict[str, Any]


def differences(group: Group, baseline: Group, metrics: Sequence[str]) -> dict[str, Difference]:
    """`group` against `baseline` in metrics of the summary, paired on the workloads and seeds both have.

    With two or more workloads the interval is Student's over the workloads' differences, each the mean of its seeds;
    of one workload, over the differences of two or more common seeds. With one pair, or where all seeds give the same
    run, it is a paired block bootstrap over the jobs both completed (mean and percentiles of JCT and wait).

    Raises:
        UsageError: the two have a seed in common, and not the jobs.
    """
    pairs = [_on_the_same_jobs(*pair) for pair in common_runs(group, baseline)]
    if group is baseline:
        return {metric: _over_seeds(pairs, metric, is_baseline=True) for metric in metrics}
    if len(pairs) > 1 and not group.depends_on_seed and not baseline.depends_on_seed:
        return _over_jobs(pairs[0], metrics, "block bootstrap over the jobs, because nothing depends on the seed")
    if len(pairs) == 1:
        return _over_jobs(pairs[0], metrics, "block bootstrap over the jobs of one seed")
    return {metric: _over_seeds(pairs, metric, is_baseline=False) for metric in metrics}


def difference(group: Group, baseline: Group, metric: str) -> Difference:
    """`differences` in one metric."""
    return differences(group, baseline, [metric])[metric]


def common_runs(group: Group, baseline: Group) -> list[tuple[Run, Run]]:
    """The runs of both on the workloads and seeds that both have.

    Raises:
        UsageError: they are not of the same jobs.
    """
    theirs = {run.draw: run for run in baseline.runs}
    pairs = [(run, theirs[run.draw]) for run in group.runs if run.draw in theirs]
    unlike = [(group.first, baseline.first)] if not pairs and {*group.seeds} & {*baseline.seeds} else []
    for run, other in [*pairs, *unlike]:
        if not _same_log(run, other):
            raise UsageError(
                f"{group.label} and {baseline.label} did not run the same jobs (seed {run.seed}), so their difference "
                "would say nothing about the policies; compare runs of one workload, and report others separately"
            )
    return pairs


def _same_log(run: Run, other: Run) -> bool:
    return run is other or run.result.jobs.select(JOB).equals(other.result.jobs.select(JOB))


def _on_the_same_jobs(first: Run, second: Run) -> tuple[_Side, _Side]:
    """Both with the metrics of the jobs that both completed, and no makespan where one left jobs over."""
    completed = (run.result.jobs.select(pl.col("state").is_in(ENDED)) for run in (first, second))
    if next(completed).equals(next(completed)):
        return _Side(first, first.counted, first.summary), _Side(second, second.counted, second.summary)
    return _on_jobs_of(first, second), _on_jobs_of(second, first)


def _on_jobs_of(run: Run, other: Run) -> _Side:
    shared = run.counted.join(other.counted, on="row", how="semi", maintain_order="left")
    metrics = job_metrics(run.result, shared) | {"makespan_s": None}
    return _Side(run, shared, run.summary | metrics)


def _over_seeds(pairs: list[tuple[_Side, _Side]], metric: str, is_baseline: bool) -> Difference:
    numbers = units([pair[0].run for pair in pairs])
    here, there = (_metrics([pair[side] for pair in pairs], metric, numbers) for side in (0, 1))
    if not pairs or here is None or there is None:
        return Difference(None, None, None, None, "" if pairs else "none: there is no seed in common")
    if is_baseline:
        return Difference(0.0, None, 0.0, None, "baseline")
    value, base = float((here - there).mean()), float(there.mean())
    ratio = value / base if base else None
    if len(pairs) == 1:
        return Difference(value, None, ratio, None, "")
    return Difference(value, mean_interval(here - there), ratio, ratio_interval(here, there), _student(pairs))


def _student(pairs: list[tuple[_Side, _Side]]) -> str:
    """Over what Student's interval is."""
    runs = [pair[0].run for pair in pairs]
    if drawn := workload_seeds(runs):
        return f"Student's t over {len(drawn)} workloads" + ", each the mean of its seeds" * (len(drawn) < len(runs))
    same = " of estimates and failures, the jobs the same" if _same_log(*runs[:2]) else ""
    return f"Student's t over {len(runs)} common seeds{same}"


def _metrics(sides: list[_Side], metric: str, numbers: list[int]) -> Floats | None:
    """The metric in each independent draw (draws,): its mean over the runs of which this is the number."""
    found: list[Any] = [side.metrics[metric] for side in sides]
    if None in found:
        return None
    sums = np.bincount(numbers, np.array(found, dtype=np.float64))
    return sums / np.bincount(numbers)


def _resample(pair: tuple[_Side, _Side], column: str) -> dict[str, tuple[Interval, Interval | None]] | None:
    """`paired_bootstrap` of one column, once for all tables, sentences and figures."""
    first, second = pair
    known, key = first.run.paired, (column, id(second.run))
    if key not in known:
        known[key] = second.run, paired_bootstrap(*(side.counted[column].to_numpy() for side in pair))
    return known[key][1]


def _over_jobs(pair: tuple[_Side, _Side], metrics: Sequence[str], method: str) -> dict[str, Difference]:
    columns = {RESAMPLED[metric][0] for metric in metrics if metric in RESAMPLED}
    resampled = {column: _resample(pair, column) for column in columns}
    found = {metric: _over_seeds([pair], metric, is_baseline=False) for metric in metrics}
    for metric in RESAMPLED.keys() & found.keys():
        column, kind = RESAMPLED[metric]
        intervals, plain = resampled[column], found[metric]
        if intervals is not None and plain.value is not None:
            found[metric] = Difference(plain.value, intervals[kind][0], plain.ratio, intervals[kind][1], method)
    return found
