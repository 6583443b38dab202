"""Section 12: the rate of a gang by the tree of racks, nodes and GPUs that it spans."""

from collections import Counter
from dataclasses import dataclass, field, replace
from math import ceil, sqrt

from .gpu_pickers import Edges
from .model import Job, Place
from .nodes import Neighbours
from .speeds import Speeds, rounded
from .waiting import TurnsWorld

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

    def rate(self, speeds: Speeds, job: Job, place: Place, psi: float = 1.0) -> float:
        """Computing takes `psi` times as long by others on its nodes (section 15)."""
        nodes = sorted({node for node, _ in place})
        gpu_type = speeds.type_of_gang(nodes)
        racks = len({speeds.nodes[node].rack for node in nodes})
        slower = longer = 1.0
        if job.model in speeds.models:
            ideal = iteration_s(speeds, job, gpu_type, fewest_racks(speeds, gpu_type, job.gpus))
            alone = iteration_s(speeds, job, gpu_type, racks)
            slower = rounded(ideal / alone)
            longer = (alone + (psi - 1) * speeds.compute_s(job, gpu_type, 1)) / alone
        return max(rounded(slower / (self.cost(speeds, place) * longer)), 1 / 2**30)


@dataclass
class CrowdedWorld(TurnsWorld):
    """Jobs slow each other on nodes."""

    speeds: Speeds = field(kw_only=True)
    tree: Tree = field(kw_only=True)
    neighbours: Neighbours = field(kw_only=True)

    def end_of_instant(self) -> None:
        running = self.having("RUNNING")
        for life in running:
            others = [(whole(other.job), other.place) for other in running if other is not life]
            psi = self.neighbours.psi(whole(life.job), life.place, others)
            rate = self.tree.rate(self.speeds, life.job, life.place, psi)
            if rate != life.rate:
                self.halt(life)
                life.rate = rate
                life.finish_ms = self.now + ceil((life.job.work_ms - life.done) / rate)


def whole(job: Job) -> Job:
    """No GPU is shared: a fraction has all of it."""
    return replace(job, milli=1000)


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
