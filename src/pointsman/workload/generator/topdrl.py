"""Jobs as the simulator behind TopDRL draws them (``docs/papers/topdrl.md`` §3; ``data_gen_with_p`` of
djjbxxz/Proximity-DRL).

Half of the jobs are short, a tenth medium, a fifth long and a fifth extreme, in steps of time; and so are, shuffled
apart, their GPUs. Ours: the models, for theirs are 35 image networks by parameters and operations, and ours those of
the catalogue with measured times; and the submit times, for theirs are one new job for each that starts, which is a
queue that always has as many as it shows: all at once.
"""

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.workload.columns import complete
from pointsman.workload.provenance import Provenance, Quality
from pointsman.workload.table import Workload

STEP_S: Final = 20e-3 * 256 * 10_000 / 10.6 / 20
"""A step of time, 241.5 s: a twentieth of 10,000 iterations of 256 samples of VGG-19 (20 GFLOP) at 10.6 TFLOP/s."""
LONGEST: Final = 20
"""Steps."""
WIDEST: Final = 8
"""GPUs."""
SHARES: Final = (0.5, 0.1, 0.2, 0.2)
LENGTHS: Final = (0.3, 0.4, 0.8, 1.0)
"""The longest job of each group, as a share of the longest of all."""
WIDTHS: Final = (0.2, 0.3, 0.6, 1.0)
"""The widest job of each group, as a share of the widest of all."""
SAMPLES: Final = (32, 64, 128, 256)
"""Samples of a minibatch on each GPU."""
MODELS: Final = (
    "alexnet", "googlenet", "inception3", "inception4", "mobilenet_v3", "resnet18", "resnet50", "resnet101",
    "resnet152", "shufflenet_v2", "vgg11", "vgg16", "vgg19",
)  # fmt: skip
"""Image classifiers of the catalogue."""


def generate_topdrl(
    jobs: int,
    seed: int,
    *,
    longest: int = LONGEST,
    widest: int = WIDEST,
    cluster_gpus: int = 32,
    load: float | None = None,
) -> Workload:
    """`jobs` jobs of up to `longest` steps and `widest` GPUs, all drawn from `seed`.

    Args:
        jobs: 30 an episode in theirs, or 50.
        seed: everything random follows from it, the same on every machine.
        longest: of a job, in steps of `STEP_S`; 20 or 40 in theirs.
        widest: gang.
        cluster_gpus: GPUs that `load` is meant for.
        load: Σ gpus · duration / (cluster_gpus · submit span), realised exactly; gaps are exponential. None: all are
            submitted at once.
    """
    bodies, arrivals = (np.random.default_rng((seed, k)) for k in range(2))
    steps, gpus = _draw(jobs, longest, LENGTHS, bodies), _draw(jobs, widest, WIDTHS, bodies)
    model, samples = bodies.integers(len(MODELS), size=jobs), bodies.choice(SAMPLES, jobs)
    duration_s = steps * STEP_S
    frame = pl.DataFrame(
        {
            "submit_s": _submits(arrivals, jobs, float((gpus * duration_s).sum()) / cluster_gpus, load),
            "gpus": gpus,
            "duration_s": duration_s,
            "model": pl.Series(MODELS).gather(model),
            "batch_size": samples * gpus,
        }
    )
    command = f"topdrl({jobs=}, {seed=}, {longest=}, {widest=}, {cluster_gpus=}, {load=})"
    note = "models are image classifiers of the catalogue, not the authors' table; durations are on the fewest racks"
    quality = Quality(jobs, jobs, notes=(note,))
    return Workload(complete(frame), quality, Provenance("generated like topdrl", "", "generated", command, seed=seed))


def _submits(rng: np.random.Generator, jobs: int, work_s: float, load: float | None) -> NDArray[np.float64]:
    """Submit times over the span in which `work_s` of the whole cluster make this load."""
    if load is None or jobs < 2:
        return np.zeros(jobs)
    at = np.concatenate([[0.0], np.cumsum(rng.exponential(size=jobs - 1))])
    return at * (work_s / load / at[-1])


def _draw(jobs: int, most: int, bands: tuple[float, ...], rng: np.random.Generator) -> NDArray[np.int64]:
    """(jobs,) whole numbers from 1 to `most`, those of each band as many as its share, shuffled."""
    counts = [int(jobs * share) for share in SHARES[:-1]]
    counts.append(jobs - sum(counts))
    ends = [band * (most + 1) for band in bands]
    lows = [1, max(2, int(ends[0])), int(ends[1]), int(ends[2])]
    highs = [max(2, int(np.ceil(ends[0]))), int(ends[1]), int(ends[2]), most + 1]
    drawn = [_integers(rng, low, high, n) for low, high, n in zip(lows, highs, counts, strict=True)]
    numbers = np.minimum(np.concatenate(drawn), most)
    rng.shuffle(numbers)
    return numbers


def _integers(rng: np.random.Generator, low: int, high: int, n: int) -> NDArray[np.int64]:
    """So many whole numbers from `low` to below `high`, which is above it."""
    low = max(1, low)
    return rng.integers(low, max(low + 1, high), n)
