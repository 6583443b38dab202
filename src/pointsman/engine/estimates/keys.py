"""What estimates from history know jobs by: their size, queue and user."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.estimates.history import FEATURES, HEAD, KEYS, WEIGHTS

if TYPE_CHECKING:
    import polars as pl

CLASSES = (2, 5, 9)
"""GPUs from which on a job is of the next size class."""


class History(NamedTuple):
    """Before the first job has finished."""

    numbers: NDArray[np.float64]
    """What ``State.history`` begins with."""
    keys: NDArray[np.int64]
    """(jobs, KEYS) by row: where each key begins there."""


def history_of(jobs: "pl.DataFrame") -> History:
    """The history of a run of these jobs, in row order; those without a queue, or without a user, share one."""
    import polars as pl

    size = pl.lit(0, pl.Int64)
    for gpus in CLASSES:
        size = size + (pl.col("gpus") >= gpus)
    known = jobs.select("gpus", pl.col("queue", "user").fill_null(""), size=size, all=pl.lit(0))
    columns = (("all",), ("size",), ("queue", "size"), ("queue", "gpus"), ("user", "size"), ("user", "gpus"))
    keys = np.empty((len(jobs), KEYS), np.int64)
    begins = HEAD
    for k, names in enumerate(columns):
        number = known.select(pl.struct(names).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
        keys[:, k] = begins + 2 * number
        begins += 2 * (int(number.max(initial=-1)) + 1)
    numbers = np.zeros(begins)
    numbers[WEIGHTS : WEIGHTS + FEATURES][2] = 1.0
    return History(numbers, keys)


NOTHING = History(np.zeros(1), np.zeros((1, 1), np.int64))
"""The history of runs without estimates from it."""
