"""Time of one training iteration of a gang (``docs/background/speed.md``)."""

from pointsman.speed.laws.allreduce import GangShape, Network, all_reduce_s
from pointsman.speed.laws.step_time import accumulated_s, overlapped_s
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
    last_s = overlapped_s(compute_s, communication_s, delta) if communication_s > 0.0 else compute_s
    return float(accumulated_s(compute_s, last_s, accumulation))


def exposed_s(iteration_s: float, compute: Compute, per_gpu_batch: float, accumulation: int = 1) -> float:
    """The part of an iteration that waits for communication: ``t_iter − s·t_comp``."""
    return iteration_s - accumulation * compute.time_s(per_gpu_batch)
