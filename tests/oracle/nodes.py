"""Section 15: what jobs on different GPUs of a node do to each other, added up anew for every worker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import exp, floor, prod
from statistics import NormalDist
from typing import Protocol

from .model import Gpu, Job, Node, Place
from .speeds import rounded

MOST = 10**6


@dataclass(frozen=True)
class Host:
    """Of a node; 10^6 bytes per second."""

    sockets: int
    cores: float
    pcie: float
    memory: float
    link: float


@dataclass(frozen=True)
class Takes:
    """Each GPU of a job of the model, and how much it suffers."""

    cores: float
    traffic: float
    cores_theta: float
    traffic_theta: float


class Slowing(Protocol):
    """What jobs on a node do to each other."""

    def psi(self, job: Job, place: Place, others: Sequence[tuple[Job, Place]]) -> float:
        """Of a job that runs there beside `others`, which run too."""
        ...


@dataclass(frozen=True)
class Neighbours:
    """The law, the nodes and the models."""

    nodes: Sequence[Node]
    hosts: Sequence[Host]
    """Of each node."""
    takes: Mapping[str, Takes]
    """By model; of others nothing is known."""
    ring: Callable[[Job, Place], float]
    """What a job moves between the sockets of a node on which it is on several."""
    kappa: float = 4.0
    cap: float = 450.0
    sigma: float = 0.0
    seed: int = 0

    def psi(self, job: Job, place: Place, others: Sequence[tuple[Job, Place]]) -> float:
        """Of a job that runs there beside `others`, which run too. Raises ValueError beyond what section 14 allows."""
        if job.model not in self.takes:
            return 1.0
        found = rounded(max(self.of_worker(gpu, job, place, others) for gpu in place))
        if found > MOST:
            raise ValueError(f"{found} times as long: a factor states a number from 1 to {MOST}")
        return found

    def of_worker(self, gpu: Gpu, job: Job, place: Place, others: Sequence[tuple[Job, Place]]) -> float:
        node, host, mine = gpu[0], self.hosts[gpu[0]], self.takes[job.model]
        elsewhere = [(other, there - {gpu}) for other, there in others if other.model in self.takes]
        apart = [(other, there) for other, there in others if gpu not in there and other.model in self.takes]
        workers = [(other, at) for other, there in (*elsewhere, (job, place)) for at in there if at[0] == node]
        cores = sum(part(other, self.takes[other.model].cores) for other, _ in workers)
        pcie = sum(
            part(other, self.takes[other.model].traffic) for other, at in workers if self.socket(at) == self.socket(gpu)
        )
        link = sum(
            part(other, self.ring(other, there))
            for other, there in (*apart, (job, place))
            if self.is_on_several_sockets(node, there)
        )
        beside = sum(
            part(other, min(self.cap, self.takes[other.model].traffic))
            for other, there in elsewhere
            for at in there
            if at[0] == node
        )
        longer = over(cores, host.cores, mine.cores_theta) * over(pcie, host.pcie, mine.traffic_theta)
        if self.is_on_several_sockets(node, place):
            longer *= over(link, host.link, mine.traffic_theta)
        longer *= 1 + self.kappa * mine.traffic_theta * (beside / (1000 * host.memory))
        met = {other.model for other, there in elsewhere if any(at[0] == node for at in there)}
        return longer * prod(residual(self.seed, self.sigma, job.model, model) for model in sorted(met))

    def socket(self, gpu: Gpu) -> int:
        return gpu[1] * self.hosts[gpu[0]].sockets // self.nodes[gpu[0]].gpus

    def is_on_several_sockets(self, node: int, place: Place) -> bool:
        return len({self.socket(gpu) for gpu in place if gpu[0] == node}) > 1


def residual(seed: int, sigma: float, model: str, beside: str) -> float:
    """Drawn from the first 48 bits of a digest."""
    bits = int(sha256(bytes(f"{seed}|{model}|{beside}", "utf-8")).hexdigest()[:12], 16)
    return max(1.0, exp(sigma * NormalDist().inv_cdf((bits + 0.5) / 2**48)))


def part(job: Job, whole: float) -> int:
    """Thousandths, of which a fraction of a GPU takes its share."""
    return floor(round(1000 * whole) * job.milli / 1000)


def over(load: int, capacity: float, theta: float) -> float:
    return max(1.0, load / (1000 * capacity)) ** theta
