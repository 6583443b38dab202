"""Who gains and who loses: how long the jobs of each width, account, queue and user take under a policy, and under the
baseline, of the jobs that both completed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from pointsman.report.metrics.draws import units
from pointsman.report.metrics.groups import Group
from pointsman.report.metrics.paired.confidence import BLOCKS, Interval, ratio_interval
from pointsman.report.metrics.paired.differences import common_runs
from pointsman.sums import in_groups

KINDS = {"bucket": "gpus", "account": "account", "queue": "queue", "user": "user"}
"""Columns of counted jobs by which they are grouped, and what that is called."""
TIMES = ("jct", "pending")
LEAST_JOBS = 20
"""The fewest jobs of a group with an interval; in fewer, one job that fared otherwise makes the whole difference."""
WORTH_NAMING = 0.01
"""The least loss that a page names, as a share of the mean completion time; smaller ones are in the tables."""
_UNIT, _BASE = "unit", "_baseline"


@dataclass(frozen=True)
class Change:
    """The times of some jobs under a policy, and the same jobs' under the baseline, in seconds.

    A `ratio` is the policy's mean over the baseline's, less 1; None where the baseline's is 0. Intervals are Student's
    over workloads, over seeds, or over blocks of a run's jobs; None of fewer than `LEAST_JOBS`.
    """

    policy: str
    kind: str
    name: str
    jobs: int
    """Jobs of a run; of several runs the mean."""
    gpu_hours: float
    """That these ask for."""
    jct_mean_s: float
    jct_mean_baseline_s: float
    jct_p95_s: float
    jct_p95_baseline_s: float
    jct_ratio: float | None
    jct_interval: Interval | None
    pending_mean_s: float
    pending_mean_baseline_s: float
    pending_p95_s: float
    pending_p95_baseline_s: float
    pending_ratio: float | None
    pending_interval: Interval | None

    @property
    def loses(self) -> bool:
        """Whether its jobs take longer, and not by chance."""
        return self.jct_interval is not None and self.jct_interval[0] > 0

    @property
    def gains(self) -> bool:
        """Whether they take less long, and not by chance."""
        return self.jct_interval is not None and self.jct_interval[1] < 0

    def record(self) -> dict[str, object]:
        """A row of ``changes.csv``."""
        found = asdict(self)
        for name in TIMES:
            found[f"{name}_low"], found[f"{name}_high"] = found.pop(f"{name}_interval") or (None, None)
        return found


def changes(group: Group, baseline: Group) -> list[Change]:
    """Lists the changes of all groups, the greatest loss first: by how many seconds all jobs of a group together take
    longer.
    """
    pairs = common_runs(group, baseline)
    if not pairs or group is baseline:
        return []
    if not group.depends_on_seed and not baseline.depends_on_seed:
        pairs = pairs[:1]
    numbers = units([run for run, _ in pairs])
    jobs = pl.concat(
        [_join_jobs(*(run.counted for run in pair), number) for number, pair in zip(numbers, pairs, strict=True)],
        how="vertical_relaxed",
    )
    several = jobs[_UNIT].n_unique() > 1
    found = [
        change
        for column, kind in KINDS.items()
        if column in jobs.columns
        for change in _of_kind(
            jobs.filter(pl.col(column).is_not_null()), column, kind, group.label, several, len(pairs)
        )
    ]
    return sorted(found, key=lambda one: -one.jobs * (one.jct_mean_s - one.jct_mean_baseline_s))


def _join_jobs(mine: pl.DataFrame, other: pl.DataFrame, number: int) -> pl.DataFrame:
    """The jobs that both completed, with the times of both."""
    columns = [f"{name}_s" for name in TIMES]
    kept = mine.select("row", pl.col("gpus") * pl.col("duration_s") / 3600, *columns, *_present(mine))
    return kept.join(
        other.select("row", *columns), on="row", how="inner", suffix=_BASE, maintain_order="left"
    ).with_columns(pl.lit(number).alias(_UNIT))


def _present(jobs: pl.DataFrame) -> list[str]:
    return [column for column in KINDS if column in jobs.columns]


def _of_kind(jobs: pl.DataFrame, column: str, kind: str, policy: str, several: bool, runs: int) -> Iterator[Change]:
    """A change for each value of a column; where there is one seed, jobs in a row are the units of intervals."""
    if not several:
        many = pl.len().over(column)
        block = (pl.int_range(pl.len()).over(column) * pl.min_horizontal(many, BLOCKS)) // many
        jobs = jobs.with_columns(block.alias(_UNIT))
    sides = [f"{name}_s{end}" for name in TIMES for end in ("", _BASE)]
    sums = in_groups(jobs, [column, _UNIT], *sides).with_columns(pl.col(sides).list.sum())
    of_units = {key: part for (key,), part in sums.partition_by(column, as_dict=True, maintain_order=True).items()}
    whole = jobs.group_by(column, maintain_order=True).agg(
        pl.len().alias("jobs"), pl.col("gpus").sum(), pl.col(sides).mean(),
        pl.col(sides).quantile(0.95, "linear").name.suffix("_p95"),
    )  # fmt: skip
    for row in whole.iter_rows(named=True):
        units, told, of_run = of_units[row[column]], {}, max(1, round(row["jobs"] / runs))
        for name in TIMES:
            mine, other = (units[f"{name}_s{end}"].to_numpy() for end in ("", _BASE))
            total = float(other.sum())
            told |= {
                f"{name}_mean_s": row[f"{name}_s"], f"{name}_mean_baseline_s": row[f"{name}_s{_BASE}"],
                f"{name}_p95_s": row[f"{name}_s_p95"], f"{name}_p95_baseline_s": row[f"{name}_s{_BASE}_p95"],
                f"{name}_ratio": float(mine.sum()) / total - 1 if total else None,
                f"{name}_interval": ratio_interval(mine, other) if of_run >= LEAST_JOBS and total else None,
            }  # fmt: skip
        yield Change(policy, kind, str(row[column]), of_run, row["gpus"] / runs, **told)


def largest_loss(found: Sequence[Change]) -> Change | None:
    """Finds the group with most GPU-hours among those that lose by `WORTH_NAMING` or more and not by chance; one of
    more than half of the jobs, which is nearly all of them, only where no other does.
    """
    many = {kind: sum(one.jobs for one in found if one.kind == kind) for kind in {one.kind for one in found}}
    lost = [one for one in found if one.loses and (one.jct_ratio or 0.0) >= WORTH_NAMING]
    return max(lost, key=lambda one: (2 * one.jobs <= many[one.kind], one.gpu_hours), default=None)
