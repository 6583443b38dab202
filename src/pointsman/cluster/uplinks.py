"""What leaves each node, rack and pod upwards, by the levels of bandwidth of its GPUs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.types import Locality


class Uplinks(NamedTuple):
    """Bytes per second, one direction, of all uplinks of each node, rack and pod together."""

    nodes: NDArray[np.float64]
    racks: NDArray[np.float64]
    pods: NDArray[np.float64]


def uplink_bandwidths(layout: Layout) -> Uplinks:
    """The uplinks of a cluster, as wide as the bandwidths of its GPUs at the level they lead to.

    Those of a rack alone in its pod lead to other pods, and have the bandwidth of that level.
    """
    by_node = layout.bandwidth_bytes_per_s[layout.node_type] * layout.node_gpus[:, None]
    racks = np.bincount(layout.node_pod[np.unique(layout.node_rack, return_index=True)[1]])
    beyond_rack = np.where(racks[layout.node_pod] > 1, by_node[:, Locality.POD], by_node[:, Locality.CLUSTER])
    return Uplinks(
        nodes=by_node[:, Locality.RACK],
        racks=np.bincount(layout.node_rack, beyond_rack).astype(np.float64),
        pods=np.bincount(layout.node_pod, by_node[:, Locality.CLUSTER]).astype(np.float64),
    )
