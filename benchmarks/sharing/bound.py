"""A lower bound on the mean JCT where two jobs may be on one GPU.

One machine of all GPUs no longer bounds it: a GPU with two jobs does more than one job's work. Give each model a weight
w, with w ≤ 1 and w_a / ξ(a | b) + w_b / ξ(b | a) ≤ 1 for every pair: then no GPU ever does more than 1 of weighted work
per unit of time, alone or shared, and SRPT on one machine, of weighted work, bounds the mean again. Of all such weights
those that leave most work are taken, which a linear program finds. Accumulation and place only slow jobs down.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl

from pointsman.report.metrics.lower_bound import srpt_mean_jct_s
from pointsman.speed.interference.slow_downs import load_interference
from pointsman.speed.profiles.catalogue import load_catalogue


def weights(work: Mapping[str, float], gpu_type: str, interference: str) -> dict[str, float]:
    """The weight of each model, of which `work` GPU-seconds are to be done."""
    from scipy.optimize import linprog

    told, names = load_interference(interference, load_catalogue()), sorted(work)
    rows = []
    for i, a in enumerate(names):
        for j, b in enumerate(names[i:], i):
            row = np.zeros(len(names))
            row[i] += 1 / told.slow_down(gpu_type, a, b)
            row[j] += 1 / told.slow_down(gpu_type, b, a)
            rows.append(row)
    found = linprog([-work[name] for name in names], A_ub=np.array(rows), b_ub=np.ones(len(rows)), bounds=(0.0, 1.0))
    return dict(zip(names, found.x.tolist(), strict=True))


def shared_bounds_s(jobs: pl.DataFrame, gpus: int, gpu_type: str, interference: str) -> tuple[float, float]:
    """Lower bounds (s) on the mean JCT and on the makespan of these jobs, all with models, on `gpus` GPUs of a type."""
    gpu_s = pl.col("gpus") * pl.col("duration_s")
    work = dict(jobs.group_by("model").agg(gpu_s.sum()).rows())
    weight = weights(work, gpu_type, interference)
    size_s = (jobs.select(gpu_s).to_series() * jobs["model"].replace_strict(weight, return_dtype=pl.Float64)) / gpus
    submit_s = jobs["submit_s"].to_numpy()
    srpt_s = srpt_mean_jct_s(submit_s - submit_s.min(), size_s.to_numpy())
    alone_s, longest_s = jobs["duration_s"].mean(), jobs["duration_s"].max()
    return max(float(alone_s), srpt_s), max(float(longest_s), float(size_s.sum()))  # ty: ignore
