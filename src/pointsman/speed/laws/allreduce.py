"""Time of a hierarchical ring all-reduce (``docs/background/speed.md``)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.laws.step_time import ring_bandwidth, ring_s
from pointsman.types import LOCALITIES, Locality

LEVELS = (Locality.NODE, Locality.RACK, Locality.POD, Locality.CLUSTER)
"""Levels with a ring: GPUs of a node, nodes of a rack, racks of a pod, pods of the cluster."""


class Network(NamedTuple):
    """What the GPUs of one type are joined by, at each `Locality` (the GPU entry is not used)."""

    bandwidth_bytes_per_s: NDArray[np.float64]
    """(5,) each GPU's own share of the links of that level, in bytes/s."""
    latency_s: NDArray[np.float64]
    """(5,) time of one step between neighbours of that level's ring."""
    sharers: NDArray[np.float64] = np.ones(LOCALITIES)
    """(5,) GPUs of a node that share the link of that level (its network card); with fewer at work each gets more."""


class GangShape(NamedTuple):
    """How a gang is nested: for each of `LEVELS`, how many members its groups have.

    A group of NODE has GPUs for members, one of RACK nodes, one of POD racks, that of CLUSTER pods.
    """

    largest: tuple[int, int, int, int]
    smallest: tuple[int, int, int, int]

    @property
    def locality(self) -> Locality:
        """The tightest level that holds the gang."""
        return max((level for level, p in zip(LEVELS, self.largest, strict=True) if p > 1), default=Locality.GPU)


def all_reduce_s(size_bytes: float, shape: GangShape, network: Network) -> float:
    """All-reduce of `size_bytes` per GPU over a gang, in seconds: one ring a level, one after the other.

    Each level reduces what one member of the level below holds of the sum: the bytes divided by
    the smallest groups so far. A level takes as long as its largest group. Nothing is pipelined.
    """
    time_s, shard_bytes = 0.0, float(size_bytes)
    for level, largest, smallest in zip(LEVELS, *shape, strict=True):
        if largest > 1:
            time_s += ring_s(largest, shard_bytes, _bandwidth(network, level, shape), network.latency_s[level])
        shard_bytes /= smallest
    return time_s


def _bandwidth(network: Network, level: Locality, shape: GangShape) -> float:
    """The bandwidth of each ring that crosses `level`, in bytes/s; there are as many as GPUs on the gang's smallest
    node.
    """
    sharers = network.sharers[level]
    rings = min(float(shape.smallest[0]), sharers) if level > Locality.NODE else sharers
    return float(ring_bandwidth(network.bandwidth_bytes_per_s[level], sharers, rings))


def shape_of(gpus: NDArray[np.int64], rack: NDArray[np.int64], pod: NDArray[np.int64]) -> GangShape:
    """The shape of a real placement: `gpus[i]` GPUs on a node that stands in `rack[i]` and `pod[i]`.

    Racks are numbered through the cluster, so that a rack is in one pod.
    """
    nodes_of_rack, first = _counts(rack)
    racks_of_pod, _ = _counts(np.asarray(pod)[first])
    members = (np.asarray(gpus), nodes_of_rack, racks_of_pod, np.array([len(racks_of_pod)]))
    largest, smallest = ([int(f(m)) for m in members] for f in (np.max, np.min))
    return GangShape((*largest,), (*smallest,))  # ty: ignore[invalid-argument-type]


def _counts(group: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Members of each group, and the index of its first member."""
    _, first, counts = np.unique(group, return_index=True, return_counts=True)
    return counts, first
