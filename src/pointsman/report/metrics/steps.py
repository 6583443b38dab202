"""Means of what changes in steps."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def step_means(time_s: ArrayLike, values: ArrayLike, edges_s: ArrayLike) -> NDArray[np.float64]:
    """Time averages between consecutive edges (bins) of a value that holds from each sample to the next.

    Args:
        time_s: times of the samples, increasing (n).
        values: the value from then on (n); before the first sample it is the first.
        edges_s: edges of the bins, strictly increasing (bins + 1).
    """
    times, held = np.asarray(time_s, dtype=np.float64), np.asarray(values, dtype=np.float64)
    edges = np.asarray(edges_s, dtype=np.float64)
    times = np.concatenate(([min(times[0], edges[0]), *times[1:]], [max(times[-1], edges[-1]) + 1.0]))
    integral = np.concatenate(([0.0], np.cumsum(held * np.diff(times))))
    return np.diff(np.interp(edges, times, integral)) / np.diff(edges)
