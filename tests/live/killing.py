"""Forty jobs of three seconds or less on eight declared GPUs, which outlast five kills on a fast machine too."""

import random

import polars as pl

from pointsman.workload import Workload

from .toy import Case

JOBS = 40
_draw = random.Random(4)
STEPS = [_draw.choice([5, 15, 40, 80, 120]) for _ in range(JOBS)]


def case() -> Case:
    """A policy that preempts: by attained service, with thresholds that such jobs pass."""
    gpus = [random.Random(k).choice([1, 1, 1, 2, 4]) for k in range(JOBS)]
    jobs = pl.DataFrame({"submit_s": [0.0] * JOBS, "gpus": gpus, "duration_s": [0.02 * steps for steps in STEPS]})
    fast = {"start_s": 0.2, "stop_s": 0.2, "restore_s": 0.2}
    return Case(Workload.of(jobs), "2x4", "las", {"thresholds_gpu_s": [0.3]}, overheads=fast)
