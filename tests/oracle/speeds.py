"""Sections 8 and 10: how long an iteration takes, by the GPUs, accumulation steps and neighbours of a job.

The law of an iteration and of its all-reduce is that of docs/background/speed.md, done again.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

from .model import Gpu, Job, Node, Place

GPU, NODE, RACK, POD, CLUSTER = range(5)
MOST_STEPS = 2048


@dataclass(frozen=True)
class Compute:
    """`alpha_s + beta_s` · samples, and the exponent of its overlap with communication."""

    alpha_s: float
    beta_s: float
    delta: float = 2.0


@dataclass(frozen=True)
class Model:
    compute: Mapping[str, Compute]
    """By GPU type."""
    samples: int
    """On each GPU, where the job does not say."""
    fixed_bytes: float
    bytes_per_sample: float
    gradient_bytes: float = 0.0
    accumulates: bool = True
    """Whether it trains the same with more steps."""


@dataclass(frozen=True)
class Link:
    """What one GPU has of a level's link when all `sharers` of it communicate."""

    bytes_per_s: float
    latency_s: float
    sharers: float = 1.0


@dataclass(frozen=True)
class Felt:
    """How many times as long it takes by others: what goes between nodes, the whole iteration, and computing."""

    wire: float = 1.0
    whole: float = 1.0
    computing: float = 1.0
    """By others on its nodes (section 15)."""


ALONE = Felt()


@dataclass(frozen=True)
class Shape:
    """GPUs of each node, nodes of each rack, racks of each pod that a gang is on, and its pods."""

    members: tuple[tuple[int, ...], ...]

    @property
    def levels(self) -> list[tuple[int, int, int]]:
        """(level, members of its largest group, of its smallest)."""
        return [(level, max(m), min(m)) for level, m in zip((NODE, RACK, POD, CLUSTER), self.members, strict=True)]


Slowdown = Callable[[str, str, str], float]
"""(GPU type, model a, model b): how many times as long an iteration of `a` takes beside `b`."""


@dataclass(frozen=True)
class Speeds:
    nodes: tuple[Node, ...]
    memory: Mapping[str, float]
    """Bytes of a GPU, by type."""
    models: Mapping[str, Model]
    networks: Mapping[str, Sequence[Link]]
    """By GPU type, then by locality."""
    xi: Slowdown
    links_of: Callable[[Node], Sequence[Link]] = lambda node: ()
    """Of a node of its size, by locality; asked for only where links are shared."""
    bcube: int = 0
    """Nodes of a rack where each has a card for each level of a BCube; 0: it has one uplink."""

    # -- memory ----------------------------------------------------------------------------------------

    def samples(self, job: Job) -> int:
        return job.samples or self.models[job.model].samples

    def steps(self, job: Job) -> list[int]:
        """The accumulation steps that the job may take."""
        if job.model not in self.models:
            return [1]
        return [1 << k for k in range(12) if 1 << k <= min(self.samples(job), MOST_STEPS)]

    def wants_bytes(self, job: Job, steps: int) -> float:
        model = self.models[job.model]
        return floor(model.fixed_bytes + model.bytes_per_sample * ceil(self.samples(job) / steps))

    def takes_bytes(self, job: Job, steps: int, gpu_type: str) -> float:
        if job.milli < 1000:
            return self.memory[gpu_type] * job.milli / 1000
        if job.model not in self.models:
            return self.memory[gpu_type]
        return min(self.wants_bytes(job, steps), self.memory[gpu_type])

    def allowed_steps(self, job: Job, accumulation: str) -> list[int]:
        """Of these, those that a policy allows: `all`, `exact` or `none`."""
        exact = job.model not in self.models or self.models[job.model].accumulates
        return self.steps(job) if accumulation == "all" or (accumulation == "exact" and exact) else [1]

    def least_steps(self, job: Job, free: Mapping[Gpu, float], accumulation: str = "all") -> int | None:
        """The fewest steps at which what the job takes fits what these GPUs have free; None if none does."""
        for steps in self.allowed_steps(job, accumulation):
            if all(self.takes_bytes(job, steps, self.type_of(gpu)) <= left for gpu, left in free.items()):
                return steps
        return None

    # -- time ------------------------------------------------------------------------------------------

    def type_of(self, gpu: Gpu) -> str:
        return self.nodes[gpu[0]].gpu_type

    def type_of_gang(self, nodes: Sequence[int]) -> str:
        """Of nodes of several types: the cluster's first."""
        types = {self.nodes[node].gpu_type for node in nodes}
        return types.pop() if len(types) == 1 else self.nodes[0].gpu_type

    def rate(self, job: Job, place: Place, steps: int, felt: Felt = ALONE) -> float:
        """Without neighbours on its GPUs, not rounded; whole nominal ms each ms."""
        if job.model not in self.models:
            return 1.0
        gpu_type = self.type_of_gang(sorted({node for node, _ in place}))
        reference = self.iteration_s(job, gpu_type, self.best_shape(job, gpu_type), 1)
        return reference / self.iteration_s(job, gpu_type, self.shape_of(place), steps, felt)

    def exposed(self, job: Job, place: Place, steps: int, felt: Felt = ALONE) -> float:
        """The share of an iteration that waits for communication."""
        if job.model not in self.models:
            return 0.0
        gpu_type = self.type_of_gang(sorted({node for node, _ in place}))
        whole = self.iteration_s(job, gpu_type, self.shape_of(place), steps, felt)
        return 1 - steps * felt.computing * self.compute_s(job, gpu_type, steps) / whole

    def stretch(self, job: Job, gpu_type: str, steps: int) -> float:
        """Of an iteration by its accumulation steps, alone at the best locality."""
        if job.model not in self.models:
            return 1.0
        shape = self.best_shape(job, gpu_type)
        return rounded(self.iteration_s(job, gpu_type, shape, steps) / self.iteration_s(job, gpu_type, shape, 1))

    def compute_s(self, job: Job, gpu_type: str, steps: int) -> float:
        compute = self.models[job.model].compute[gpu_type]
        return compute.alpha_s + compute.beta_s * (self.samples(job) / steps)

    def iteration_s(self, job: Job, gpu_type: str, shape: Shape, steps: int, felt: Felt = ALONE) -> float:
        busy = felt.computing * self.compute_s(job, gpu_type, steps)
        inside, between = self.all_reduce_s(self.models[job.model].gradient_bytes, shape, self.networks[gpu_type])
        delta = self.models[job.model].compute[gpu_type].delta
        return felt.whole * ((steps - 1) * busy + overlap(busy, inside + felt.wire * between, delta))

    def all_reduce_s(self, gradient_bytes: float, shape: Shape, network: Sequence[Link]) -> tuple[float, float]:
        """Inside its nodes, and between them."""
        inside, between, shard, rings = 0.0, 0.0, gradient_bytes, min(shape.members[0])
        for level, most, least in shape.levels:
            if most > 1:
                link = network[level]
                crossing = link.sharers if level == NODE else min(rings, link.sharers)
                bytes_per_s = link.bytes_per_s * (link.sharers / crossing)
                seconds = 2 * (most - 1) / most * shard / bytes_per_s + 2 * (most - 1) * link.latency_s
                inside, between = (seconds, between) if level == NODE else (inside, between + seconds)
            shard /= least
        return inside, between

    # -- shapes ----------------------------------------------------------------------------------------

    def shape_of(self, place: Place) -> Shape:
        gpus = Counter(node for node, _ in place)
        racks = Counter((self.nodes[node].pod, self.nodes[node].rack) for node in gpus)
        pods = Counter(pod for pod, _ in racks)
        return Shape((*(tuple(count.values()) for count in (gpus, racks, pods)), (len(pods),)))

    def best_shape(self, job: Job, gpu_type: str) -> Shape:
        """Whole nodes of the largest size and a remainder, in racks and pods as full, at the best locality; or the
        nodes that it asks for.
        """
        own, gpus = [node for node in self.nodes if node.gpu_type == gpu_type], job.gpus
        if job.per_node:
            return self.shape_at(gpus, gpu_type, self.best_level(job, own), job.per_node)
        in_rack, in_pod = Counter[tuple[int, int]](), Counter[int]()
        for node in own:
            in_rack[node.pod, node.rack] += node.gpus
            in_pod[node.pod] += node.gpus
        room = (max(node.gpus for node in own), max(in_rack.values()), max(in_pod.values()))
        levels = zip((NODE, RACK, POD), room, strict=True)
        return self.shape_at(gpus, gpu_type, next((level for level, most in levels if gpus <= most), CLUSTER))

    def best_level(self, job: Job, own: list[Node]) -> int:
        """The tightest with enough nodes with room for their part of its shape."""
        if job.gpus == job.per_node:
            return NODE
        roomy = [node for node in own if node.gpus >= job.per_node]
        racks, pods = Counter((node.pod, node.rack) for node in roomy), Counter(node.pod for node in roomy)
        room = [max(count.values(), default=0) * job.per_node for count in (racks, pods)]
        return next((level for level, most in zip((RACK, POD), room, strict=True) if job.gpus <= most), CLUSTER)

    def shape_at(self, gpus: int, gpu_type: str, level: int, per_node: int = 0) -> Shape:
        """As usual at this locality; cut in halves where fewer nodes, racks or pods would do."""
        own = [node for node in self.nodes if node.gpu_type == gpu_type]
        size = max(node.gpus for node in own)
        if level <= NODE or gpus == 1:
            return Shape(((gpus,), (1,), (1,), (1,)))
        nodes = (per_node,) * (gpus // per_node) if per_node not in (0, gpus) else filled(gpus, size)
        if level == RACK:
            return Shape((nodes, (len(nodes),), (1,), (1,)))
        roomy = [n for n in own if (n.gpus >= per_node if per_node else n.gpus == size)]
        racks = filled(len(nodes), max(Counter((n.pod, n.rack) for n in roomy).values(), default=1))
        pods = (len(racks),) if level == POD else halves(len(racks))
        return Shape((nodes, racks, pods, (len(pods),)))

    def rate_at(self, job: Job, gpu_type: str, level: int) -> float:
        """Alone, in the usual shape at a locality."""
        if job.model not in self.models:
            return 1.0
        reference = self.iteration_s(job, gpu_type, self.best_shape(job, gpu_type), 1)
        return rounded(
            reference / self.iteration_s(job, gpu_type, self.shape_at(job.gpus, gpu_type, level, job.per_node), 1)
        )


def overlap(busy_s: float, wire_s: float, delta: float) -> float:
    longer, shorter = max(busy_s, wire_s), min(busy_s, wire_s)
    if shorter == 0 or delta == float("inf"):
        return longer
    return longer * (1 + (shorter / longer) ** delta) ** (1 / delta)


def filled(members: int, size: int) -> tuple[int, ...]:
    whole, rest = divmod(members, size)
    groups = (size,) * whole + (rest,) * (rest > 0)
    return groups if len(groups) > 1 else halves(members)


def halves(members: int) -> tuple[int, ...]:
    return (members - members // 2, members // 2)


def rounded(rate: float) -> float:
    """To whole 1/2^30."""
    return floor(rate * 2**30 + 0.5) / 2**30
