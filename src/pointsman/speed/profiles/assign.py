"""Models for the jobs of a trace that names none (``--assign-models SEED``)."""

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean

if TYPE_CHECKING:
    import polars as pl

Shares = dict[str, int]

MIXES: Final[dict[str, tuple[tuple[int, Shares], ...]]] = {
    "typical": (
        (1, {"resnet18": 5, "resnet50": 4, "ncf": 3, "lstm": 3, "bert": 2, "deepspeech2": 1, "vgg16": 1, "yolov3": 1}),
        (4, {"resnet50": 6, "bert": 4, "transformer": 3, "vgg16": 3, "inception3": 2, "deepspeech2": 1, "yolov3": 1}),
        (8, {"bert": 6, "resnet50": 6, "gpt2": 3, "vgg19": 3, "transformer": 2}),
        (1 << 62, {"gpt2": 7, "bert": 6, "resnet50": 5, "vgg19": 2}),
    ),
    "insensitive": ((1 << 62, {"a2c": 1, "dqn": 1, "googlenet": 1, "shufflenet_v2": 1}),),
}
"""By name: up to how many GPUs a job has, and the shares of models among such jobs, ours. ``typical``: small vision and
recommendation models on one GPU, ever more language models on many. ``insensitive``: models that hardly feel where they
run.
"""


def assign_models(workload_jobs: "pl.DataFrame", seed: int, *, mix: str = "typical") -> "pl.DataFrame":
    """The jobs, with a model for each that has none; their ``batch_size`` becomes null, the model's own.

    A job's model is drawn with the shares that `MIXES` gives for its GPU count, from a number that
    depends on the seed and the job's row alone: the same row gets the same model whatever the others are.

    Raises:
        UsageError: an unknown mix.
    """
    import polars as pl

    if mix not in MIXES:
        raise UsageError(f"unknown mix of models '{mix}' ({did_you_mean(mix, MIXES)})")
    drawn = pl.Series("model", _draw(workload_jobs["gpus"].to_numpy(), seed, MIXES[mix]), dtype=pl.String)
    nameless = pl.col("model").is_null()
    return workload_jobs.with_columns(
        pl.when(nameless).then(drawn).otherwise(pl.col("model")).alias("model"),
        pl.when(nameless).then(None).otherwise(pl.col("batch_size")).alias("batch_size"),
    )


def _draw(gpus: NDArray[np.int64], seed: int, classes: tuple[tuple[int, Shares], ...]) -> NDArray[np.object_]:
    uniform = _uniform(seed, len(gpus))
    of_class = np.searchsorted([largest for largest, _ in classes], gpus)
    models = np.empty(len(gpus), dtype=object)
    for i, (_, shares) in enumerate(classes):
        own = of_class == i
        upper = np.cumsum(list(shares.values())) / sum(shares.values())
        models[own] = np.array(list(shares), dtype=object)[np.searchsorted(upper, uniform[own], side="right")]
    return models


def _uniform(seed: int, rows: int) -> NDArray[np.float64]:
    """(rows,) numbers in [0, 1): SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) of seed and row."""
    with np.errstate(over="ignore"):
        start = _mix(np.uint64(seed % (1 << 64)) + np.zeros(1, np.uint64))
        z = _mix(start + np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
