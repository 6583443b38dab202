"""What the communication of a gang costs on the tree of racks, nodes and GPUs (``docs/papers/topdrl.md`` §2).

The cost of a set of GPUs is the sum of the edges that join them to each other and to the centre of the cluster: one of
each rack, node and GPU.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TreeCost:
    """The weights of the edges, without a unit."""

    rack: float = 0.5
    """From the centre to a rack."""
    node: float = 0.25
    """From a rack to a node."""
    gpu: float = 0.025
    """From a node to a GPU."""

    def of(self, racks: int, nodes: int, gpus: int) -> float:
        """The cost of a gang on that many racks, nodes and GPUs."""
        return self.rack * racks + self.node * nodes + self.gpu * gpus

    def least(self, node_gpus: NDArray[np.int64], node_rack: NDArray[np.int64], gpus: int) -> float:
        """What a gang costs at least in a cluster of such nodes: on the fewest that hold it, and the fewest racks."""
        return self.of(fewest(np.bincount(node_rack, weights=node_gpus), gpus), fewest(node_gpus, gpus), gpus)

    def most(self, node_gpus: NDArray[np.int64], node_rack: NDArray[np.int64], gpus: int) -> float:
        """What it costs at most: with as few GPUs on each node as there can be, and on as many racks."""
        return self.of(min(gpus, int(node_rack.max()) + 1), min(gpus, len(node_gpus)), gpus)


def fewest(sizes: NDArray, gpus: int) -> int:
    """Counts the groups of GPUs of these sizes, the largest first, that hold `gpus` together; all, if they do not."""
    sizes = np.sort(sizes[sizes > 0])[::-1]
    return min(len(sizes), int(np.searchsorted(np.cumsum(sizes), gpus)) + 1)


def proximity(cost: float, least: float, most: float) -> float:
    """How close the GPUs of a gang are, by its cost: from 0, as far apart as can be, to 1; 0 for one GPU, as in the
    authors' code, and wherever there is no choice.
    """
    return 0.0 if most <= least else 1.0 - (cost - least) / (most - least)
