"""Jobs of the eight models of DL2, on which placement is compared (``docs/papers/marl.md`` §4).

The models are those that Zhao and Wu's laboratory published measurements of (pengyanghua/DL2). Ours: the sizes, the
durations, which are ITP's in the mean and in their spread, and the arrivals, evenly by chance.
"""

from typing import Final

import numpy as np
import polars as pl

from pointsman.workload.columns import complete
from pointsman.workload.provenance import Provenance, Quality
from pointsman.workload.table import Workload

MODELS: Final = ("resnet50", "vgg16", "resnext110", "inception_bn", "seq2seq", "cnn_text", "dssm", "wlm")
SIZES: Final = {
    "dl2-philly": ((1, 2, 4, 8, 16), (0.70, 0.08, 0.08, 0.10, 0.04)),
    "dl2-1-8": ((1, 2, 4, 8), (0.25,) * 4),
    "dl2-1-16": (tuple(range(1, 17)), (1 / 16,) * 16),
}
"""By name: GPUs that jobs request, and the share of the jobs that request each number."""
LOG_MEAN, LOG_SIGMA, LONGEST_S = 9.02, 1.22, 2 * 86400.0
"""Mean and standard deviation of the logarithms of durations in ITP's log, and the longest duration, in seconds."""


def dl2(name: str, jobs: int, seed: int, *, cluster_gpus: int, load: float | None) -> Workload:
    """`jobs` jobs with the sizes of `name`, all drawn from `seed`.

    Args:
        name: of `SIZES`.
        jobs: how many.
        seed: everything random follows from it, the same on every machine.
        cluster_gpus: GPUs that `load` is meant for.
        load: Σ gpus · duration / (cluster_gpus · span of the arrivals). None: all are submitted at once.
    """
    draw = np.random.default_rng(seed)
    gpus = np.minimum(draw.choice(SIZES[name][0], jobs, p=SIZES[name][1]), cluster_gpus)
    model = draw.choice(len(MODELS), jobs)
    duration_s = np.minimum(draw.lognormal(LOG_MEAN, LOG_SIGMA, jobs), LONGEST_S)
    span_s = 0.0 if load is None else float((gpus * duration_s).sum()) / (cluster_gpus * load)
    frame = pl.DataFrame(
        {
            "submit_s": np.sort(draw.uniform(0, span_s, jobs)),
            "gpus": gpus,
            "duration_s": duration_s,
            "model": pl.Series(MODELS).gather(model),
        }
    )
    command = f"dl2({name=}, {jobs=}, {seed=}, {cluster_gpus=}, {load=})"
    quality = Quality(jobs, jobs, notes=("sizes are ours; durations are lognormal, like ITP's",))
    return Workload(complete(frame), quality, Provenance(f"generated like {name}", "", "generated", command, seed=seed))
