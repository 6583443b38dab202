"""Random instances for placers, on nodes and links that jobs share."""

import random
from dataclasses import replace

from .instances import Kind, draw_params, draw_queue_limits, draw_schedulers, narrowed, with_shapes
from .model import Job, Node
from .node_instances import neighbours_of
from .nodes import Neighbours, Slowing
from .placers_on_nodes import run_placer
from .shared_instances import NAMES, TYPES, SharedInstance, one_rack_holds, random_shared, with_links
from .sharing import SharedSchedule
from .uplinks import Contention

ONLY_PLACE = {"servers", "racks", "gpus_left", "broken_sockets"}
"""Features of `scorer` that no other job has to do with."""
LINKS = (
    None,
    Contention("max-min"),
    Contention("duty-cycle"),
    Contention("level"),
    Contention("node-link", penalty=0.5),
)


def random_placed(seed: int, policy: str, *, on_bcube: bool = False, links: bool = False) -> SharedInstance:
    """The same arguments give the same instance. `links`: for a run with contention, with gangs that send much."""
    draw = random.Random(-11 - seed)
    nodes = () if on_bcube else draw_racks(draw) if links else draw_nodes(draw)
    base = random_shared(seed, ("fifo",), on_bcube=on_bcube, nodes=nodes)
    base = replace(base, policy=policy, sharing=None, interference="1", placement="tightest")
    base = with_links(sending(draw, base)) if links else base
    step_ms = max(1, max(job.work_ms for job in base.jobs) // 20)
    params = draw_params(draw, Kind(), policy, step_ms) | draw_schedulers(draw, base.nodes)
    if links and policy == "scorer":
        params["patience"] = 0  # else few gangs are on several nodes
        if draw.random() < 0.8:
            params |= dict.fromkeys(ONLY_PLACE, 0.0) | {"servers": draw.choice((0.0, -0.125)), "harm": 3.0}
    jobs = tuple(narrowed(base.nodes, job, params["schedulers"]) for job in base.jobs)
    jobs = with_shapes(seed, base.nodes, jobs, params["schedulers"])
    if links:  # wider than a rack, the oracle does not know how fast a gang is alone
        jobs = tuple(job if one_rack_holds(base, job) else replace(job, per_node=0) for job in jobs)
    return replace(base, params=params, jobs=jobs)


def draw_nodes(draw: random.Random) -> tuple[Node, ...]:
    """Enough of them for a choice, of a few sizes, so that some are alike."""
    count, sizes = draw.randint(2, 7), draw.choice(((1,), (2,), (4,), (2, 4), (1, 3, 6)))
    types = draw.choice((TYPES[:1], TYPES[:1], TYPES))
    racks = [0]
    for _ in range(count - 1):
        racks.append(racks[-1] + draw.choice((0, 0, 1)))
    pods = draw.choice((1, 2, 9))
    return tuple(
        Node(gpus=draw.choice(sizes), rack=rack, pod=rack // pods, gpu_type=draw.choice(types)) for rack in racks
    )


def draw_racks(draw: random.Random) -> tuple[Node, ...]:
    """A few racks of several small nodes."""
    sizes, pods = draw.choice(((3,), (4,), (3, 5))), draw.choice((1, 2, 9))
    racks = [rack for rack in range(draw.randint(2, 4)) for _ in range(3)]
    return tuple(Node(gpus=draw.choice(sizes), rack=rack, pod=rack // pods, gpu_type=TYPES[0]) for rack in racks)


def sending(draw: random.Random, base: SharedInstance) -> SharedInstance:
    """The same with more gangs on several nodes, of models that send more and compute less."""
    models = {
        name: replace(
            model,
            gradient_bytes=draw.choice((1e7, 1e8, 3e8)),
            compute={kind: replace(c, alpha_s=c.alpha_s / 10, beta_s=0.001) for kind, c in model.compute.items()},
        )
        for name, model in base.models.items()
    }
    jobs = tuple(as_gang(draw, job) for job in base.jobs)
    return replace(base, models=models, jobs=jobs, queue_limits=draw_queue_limits(draw, jobs))


def as_gang(draw: random.Random, job: Job) -> Job:
    gpus = draw.choice((1, 1, 2, 3, 4, 5, 5, 6, 7, 8))
    return replace(job, gpus=gpus, gpu_type="", milli=1000, model=draw.choice(NAMES), work_ms=10 * job.work_ms)


def with_wide_links(instance: SharedInstance) -> Neighbours:
    """For `sending`, whose jobs would be slowed beyond all bounds by the links between sockets."""
    found = neighbours_of(instance)
    return replace(found, hosts=[replace(host, link=900_000.0) for host in found.hosts])


def run_placed(
    instance: SharedInstance,
    contention: Contention | None = None,
    neighbours: Slowing | None = None,
    forecasts: Slowing | None = None,
) -> SharedSchedule:
    """In the oracle."""
    return run_placer(
        instance.speeds,
        instance.jobs,
        instance.policy,
        params=instance.params,
        seed=instance.seed,
        overheads=instance.overheads,
        queue_limits=instance.queue_limits,
        script=instance.script,
        round_ms=instance.round_ms,
        contention=contention,
        neighbours=neighbours,
        forecasts=forecasts,
    )
