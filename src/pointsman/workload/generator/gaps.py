"""Give arrival times the gaps of the log and keep their bursts."""

import numpy as np

from pointsman.workload.generator.profile import DAY_S, HOUR_S, Floats

_PASSES = 12
_CLOSE_S = 2 * HOUR_S
"""Mean drift at which the passes stop."""


def quantiles(gaps_s: Floats, points: int) -> Floats:
    """Quantiles of `gaps_s` at probabilities (1 − cos πi/n)/2, dense at both ends."""
    return np.quantile(gaps_s, _probabilities(points), method="inverted_cdf")


def with_gaps(times_s: Floats, table: Floats, mean_gap_s: float) -> Floats:
    """`times_s` (ascending, from 0) moved so that the gaps between them have the quantiles `table`, in whole seconds.

    The k-th shortest gap becomes the k-th shortest of the table, so long and short gaps stay where they were. Left
    alone that would move the busy days; a few passes stretch and shrink each day until all are where they were.
    """
    gaps = np.diff(times_s)
    wanted = _gaps_of_table(gaps.size, table, mean_gap_s)
    times_s = times_s * (wanted.sum() / times_s[-1])
    day = np.unique(np.floor_divide(times_s[1:], DAY_S), return_inverse=True)[1]
    length = np.maximum(np.bincount(day, gaps), 1.0)
    weight = np.log(np.maximum(gaps, 0.05))
    best, error = wanted, np.inf
    for _ in range(_PASSES):
        mapped = np.empty_like(wanted)
        mapped[np.argsort(weight, kind="stable")] = wanted
        drift = float(np.abs(np.cumsum(mapped) - times_s[1:]).mean())
        if drift < error:
            best, error = mapped, drift
        if error < _CLOSE_S:
            break
        weight += np.log(length / np.maximum(np.bincount(day, mapped), 1.0))[day]
    return np.concatenate(([0.0], np.cumsum(best)))


def _gaps_of_table(n: int, table: Floats, mean_gap_s: float) -> Floats:
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
