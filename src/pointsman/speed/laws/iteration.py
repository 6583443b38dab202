"""Time of one training iteration of a gang (``docs/background/speed.md``)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pointsman.speed.laws.allreduce import GangShape, Network, all_reduce_s
from pointsman.speed.profiles.profiles import Compute, ModelProfile


def iteration_time_s(
    profile: ModelProfile,
    compute: Compute,
    shape: GangShape,
    network: Network,
    per_gpu_batch: float,
    accumulation: int = 1,
) -> float:
    """One optimizer step in seconds: ``(s−1)·t_comp(b) + (t_comp(b)^δ + t_comm^δ)^(1/δ)``.

    Args:
        profile: for the gradient's size and the overlap exponent δ, unless `compute` has its own.
        compute: α and β of the model on the gang's GPU type (`Catalogue.compute`).
        shape: how the gang lies in the cluster; its GPUs matter only through it.
        network: bandwidth and latency of the levels it spans.
        per_gpu_batch: samples b of one pass on one GPU.
        accumulation: passes s before the gradients are exchanged; only the last one overlaps.
    """
    compute_s = compute.time_s(per_gpu_batch)
    communication_s = all_reduce_s(profile.gradient.bytes, shape, network)
    delta = profile.overlap.delta if compute.delta is None else compute.delta
    return (accumulation - 1) * compute_s + overlapped_s(compute_s, communication_s, delta)


def exposed_s(iteration_s: float, compute: Compute, per_gpu_batch: float, accumulation: int = 1) -> float:
    """The part of an iteration that waits for communication: ``t_iter − s·t_comp``."""
    return iteration_s - accumulation * compute.time_s(per_gpu_batch)


def overlapped_s(compute_s: float, communication_s: float, delta: float) -> float:
    """``(x^δ + y^δ)^(1/δ)``: the sum at δ = 1, the longer of the two at δ = ∞."""
    longer, shorter = max(compute_s, communication_s), min(compute_s, communication_s)
    if shorter == 0 or delta == float("inf"):
        return longer
    return longer * (1 + (shorter / longer) ** delta) ** (1 / delta)


def overlapped(compute_s: ArrayLike, communication_s: ArrayLike, delta: ArrayLike) -> NDArray[np.float64]:
    """``(x^δ + y^δ)^(1/δ)`` of arrays, as `overlapped_s`; x must be above 0."""
    longer, shorter = np.maximum(compute_s, communication_s), np.minimum(compute_s, communication_s)
    return longer * (1 + (shorter / longer) ** np.asarray(delta)) ** (1 / np.asarray(delta))
