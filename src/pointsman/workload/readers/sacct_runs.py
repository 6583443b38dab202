"""From records of Slurm's accounting to jobs: the runs of a requeued job, an id used again, a heterogeneous job.

Two records with one id, of one cluster, are of **one job** if its user and its name agree, and the later was submitted
at most `SOON_S` after the earlier ended; or at most `LATE_S`, where the earlier ended as jobs do that are requeued, or
the later counts restarts. Else the id was used again, as Slurm's counter begins anew: another job, `123#2`.

The **runs** of a job are summed. Records of one run (exports that overlap) count once, as the last says. Parts of a
heterogeneous job are one gang: it has the GPUs of all, from the first start to the last end, for a run time at the
GPU-hours of all.
"""

from typing import Final, NamedTuple

import polars as pl

from pointsman.workload.rules.clean import LINE

SOON_S: Final = 3600.0
"""A job is requeued when it ends; slurmctld forgets it minutes later (`MinJobAge`), after which it cannot be."""
LATE_S: Final = 30 * 86400.0
APART_S: Final = 60.0
"""Parts of a heterogeneous job are submitted at once."""
_REQUEUED: Final = ("NODE_FAIL", "PREEMPTED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "BOOT_FAIL", "SPECIAL_EXIT")

RUNS: Final = "further runs of a requeued job; their run times are added up"
AGAIN: Final = "repeated records of one run or submission"
PARTS: Final = "further parts of a heterogeneous job; their GPUs are one gang"


_OF_LIVES: Final = ("again", "known_end", "ended before", "user before", "name before", "status before")
"""Columns by which records are put together."""
_INSTEAD: Final = ("submit", "end", "elapsed")
"""What tells runs apart whose start is not known."""


_COMPARED: Final = ("user", "name", "status", "submit", "start")


class Jobs(NamedTuple):
    """Jobs, and what they were made of."""

    frame: pl.DataFrame
    """One row a job, with the columns of its first record, its number of `runs`, its `restarts` before the first of
    them, and `resized` if they had different GPUs.
    """
    merged: dict[str, int]
    """Records beyond the first of their job, by what they are."""
    reused: int
    """Jobs whose id an earlier one had."""
    mixed: list[str]
    """Heterogeneous jobs whose parts have GPUs of different types."""


def jobs_of(records: pl.DataFrame) -> Jobs:
    """The jobs of these records, none of which is a step."""
    several = records["cluster"].drop_nulls().n_unique() > 1
    named = pl.format("{}/{}", pl.col("cluster").fill_null("?"), "job_id") if several else pl.col("job_id")
    records = records.with_columns(job_id=named, runs=pl.lit(1), resized=pl.lit(False), life=pl.lit(0))
    twice = records["job_id"].is_duplicated() & records["job_id"].is_not_null()
    merged, jobs = {}, records
    if twice.any():
        lived = _lives(records.filter(twice))
        runs = lived.filter(~pl.col("again"))
        once = _sum_runs(runs)
        merged = {RUNS: runs.height - once.height, AGAIN: lived.height - runs.height}
        jobs = pl.concat([records.filter(~twice), once.select(records.columns)]).sort(LINE)
    gangs, parts, mixed = _gangs(jobs)
    named, reused = _distinct(gangs)
    return Jobs(named, merged | {PARTS: parts}, reused, mixed)


def _distinct(jobs: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Appends `#2` to an id that an earlier job had, and so on; returns how many were renamed, too."""
    if not jobs["job_id"].is_duplicated().any():
        return jobs, 0
    turn = pl.struct(pl.col("submit").fill_null(float("inf")), LINE).rank("ordinal").over("job_id")
    again = (turn > 1) & pl.col("job_id").is_not_null()
    named = jobs.with_columns(job_id=pl.when(again).then(pl.format("{}#{}", "job_id", turn)).otherwise("job_id"))
    return named, int(jobs.select(again.sum()).item())


def _lives(records: pl.DataFrame) -> pl.DataFrame:
    """Sorts records by id and time; `life` counts the jobs that had the id before, and `again` marks records of a run
    that a later one tells of, too.
    """
    known_end = pl.coalesce("end", pl.col("start") + pl.col("elapsed"), "submit")
    in_order = records.sort("job_id", "submit", "start", LINE, nulls_last=True).with_columns(known_end=known_end)
    in_order = in_order.with_columns(
        pl.col("known_end").cum_max().shift(1).over("job_id").alias("ended before"),
        *(pl.col(name).shift(1).over("job_id").alias(f"{name} before") for name in _COMPARED),
    )
    requeued = pl.col("status before").is_in(_REQUEUED).fill_null(False) | (pl.col("restarts") > 0)
    late = pl.col("submit") - pl.col("ended before") > pl.when(requeued).then(LATE_S).otherwise(SOON_S)
    differs = pl.any_horizontal(
        (pl.col(name) != pl.col(f"{name} before")).fill_null(False) for name in ("user", "name")
    )
    same_run = (pl.col("submit") == pl.col("submit before")) & (pl.col("start") == pl.col("start before"))
    anew = ((late.fill_null(False) | differs) & ~same_run.fill_null(False)).cast(pl.Int32)
    lived = in_order.with_columns(life=anew.cum_sum().over("job_id"))
    return lived.with_columns(again=_again())


def _again() -> pl.Expr:
    """Which records are of a run that another record tells of, too: a later one, or one with an end."""
    life = ["job_id", "life"]
    started_too = (~pl.col("waiting")).any().over([*life, "submit"])
    unknown = pl.col("start").is_null()
    run = [*life, "waiting", "start", *(pl.when(unknown).then(name).alias(f"{name} of it") for name in _INSTEAD)]
    ended = pl.col("end").is_not_null().cast(pl.Int8).alias("ended")
    latest = pl.struct(ended, "elapsed", LINE).rank("ordinal", descending=True).over(run) == 1
    return ~latest | (pl.col("waiting") & started_too)


def _sum_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """One row a job, of its runs."""
    ran, gpus, elapsed = ~pl.col("waiting"), pl.col("gpus"), pl.col("elapsed")
    with_gpus = ran & ((gpus > 0) | pl.col("no_share").is_not_null())
    shape = ["gpus", "gpu_type", "fraction", "no_share", "no_share_gpus", "nodes", "node_list"]
    chosen = {name: pl.col(name).filter(with_gpus).first() for name in shape}
    share = gpus * pl.col("fraction").fill_null(1.0)
    gpu_s, first_share = (share * elapsed).filter(ran).sum(), share.filter(ran & (gpus > 0)).first()
    last = ["status", "limit", "qos"]
    of_last_run = ["end", "partition", "queue"]
    kept = [name for name in runs.columns if name not in _OF_LIVES]
    taken = {*shape, *last, *of_last_run, "job_id", "life", "elapsed", "waiting", "runs", "resized", "restarts", LINE,
             "start", "arrival"}  # fmt: skip
    resized = share.filter(ran & (gpus > 0)).n_unique() > 1
    return (
        runs.group_by("job_id", "life", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in kept if name not in taken),
            **{name: pl.coalesce(one, pl.col(name).first()) for name, one in chosen.items()},
            **{name: pl.col(name).last() for name in last},
            **{name: pl.coalesce(pl.col(name).filter(ran).last(), pl.col(name).last()) for name in of_last_run[1:]},
            end=pl.col("end").filter(ran).last(),
            start=pl.col("start").filter(ran).min(),
            arrival=pl.col("arrival").min(),
            elapsed=pl.when(resized).then(gpu_s / first_share).otherwise(elapsed.filter(ran).sum()),
            waiting=pl.col("waiting").all(),
            runs=ran.sum().cast(pl.Int32),
            resized=resized,
            restarts=pl.coalesce(pl.col("restarts").filter(ran).min(), pl.col("restarts").max()),
            **{LINE: pl.col(LINE).min()},
        )
        .select(kept)
    )


def _gangs(jobs: pl.DataFrame) -> tuple[pl.DataFrame, int, list[str]]:
    """Joins the parts of each heterogeneous job into one; returns how many became part of another, and the ids of those
    with different types of GPUs.
    """
    of_gang = jobs["gang"].is_not_null()
    if not of_gang.any():
        return jobs, 0, []
    parts = _submissions(jobs.filter(of_gang))
    gpus, types = pl.col("gpus"), pl.col("gpu_type").drop_nulls().unique(maintain_order=True)
    holds = (gpus > 0).fill_null(False)
    several = holds.sum() > 1
    telling = holds | ~holds.any()  # parts without GPUs may go on for long
    each = (gpus / pl.col("nodes")).filter(holds)
    sliced = pl.col("no_share").is_not_null() | (pl.col("fraction").is_not_null() & several)
    no_share = pl.coalesce("no_share", pl.format("slices of {}", pl.col("gpu_type").fill_null("GPUs")))
    made = {
        "node_list", "job_id", "gpus", "gpu_type", "fraction", "no_share", "no_share_gpus", "start", "end", "arrival",
        "elapsed", "nodes", "waiting", "partition", "resized", LINE,
    }  # fmt: skip
    lasted = pl.col("elapsed").filter(holds)
    uneven = (holds.sum() > 1) & (lasted.n_unique() > 1)
    at_gpu_time = (gpus * pl.col("elapsed")).filter(holds).sum() / gpus.sum()
    gangs = parts.group_by("cluster", "gang", "submission", maintain_order=True).agg(
        *(pl.col(name).first() for name in jobs.columns if name not in made | {"cluster", "gang"}),
        job_id=pl.when(pl.len() > 1).then(_of_gang()).otherwise(pl.col("job_id").first()),
        partition=_each_once(pl.col("partition").filter(telling)),
        gpus=gpus.sum(),
        gpu_type=pl.when(types.len() > 0).then(types.sort().str.join("+")),
        fraction=pl.when(~several).then(pl.col("fraction").filter(holds).first()),
        no_share=no_share.filter(sliced).first(),
        no_share_gpus=pl.coalesce("no_share_gpus", gpus * pl.col("fraction").fill_null(1)).sum(),
        start=pl.col("start").filter(telling).min(),
        end=pl.when(pl.col("end").filter(telling).null_count() == 0).then(pl.col("end").filter(telling).max()),
        arrival=pl.col("arrival").min(),
        elapsed=pl.when(uneven).then(at_gpu_time).otherwise(pl.coalesce(lasted.first(), pl.col("elapsed").max())),
        resized=pl.col("resized").any() | uneven,
        nodes=pl.when(each.n_unique() == 1).then(pl.col("nodes").filter(holds).sum()),
        node_list=pl.col("node_list").drop_nulls().unique(maintain_order=True).str.join(","),
        waiting=pl.col("waiting").all(),
        members=pl.len(),
        types=types.len(),
        **{LINE: pl.col(LINE).min()},
    )
    mixed = gangs.filter((pl.col("types") > 1) & (pl.col("members") > 1))["job_id"].to_list()
    whole = pl.concat([jobs.filter(~of_gang), gangs.select(jobs.columns)]).sort(LINE)
    return whole, jobs.height - whole.height, mixed


def _submissions(parts: pl.DataFrame) -> pl.DataFrame:
    """Parts in order; `submission` tells those of one job from those of another that had the same id."""
    gang = ["cluster", "gang"]
    sooner = parts.sort(*gang, "submit", nulls_last=True)
    gap = (pl.col("submit") - pl.col("submit").shift(1)).over(gang)
    anew = (gap > APART_S).fill_null(False).cast(pl.Int32)
    return sooner.with_columns(submission=anew.cum_sum().over(gang)).sort("part", maintain_order=True)


def _each_once(lists: pl.Expr) -> pl.Expr:
    """The names in lists such as ``a,b``, those of all parts; null of none."""
    names = lists.str.split(",").explode().str.strip_chars().drop_nulls().unique(maintain_order=True)
    return pl.when(names.len() > 0).then(names.str.join(","))


def _of_gang() -> pl.Expr:
    """The id of the whole, with its cluster where ids have one."""
    prefix = pl.col("job_id").first().str.extract("^(.*/)").fill_null("")
    return prefix + pl.col("gang").first()
