"""The paper's simulated workload, as near as we can get: the jobs of Pollux's published workload, drawn again.

SJF-BSBF's own jobs are not published. Recalled of it: the six models of Pollux, 240 and 480 jobs on 64 GPUs, 30 on 16.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from pointsman.speed.profiles.catalogue import load_catalogue
from pointsman.workload import Workload, read_workload
from pointsman.workload.transforms.rescale import at_load

FILE = Path("samples") / "pollux" / "workload-1.csv"
HOUR_S = 3600.0
HOURS = 8
SMALL = 4
"""GPUs of the widest job that the paper calls small."""

FASTER = load_catalogue().gpu_types["t4"].relative_speed
"""Durations are of T4; ours are all shorter by what a T4 is slower than a V100, whatever the GPU type of a run."""


@cache
def published(data: Path) -> Workload:
    """The 160 jobs, their durations as on V100."""
    work = read_workload(data / FILE)
    return replace(work, jobs=work.jobs.with_columns(pl.col("duration_s") * FASTER))


def pollux_mix(
    data: Path, gpus: int, count: int, hours: float, seed: int, *, load: float | None = None, without: str = ""
) -> Workload:
    """`count` jobs submitted within `hours`, but for those of the model `without`.

    Every published job that fits comes as often as `count` allows, the rest is drawn from them without replacement, so
    that the few long ones are as frequent as published; in random order. Submits fall into the eighths of the span with
    the frequencies of the published hours, uniformly inside. With `load` the span is stretched to have just that load.
    """
    work, rng = published(data), np.random.default_rng((seed, gpus, count))
    fit = work.jobs.filter((pl.col("gpus") <= gpus) & (pl.col("model") != without))
    times, more = divmod(count, fit.height)
    rows = np.concatenate([np.tile(np.arange(fit.height), times), rng.permutation(fit.height)[:more]])
    hour = (rng.choice(work.jobs["submit_s"].to_numpy(), count) // HOUR_S).clip(max=HOURS - 1)
    submit_s = np.sort((hour + rng.random(count)) / HOURS) * hours * HOUR_S
    drawn = fit[rng.permutation(rows)].with_columns(
        submit_s=pl.Series(submit_s - submit_s[0]), job_id=pl.format("j{}", pl.int_range(pl.len()))
    )
    made = replace(work, jobs=drawn)
    return made if load is None else at_load(made, gpus, load)
