"""A lower bound on the mean JCT that no schedule can beat."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.jit.loaded import unit
from pointsman.engine.jit.units import ONE_MACHINE
from pointsman.engine.units.one_machine import ENDS, NOW

Floats = NDArray[np.float64]


def srpt_mean_jct_s(submit_s: Floats, work_s: Floats) -> float:
    """Mean JCT (s) of shortest-remaining-processing-time on one machine, which is the least possible there.

    Args:
        submit_s: submit times (n), in any order.
        work_s: time each job needs of the whole machine (n).

    Source: Schrage, "A proof of the optimality of the shortest remaining processing time discipline", 1968.
    """
    order = np.argsort(submit_s, kind="stable")
    left_s, told = np.empty(len(order)), np.zeros(2)
    waiting = unit(ONE_MACHINE).serve(submit_s[order], work_s[order], left_s, told)
    later_ends = told[NOW] + np.cumsum(np.sort(left_s[:waiting]))
    return float(told[ENDS] + later_ends.sum() - submit_s.sum()) / len(submit_s)


def lower_bound_s(submit_s: Floats, gpus: NDArray[np.int64], duration_s: Floats, cluster_gpus: int) -> float:
    """Lower bound (s) on the mean JCT of these jobs on a cluster of `cluster_gpus` GPUs.

    The larger of two: no job finishes sooner than alone (the mean duration), and one machine as fast as all GPUs
    together, which may split any job as it likes, does no worse than the cluster (SRPT with jobs of
    ``gpus * duration / cluster_gpus``). It holds for any subset of the jobs of a run, as long as `duration_s` is what
    each takes at its fastest. O(n log n).
    """
    since_first_s, work_s = submit_s - submit_s.min(), gpus * duration_s / cluster_gpus
    key = b"".join(hashlib.blake2b(values.tobytes()).digest() for values in (since_first_s, work_s))
    if key not in _KNOWN:
        _KNOWN[key] = srpt_mean_jct_s(since_first_s, work_s)
    return max(float(duration_s.mean()), _KNOWN[key])


_KNOWN: dict[bytes, float] = {}
"""The policies of a comparison have their jobs in common."""
