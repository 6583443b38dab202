"""Give arrival times the gaps of the log and keep their bursts."""

import numpy as np

from pointsman.workload.generator.profile import HOUR_S, Floats

_PASSES = 12
_BLOCK_S = 2 * HOUR_S


def quantiles(gaps_s: Floats, points: int) -> Floats:
    """Quantiles of `gaps_s` at probabilities (1 − cos πi/n)/2, dense at both ends."""
    return np.quantile(gaps_s, _probabilities(points), method="inverted_cdf")


def with_gaps(times_s: Floats, table: Floats, mean_gap_s: float) -> Floats:
    """`times_s` (ascending) moved so that the gaps between them have the quantiles `table`, in whole seconds.

    The k-th shortest gap becomes the k-th shortest of the table, so long and short gaps stay where they were. Left
    alone that would move the busy hours; a few passes pull each block of two hours back to where it was.
    """
    gaps = np.diff(times_s)
    wanted = _wanted(gaps.size, table, mean_gap_s)
    block = np.floor((times_s[1:] + times_s[:-1]) / (2 * _BLOCK_S)).astype(np.int64)
    weight = np.log(np.maximum(gaps, 0.05))
    before = np.bincount(block, gaps)
    best, error = gaps, np.inf
    for _ in range(_PASSES):
        mapped = np.empty_like(wanted)
        mapped[np.argsort(weight, kind="stable")] = wanted
        drift = np.abs(np.cumsum(mapped) - times_s[1:] + times_s[0]).mean()
        if drift < error:
            best, error = mapped, drift
        after = np.bincount(block, mapped)
        weight += 0.5 * np.log(np.maximum(before, 1.0) / np.maximum(after, 1.0))[block]
    return np.concatenate(([0.0], np.cumsum(best)))


def _wanted(n: int, table: Floats, mean_gap_s: float) -> Floats:
    """`n` gaps of the table, ascending, in whole seconds, their mean that of the log: the longest 2 % make it so."""
    at = (np.arange(n) + 0.5) / n
    out = np.rint(np.interp(at, _probabilities(table.size), table))
    tail = out[-max(1, n // 50) :]
    missing = mean_gap_s * n - (out.sum() - tail.sum())
    floor = out[-tail.size - 1] if n > tail.size else 0.0
    tail[:] = np.maximum(floor, np.rint(tail * max(missing / max(tail.sum(), 1.0), 0.0)))
    out[-1] = max(floor, out[-1] + np.rint(mean_gap_s * n - out.sum()))
    return np.sort(out)


def _probabilities(points: int) -> Floats:
    return (1 - np.cos(np.pi * np.arange(points) / (points - 1))) / 2
