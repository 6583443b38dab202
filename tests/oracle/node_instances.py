"""Random instances whose jobs slow each other on nodes (section 15), made of those with shared GPUs."""

import random
from collections.abc import Callable, Mapping

from .model import Job, Place
from .nodes import Host, Neighbours, Takes
from .shared_instances import NAMES, SharedInstance
from .speeds import Speeds

THETAS = (0.0, 0.2, 0.5, 0.8, 1.0, 2.0)


def neighbours_of(instance: SharedInstance) -> Neighbours:
    """Drawn by the instance's seed: nodes of a size and type are alike, and of some models nothing is known."""
    draw = random.Random(-5 - instance.seed)
    kinds = {(node.gpu_type, node.gpus): draw_host(draw, node.gpus) for node in instance.nodes}
    return Neighbours(
        nodes=instance.nodes,
        hosts=[kinds[node.gpu_type, node.gpus] for node in instance.nodes],
        takes={name: draw_takes(draw) for name in NAMES if draw.random() < 0.85},
        ring=ring_of(instance.speeds),
        kappa=draw.choice((0.0, 1.0, 4.0, 13.0)),
        sigma=draw.choice((0.0, 0.1, 0.4)),
        seed=draw.randrange(1000),
    )


def draw_host(draw: random.Random, gpus: int) -> Host:
    return Host(
        sockets=draw.choice((1, 2, 2, 3)),
        cores=draw.choice((2, gpus + 1, 2 * gpus + 1)),
        pcie=draw.choice((1000.0, 1500.0)),
        memory=draw.choice((1000.0, 4000.0)),
        link=draw.choice((100.0, 500.0, 3000.0)),
    )


def draw_takes(draw: random.Random) -> Takes:
    return Takes(
        cores=draw.choice((0.0, 0.5, 1.2345, 2.0)),
        traffic=draw.choice((0.0, 100.0, 437.5678, 900.0)),
        cores_theta=draw.choice(THETAS),
        traffic_theta=draw.choice(THETAS),
    )


def ring_of(speeds: Speeds) -> Callable[[Job, Place], float]:
    """Both ways, once in the computing of an iteration."""

    def ring(job: Job, place: Place) -> float:
        gpu_type = speeds.type_of_gang(sorted({node for node, _ in place}))
        return 2 * speeds.models[job.model].gradient_bytes / 1e6 / speeds.compute_s(job, gpu_type, 1)

    return ring


def words_of(neighbours: Neighbours) -> str:
    """What the option says."""
    return f"table:kappa={neighbours.kappa:g},sigma={neighbours.sigma:g},seed={neighbours.seed}"


def hosts_by_kind(neighbours: Neighbours) -> Mapping[tuple[str, int], Host]:
    pairs = zip(neighbours.nodes, neighbours.hosts, strict=True)
    return {(node.gpu_type, node.gpus): host for node, host in pairs}
