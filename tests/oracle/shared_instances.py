"""Small random instances with shared GPUs (section 10), to run in the oracle and in the engine."""

import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from . import packing
from .instances import Kind, chance, draw_estimate, draw_overheads, draw_queue_limits, draw_script, with_cancels
from .model import Job, Node
from .nodes import Slowing
from .placement import every_gpu, place
from .sharing import PAIRS as BSBF
from .sharing import POLICIES as THEIRS
from .sharing import SharedSchedule, simulate
from .speeds import Compute, Link, Model, Speeds
from .uplinks import Contention

POLICIES = (*THEIRS, "gandiva-packing")
PAIRS = (*BSBF, "gandiva-packing")
"""They have two jobs a GPU, and place by tightest."""
NAMES = ("transformer", "lstm", "resnet18", "resnet50")
"""Models that were measured in pairs, so that tables and laws know them."""
TYPES = ("v100", "k80")
CONSTANTS = (1.0, 1.2, 1.5, 2.0)
STEPS_MS = (1, 1, 1000, 20_000)
MEMORY = 10**9
MICROSECOND = 1e-6
Table = dict[tuple[str, str, str], float]


@dataclass(frozen=True)
class Network:
    """What the instance's cluster file says, in bytes per second and seconds."""

    inside: float
    card: float
    """Of a node, shared by its GPUs."""
    oversubscription: float
    """Of what joins the racks."""

    def links(self, gpus: int) -> tuple[Link, ...]:
        """Of a node with so many."""
        card = self.card / gpus
        slow = Link(card / self.oversubscription, 10 * MICROSECOND, gpus)
        return (Link(1, 0), Link(self.inside, MICROSECOND), Link(card, 5 * MICROSECOND, gpus), slow, slow)


@dataclass(frozen=True)
class SharedInstance:
    """One problem. Jobs are in row order and the first is submitted at 0; ms of every field are exact in seconds."""

    seed: int
    nodes: tuple[Node, ...]
    network: Network
    memory: dict[str, int]
    models: dict[str, Model]
    interference: str
    """A number, or ``file`` (`xi`); who compares may draw the others, ``table`` and ``law``, into `xi`."""
    xi: Table
    jobs: tuple[Job, ...]
    policy: str
    params: dict[str, Any]
    sharing: int | None
    placement: str
    overheads: dict[str, float]
    queue_limits: dict[str, int]
    script: tuple[tuple[int, str, int], ...]
    round_ms: int
    bcube: int = 0
    """Of a BCube(n, 1): n."""

    @property
    def speeds(self) -> Speeds:
        return Speeds(
            nodes=self.nodes,
            memory=self.memory,
            models=self.models,
            networks={kind: self.network.links(largest(self.nodes, kind)) for kind in self.memory},
            xi=lambda gpu_type, a, b: self.xi[gpu_type, a, b],
            links_of=lambda node: self.network.links(node.gpus),
            bcube=self.bcube,
        )

    def run_oracle(
        self, until_ms: int | None = None, contention: Contention | None = None, neighbours: Slowing | None = None
    ) -> SharedSchedule:
        packs = self.policy == "gandiva-packing"
        settings = {"make": packing.world_of(self.params)} if packs else self.params
        return simulate(
            self.speeds,
            self.jobs,
            packing.gandiva_packing if packs else self.policy,
            sharing=self.sharing or (2 if packs else None),
            placement=self.placement,
            overheads=self.overheads,
            queue_limits=self.queue_limits,
            script=self.script,
            round_ms=self.round_ms,
            until_ms=until_ms,
            contention=contention,
            neighbours=neighbours,
            **settings,
        )


def largest(nodes: tuple[Node, ...], gpu_type: str) -> int:
    return max(node.gpus for node in nodes if node.gpu_type == gpu_type)


def random_shared(
    seed: int, policies: tuple[str, ...] = POLICIES, *, on_bcube: bool = False, nodes: tuple[Node, ...] = ()
) -> SharedInstance:
    """The same arguments give the same instance. Every job fits the empty cluster and its queue's limit. `nodes` are
    drawn unless they are given.
    """
    draw = random.Random(seed)
    policy = draw.choice(policies)
    step_ms = draw.choice(STEPS_MS)
    nodes = nodes or (draw_bcube(draw) if on_bcube else draw_nodes(draw))
    types = tuple(dict.fromkeys(node.gpu_type for node in nodes))
    models = {name: draw_model(draw, types) for name in NAMES}
    interference = draw.choice(("number", "file", "file"))
    number = draw.choice(CONSTANTS)
    placement = "tightest" if policy in PAIRS else draw.choice(("consolidated", "first-fit", "spread", "tightest"))
    jobs = draw_jobs(draw, nodes, placement, step_ms)
    instance = SharedInstance(
        seed=seed,
        nodes=nodes,
        network=Network(
            inside=draw.choice((40e9, 10e9)), card=draw.choice((10e9, 1.25e9)), oversubscription=draw.choice((1, 2, 4))
        ),
        memory={kind: MEMORY if kind == "v100" else draw.choice((MEMORY, MEMORY // 2)) for kind in types},
        models=models,
        interference=str(number) if interference == "number" else interference,
        xi=draw_xi(draw, types, number if interference == "number" else None),
        jobs=jobs,
        policy=policy,
        params=draw_params(draw, policy, step_ms),
        sharing=draw.choice((None, 2, 3)) if policy in PAIRS else draw.choice((1, 2, 2, 3)),
        placement=placement,
        overheads=draw_overheads(draw, Kind(), step_ms, may_lose=True),
        queue_limits=draw_queue_limits(draw, jobs),
        script=draw_script(draw, Kind(), len(nodes), step_ms),
        round_ms=draw.choice((3, 10)) * step_ms if draw.random() < 0.15 else 0,
    )
    if on_bcube:
        network = replace(instance.network, oversubscription=1)
        instance = replace(instance, bcube=nodes[-1].rack + 1, network=network, jobs=of_one_type(jobs))
    instance = with_accumulation(instance) if policy in BSBF else instance
    if draw.random() < 0.7:
        return instance
    return replace(instance, script=with_cancels(draw, instance.script, jobs, step_ms))


def with_accumulation(instance: SharedInstance) -> SharedInstance:
    """Some models do not train the same with more steps, and some policies allow none, or not of these."""
    draw = random.Random(-3 - instance.seed)
    models = {name: replace(model, accumulates=draw.random() < 0.5) for name, model in instance.models.items()}
    allowed = draw.choice(("all", "exact", "exact", "none"))
    return replace(instance, models=models, params=instance.params | {"accumulation": allowed})


def random_crowded(seed: int, *, on_bcube: bool = False) -> SharedInstance:
    """For a policy that names GPUs itself: two to four jobs on each of a few GPUs, for long enough to be changed."""
    base, draw = random_shared(seed, ("fifo",), on_bcube=on_bcube), random.Random(-1 - seed)
    lean = draw.random() < 0.7
    models = {name: replace(m, **lean_memory(draw, m)) for name, m in base.models.items()} if lean else base.models
    overheads, script = base.overheads, base.script
    longest = max(20, *(job.work_ms for job in base.jobs))
    if draw.random() < 0.5:
        overheads = overheads | {"rebatch_s": draw.randint(1, longest // 20) / 1000}
    if draw.random() < 0.3:
        overheads = overheads | {"checkpoint_every_s": draw.randint(longest // 20, longest) / 1000}
        cancels = tuple(entry for entry in script if entry[1] == "CANCEL")
        script = tuple(sorted(cancels + draw_failures(draw, len(base.nodes), longest)))
    return replace(
        base, models=models, sharing=draw.choice((1, 2, 3, 4, 4)), overheads=overheads, script=script, round_ms=0
    )


def random_on_tree(seed: int, policy: str, params: dict[str, Any]) -> SharedInstance:
    """For policies that share no GPUs, on the rate model `tree`."""
    base = random_shared(seed, ("fifo",))
    placement = "tightest" if policy.startswith("pick-place") else base.placement
    overheads = {name: value for name, value in base.overheads.items() if name != "lost_s"}
    return replace(
        base, policy=policy, params=params, sharing=None, interference="1", placement=placement, overheads=overheads
    )


def random_elastic(seed: int) -> SharedInstance:
    """For `pollux`: some ten rounds while the longest job is at work."""
    base, draw = random_shared(seed, ("fifo",)), random.Random(-2 - seed)
    every = every_gpu(base.nodes)
    fit = [place(base.nodes, job, every, "consolidated") is not None for job in base.jobs]
    jobs = tuple(job if fits else replace(job, gpus=1) for job, fits in zip(base.jobs, fit, strict=True))
    interval = max(1, max(job.work_ms for job in jobs) // draw.choice((3, 10, 20)))
    params = {
        "interval_s": interval / 1000,
        "power": draw.choice((-1.0, -1.0, 0.0, 1.0)),
        "restart_s": draw.choice((0, 1)) * interval / 1000,
    }
    overheads = {name: value for name, value in base.overheads.items() if name != "lost_s"}
    return replace(
        base, policy="pollux", params=params, jobs=jobs, sharing=None, interference="1", placement="consolidated",
        overheads=overheads, round_ms=0,
    )  # fmt: skip


def draw_params(draw: random.Random, policy: str, step_ms: int) -> dict[str, Any]:
    if policy == "gandiva-packing":
        params = {name: draw.choice((1, 2, 5, 12)) * step_ms / 1000 for name in ("slice_s", "round_s")}
        return params | {"pack_gain": draw.choice((1.0, 1.0, 1.2, 1.5))}
    return {"gate": draw.choice(("pairwise", "joint"))} if policy == "sjf-bsbf" else {}


def draw_failures(draw: random.Random, nodes: int, longest: int) -> tuple[tuple[int, str, int], ...]:
    """Each node goes down a few times while its jobs are at work."""
    script = []
    for node in range(nodes):
        time_ms = 0
        for _ in range(draw.randint(1, 3)):
            time_ms += draw.randint(longest // 4, 2 * longest)
            script.append((time_ms, "NODE_DOWN", node))
            time_ms += draw.randint(1, longest // 4)
            script.append((time_ms, "NODE_UP", node))
    return tuple(sorted(script, key=lambda entry: (entry[0], entry[2])))


def with_links(instance: SharedInstance) -> SharedInstance:
    """For `simulate` with contention, which knows of no gang that is wider than the racks of each type."""
    widest = min(
        max(sum(n.gpus for n in instance.nodes if (n.rack, n.gpu_type) == rack) for rack in racks_of(instance, kind))
        for kind in instance.memory
    )
    every = every_gpu(instance.nodes)
    in_racks = [one_rack_holds(instance, job) for job in instance.jobs]
    whole = [job if one else replace(job, per_node=0) for job, one in zip(instance.jobs, in_racks, strict=True)]
    narrow = [job if job.gpus <= widest else replace(job, gpus=widest, per_node=0) for job in whole]
    fit = [place(instance.nodes, job, every, instance.placement) is not None for job in narrow]
    return replace(
        instance,
        jobs=tuple(job if fits else replace(job, gpus=1, per_node=0) for job, fits in zip(narrow, fit, strict=True)),
    )


def one_rack_holds(instance: SharedInstance, job: Job) -> bool:
    """Whether one rack of each type has as many nodes as a shape wants, of enough GPUs; without one, yes."""
    roomy = [node for node in instance.nodes if job.per_node and node.gpus >= job.per_node]
    racks = Counter((node.gpu_type, node.rack) for node in roomy)
    most = [max((n for (of, _), n in racks.items() if of == kind), default=0) for kind in instance.memory]
    return not job.per_node or min(most) * job.per_node >= job.gpus


def racks_of(instance: SharedInstance, kind: str) -> set[tuple[int, str]]:
    return {(node.rack, kind) for node in instance.nodes if node.gpu_type == kind}


def lean_memory(draw: random.Random, model: Model) -> dict[str, float]:
    """Three or four fit a GPU."""
    fixed, grows = draw.choice((0.02, 0.1, 0.2)), draw.choice((0.02, 0.05, 0.2))
    return {
        "fixed_bytes": round(fixed * MEMORY),
        "bytes_per_sample": round(grows * MEMORY / model.samples, 2),
    }


def draw_nodes(draw: random.Random) -> tuple[Node, ...]:
    """Often but one or two GPUs, so that jobs meet."""
    count = draw.choice((1, 1, 2, 2, 3, 4, 6))
    size = draw.choice((1, 2, 2, 4))
    mixed, typed = draw.random() < 0.3, draw.random() < 0.4
    racks = [0]
    for _ in range(count - 1):
        racks.append(racks[-1] + draw.choice((0, 0, 1)))
    pods = draw.choice((1, 2, 9))
    return tuple(
        Node(
            gpus=draw.randint(1, 4) if mixed else size,
            rack=rack,
            pod=rack // pods,
            gpu_type=draw.choice(TYPES) if typed else TYPES[0],
        )
        for rack in racks
    )


def draw_bcube(draw: random.Random) -> tuple[Node, ...]:
    """BCube(2, 1) or BCube(3, 1)."""
    n, mixed, typed = draw.choice((2, 2, 3)), draw.random() < 0.3, draw.random() < 0.3
    size = draw.choice((1, 1, 2))
    types = ("k80", *(draw.choice(TYPES) for _ in range(n * n - 1))) if typed else (TYPES[0],) * n * n
    return tuple(
        Node(gpus=draw.randint(1, 3) if mixed else size, rack=i // n, pod=0, gpu_type=kind)
        for i, kind in enumerate(types)
    )


def of_one_type(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """No gang mixes types: its usual shape, of nodes of the first type, may be on more nodes than there are, and its
    ring would fill the pools of `level` even alone.
    """
    return tuple(replace(job, gpus=1) if "+" in job.gpu_type else job for job in jobs)


def draw_model(draw: random.Random, types: tuple[str, ...]) -> Model:
    """Some take little memory, some more than half of a GPU however much they accumulate, some more than a GPU."""
    samples = draw.choice((1, 3, 4, 8, 32, 100))
    fixed = draw.choice((0.02, 0.1, 0.2, 0.45, 0.55))
    grows = draw.choice((0.05, 0.3, 0.5, 0.9, 1.3))
    delta = draw.choice((1.0, 2.0, 2.5))
    alpha, beta = draw.choice((0.0, 0.002, 0.01, 0.05)), draw.choice((0.1, 0.001, 0.0125))
    return Model(
        compute={kind: Compute(alpha * slow, beta * slow, delta) for kind, slow in zip(types, (1, 3), strict=False)},
        samples=samples,
        fixed_bytes=round(fixed * MEMORY),
        bytes_per_sample=round(grows * MEMORY / samples, 2),
        gradient_bytes=draw.choice((0, 10**6, 10**8)),
    )


def draw_xi(draw: random.Random, types: tuple[str, ...], number: float | None) -> Table:
    pairs = [(kind, a, b) for kind in types for a in NAMES for b in NAMES]
    return {pair: number or draw.choice((1.0, 1.1, 1.25, 1.5, 2.0, round(draw.uniform(1, 3), 3))) for pair in pairs}


def draw_jobs(draw: random.Random, nodes: tuple[Node, ...], placement: str, step_ms: int) -> tuple[Job, ...]:
    count = draw.randint(3, 25)
    span, lengths = draw.choice((1, 10, 40)), draw.choice((5, 20, 60))
    queues, priorities = draw.random() < 0.3, draw.random() < 0.2
    estimates = draw.choice(("truth", "truth", "drawn", "lognormal"))
    fractions, unknown = draw.choice((0, 0.2, 0.6)), draw.choice((0, 0, 0.2))
    submits = sorted(step_ms * draw.randrange(span) for _ in range(count))
    jobs = []
    for submit_ms in submits:
        work_ms = step_ms * draw.randrange(lengths)
        jobs.append(
            draw_job(
                draw,
                nodes,
                placement,
                fractions,
                submit_ms=submit_ms - submits[0],
                work_ms=work_ms,
                estimate_ms=estimate(draw, estimates, work_ms, step_ms),
                priority=draw.choice((-1, 0, 0, 5)) if priorities else 0,
                queue=draw.choice(("", "x", "y")) if queues else "",
                model="" if draw.random() < unknown else draw.choice(NAMES),
                samples=draw.choice((None, None, 1, 2, 5, 16)),
            )
        )
    return tuple(jobs)


def estimate(draw: random.Random, how: str, work_ms: int, step_ms: int) -> int:
    """At least 1 ms: that is what a limit can be."""
    if how == "lognormal":
        return max(1, round(work_ms * draw.lognormvariate(0, 0.5)))
    return draw_estimate(draw, work_ms, step_ms) if how == "drawn" else max(1, work_ms)


def draw_job(draw: random.Random, nodes: tuple[Node, ...], placement: str, fractions: float, **others: Any) -> Job:
    types = Counter(node.gpu_type for node in nodes)
    demands = ["", "", *types] + ["v100|k80", "k80|v100", "v100+k80"] * (len(types) > 1)
    widest = sum(node.gpus for node in nodes)
    while True:
        job = Job(
            gpus=draw.choice((1, 1, 1, 2, 3, 4, draw.randint(1, widest))), gpu_type=draw.choice(demands), **others
        )
        if place(nodes, job, every_gpu(nodes), placement) is not None:
            break
    if job.gpus == 1 and chance(draw, True, fractions):
        return replace(job, milli=draw.choice((100, 250, 300, 500, 700, 999)))
    return job
