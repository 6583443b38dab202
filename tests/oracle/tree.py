"""Section 12: the rate of a gang by the tree of racks, nodes and GPUs that it spans."""

from collections import Counter
from dataclasses import dataclass
from math import sqrt

from .gpu_pickers import Edges
from .model import Job, Place
from .speeds import Speeds, rounded

MEGABYTES = 1e6
FURTHER_RACK = 0.2


@dataclass(frozen=True)
class Tree:
    edges: Edges
    clamp: float = 0.0

    def cost(self, speeds: Speeds, place: Place) -> float:
        nodes = {node for node, _ in place}
        racks = {speeds.nodes[node].rack for node in nodes}
        edges = self.edges
        return max(self.clamp, edges.rack * len(racks) + edges.node * len(nodes) + edges.gpu * len(place))

    def rate(self, speeds: Speeds, job: Job, place: Place) -> float:
        nodes = sorted({node for node, _ in place})
        gpu_type = speeds.type_of_gang(nodes)
        racks = len({speeds.nodes[node].rack for node in nodes})
        slower = 1.0
        if job.model in speeds.models:
            ideal = iteration_s(speeds, job, gpu_type, fewest_racks(speeds, gpu_type, job.gpus))
            slower = rounded(ideal / iteration_s(speeds, job, gpu_type, racks))
        return max(rounded(slower / self.cost(speeds, place)), 1 / 2**30)


def iteration_s(speeds: Speeds, job: Job, gpu_type: str, racks: int) -> float:
    reduce_s = of_one_gpu_s(speeds.models[job.model].gradient_bytes / MEGABYTES) * sqrt(job.gpus)
    return speeds.compute_s(job, gpu_type, 1) + reduce_s * (1 + FURTHER_RACK * (racks - 1))


def of_one_gpu_s(megabytes: float) -> float:
    if megabytes <= 100:
        return 0.02829 * megabytes / 100
    return 0.02829 + (0.13977 - 0.02829) * (megabytes - 100) / 400


def fewest_racks(speeds: Speeds, gpu_type: str, gpus: int) -> int:
    """All of them, if they do not hold so many."""
    sizes = Counter[int]()
    for node in speeds.nodes:
        sizes[node.rack] += node.gpus * (node.gpu_type == gpu_type)
    held, racks = 0, 0
    for size in sorted((size for size in sizes.values() if size), reverse=True):
        if held < gpus:
            held, racks = held + size, racks + 1
    return racks
