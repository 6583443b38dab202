"""The benchmark's workload: the prototype's mixture, with the load realised."""

import numpy as np
import polars as pl

from pointsman.workload import Workload

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
SHARES = (0.70, 0.10, 0.08, 0.08, 0.025, 0.010, 0.005)
MEDIAN_S, SIGMA, LONGEST_S = 900.0, 1.8, 14 * 86_400.0


def mixture(jobs: int, gpus: int, load: float, seed: int = 1, widest: int | None = None) -> Workload:
    """`jobs` Poisson arrivals of narrow and wide gangs with lognormal durations.

    On a cluster of `gpus` GPUs Σ gpus · duration / (gpus · submit span) is exactly `load`. Gangs wider than `widest`,
    by default than the cluster, are narrowed to it.
    """
    rng = np.random.default_rng(seed)
    width = np.minimum(rng.choice(WIDTHS, jobs, p=SHARES), widest or gpus)
    duration_s = np.minimum(MEDIAN_S * np.exp(SIGMA * rng.standard_normal(jobs)), LONGEST_S)
    submit_s = np.cumsum(rng.exponential(1.0, jobs))
    submit_s -= submit_s[0]
    submit_s *= (width * duration_s).sum() / (gpus * load) / submit_s[-1]
    frame = pl.DataFrame({"submit_s": submit_s, "gpus": width, "duration_s": duration_s})
    return Workload.of(frame, source=f"mixture({jobs=}, {gpus=}, {load=}, {seed=}, {widest=})")
