"""α and β of a model from measured step times."""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pointsman.errors import InputError
from pointsman.speed.profiles.profiles import Compute

Line = tuple[float, float]


def fit_compute(per_gpu_batch: ArrayLike, step_s: ArrayLike, source: str) -> Compute:
    """The line ``alpha + beta·batch`` (both ≥ 0) with the least sum of absolute relative errors.

    Such a line passes through two of the points, or through one and is flat or starts at 0, so all
    are tried: exact, and not moved by an outlier. With one point it is flat.

    Args:
        per_gpu_batch: (n,) samples per GPU, n ≥ 1; keep n below a few hundred.
        step_s: (n,) measured seconds of a step on one GPU, > 0.
        source: where the measurements come from.

    Raises:
        InputError: no points, or a batch or time that is not a positive number.
    """
    batch, step = np.atleast_1d(np.asarray(per_gpu_batch, float)), np.atleast_1d(np.asarray(step_s, float))
    if batch.shape != step.shape or batch.ndim != 1 or not len(batch):
        cause = f"{batch.size} batches and {step.size} step times"
        raise InputError(cause, fix="give one time for each batch")
    if not (np.isfinite(batch).all() and np.isfinite(step).all() and (batch > 0).all() and (step > 0).all()):
        raise InputError("batches and step times must be positive numbers", fix="leave the others out")
    lines = _candidates(batch, step)
    alpha, beta = min(lines, key=lambda line: float(np.abs((line[0] + line[1] * batch) / step - 1).sum()))
    return Compute(alpha_s=alpha, beta_s_per_sample=beta, source=source)


def _candidates(batch: NDArray[np.float64], step: NDArray[np.float64]) -> list[Line]:
    flat = [(float(t), 0.0) for t in step]
    from_zero = [(0.0, float(t / b)) for b, t in zip(batch, step, strict=True)]
    pairs = combinations(range(len(batch)), 2)
    return flat + from_zero + [line for i, j in pairs for line in _through(batch, step, i, j)]


def _through(batch: NDArray[np.float64], step: NDArray[np.float64], i: int, j: int) -> list[Line]:
    if batch[i] == batch[j]:
        return []
    beta = float((step[j] - step[i]) / (batch[j] - batch[i]))
    alpha = float(step[i] - beta * batch[i])
    return [(alpha, beta)] if alpha >= 0 and beta >= 0 else []
