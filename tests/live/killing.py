"""Jobs of three seconds or less on eight declared GPUs: forty outlast ten kills on a fast machine too, 24 five."""

import random

import polars as pl

from pointsman.workload import Workload

from .toy import Case

_draw = random.Random(4)
STEPS = [_draw.choice([5, 15, 40, 80, 120]) for _ in range(40)]
"""Of 20 ms, by job."""


def case(many: int) -> Case:
    """A policy that preempts: by attained service, with thresholds that such jobs pass."""
    gpus = [random.Random(k).choice([1, 1, 1, 2, 4]) for k in range(many)]
    durations = [0.02 * steps for steps in STEPS[:many]]
    jobs = pl.DataFrame({"submit_s": [0.0] * many, "gpus": gpus, "duration_s": durations})
    fast = {"start_s": 0.2, "stop_s": 0.2, "restore_s": 0.2}
    return Case(Workload.of(jobs), "2x4", "las", {"thresholds_gpu_s": [0.3]}, overheads=fast)
