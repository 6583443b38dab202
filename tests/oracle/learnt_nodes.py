"""Section 15 by a learnt file: a combination is looked up, or worked out by the law, anew for every worker."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from .model import Gpu, Job, Node, Place
from .nodes import Takes
from .shared_instances import NAMES, SharedInstance
from .speeds import rounded

Others = tuple[tuple[str, int], ...]
Kind = tuple[str, int]
"""GPU type and GPUs of a node."""


@dataclass(frozen=True)
class Law:
    """Of a model; by another, how much longer if it is there, and for each of its workers."""

    alone: float
    per_own_gpu: float
    beside: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Learnt:
    """What a file says of kinds of nodes."""

    nodes: Sequence[Node]
    times: Mapping[Kind, Mapping[tuple[str, int, Others], float]]
    """By model, its GPUs on the node, and others'."""
    laws: Mapping[Kind, Mapping[str, Law]]
    takes: Mapping[str, Takes]
    """Profiles state no demands."""

    def psi(self, job: Job, place: Place, others: Sequence[tuple[Job, Place]]) -> float:
        """Of a job that runs there beside `others`, which run too."""
        known = self.named()
        beside = [(other, there) for other, there in others if other.model in known]
        if job.model not in known:
            return 1.0
        return rounded(max(self.of_worker(gpu, job, place, beside) for gpu in place))

    def named(self) -> set[str]:
        """Models of which something is said, if only what they do to others."""
        laws = [law for laws in self.laws.values() for law in laws.values()]
        own = {name for laws in self.laws.values() for name in laws}
        looked_up = {name for times in self.times.values() for _, _, others in times for name, _ in others}
        return own | looked_up | {name for law in laws for name in law.beside}

    def of_worker(self, gpu: Gpu, job: Job, place: Place, others: Sequence[tuple[Job, Place]]) -> float:
        node = gpu[0]
        kind = (self.nodes[node].gpu_type, self.nodes[node].gpus)
        own = sum(at[0] == node for at in place)
        workers = Counter(other.model for other, there in others for at in there - {gpu} if at[0] == node)
        beside = tuple(sorted(workers.items()))
        if job.model not in self.laws[kind]:
            return 1.0
        times = self.times[kind].get((job.model, own, beside))
        return self.by_law(self.laws[kind][job.model], own, beside) if times is None else times

    def by_law(self, law: Law, own: int, beside: Others) -> float:
        longer = law.alone
        for _ in range(own):
            longer *= law.per_own_gpu
        for name, workers in beside:
            met, per_gpu = law.beside.get(name, (1.0, 1.0))
            longer *= met
            for _ in range(workers):
                longer *= per_gpu
        return min(1000.0, max(1.0, longer))


def learnt_of(instance: SharedInstance) -> Learnt:
    """Drawn by the instance's seed: of some models nothing is known on some nodes, and of some combinations the law."""
    draw = random.Random(-9 - instance.seed)
    names = [name for name in NAMES if draw.random() < 0.85] or [NAMES[0]]
    kinds = sorted({(node.gpu_type, node.gpus) for node in instance.nodes})
    laws = {
        kind: {name: draw_law(draw, names) for i, name in enumerate(names) if i == 0 or draw.random() < 0.9}
        for kind in kinds
    }
    times = {kind: draw_times(draw, names, list(laws[kind]), kind[1]) for kind in kinds}
    return Learnt(instance.nodes, times, laws, {})


def draw_law(draw: random.Random, names: Sequence[str]) -> Law:
    beside = {
        name: (draw.choice((1.0, 1.1, 0.9)), draw.choice((1.0, 1.05, 1.3))) for name in names if draw.random() < 0.8
    }
    return Law(draw.choice((1.0, 1.1, 0.8)), draw.choice((1.0, 1.02, 1.1)), beside)


def draw_times(
    draw: random.Random, names: Sequence[str], own: Sequence[str], gpus: int
) -> dict[tuple[str, int, Others], float]:
    return {
        (name, k, tuple(sorted(Counter(others).items()))): draw.choice((1.0, 1.125, 1.37, 2.0))
        for name in own
        for k in range(1, gpus + 1)
        for most in range(3)
        for others in combinations_with_replacement(names, most)
        if draw.random() < 0.6
    }
