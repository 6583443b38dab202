"""Interference on a node under chains of iterations (semantics.md §9, §15): engine and oracle agree job by job."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import floor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pointsman.cluster.layout import Host, Layout
from pointsman.engine.rate_models.factors.node_interference import NUMBERS, NodeInterference
from pointsman.engine.rate_models.speeds import Speeds
from pointsman.policies.registry import get_policy
from tests.oracle import chains
from tests.oracle.model import Job, Node
from tests.oracle.node_instances import draw_host, draw_takes
from tests.oracle.nodes import Neighbours, residual

from . import one_in
from . import test_factors_on_iterations as slowed
from . import test_iterations as alone

CASES = one_in(10)


@dataclass(frozen=True)
class Drawn(NodeInterference):
    """On hosts and with demands that no file states: those of an instance of the oracle's."""

    hosts: Sequence[Host] = ()
    rows: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, NUMBERS)))

    def numbers(self, layout: Layout, speeds: Speeds) -> NDArray[np.float64]:
        return super().numbers(self._of_hosts(layout), replace(speeds, node_demands=self.rows))

    def loads(self, layout: Layout) -> int:
        return super().loads(self._of_hosts(layout))

    def _of_hosts(self, layout: Layout) -> Layout:
        return replace(layout, hosts=tuple(self.hosts), node_type=np.arange(len(self.hosts)))


class World(slowed.SlowedWorld):
    """Jobs slow each other on nodes; the model of a job is its row."""

    neighbours: Neighbours

    def _extra(self, job: Any) -> int:
        others = [(self._as_job(other), frozenset(other.gpus)) for other in self.having("RUNNING") if other is not job]
        psi = self.neighbours.psi(self._as_job(job), frozenset(job.gpus), others)
        return floor((psi - 1) * slowed.ONE + 0.5)

    def _as_job(self, job: Any) -> Job:
        return Job(submit_ms=0, gpus=job.chain.gpus, work_ms=0, model=str(job.row))


def drawn(seed: int, ground: chains.Ground, jobs: Sequence[chains.Chain]) -> tuple[Drawn, Neighbours]:
    draw = random.Random(-7 - seed)
    hosts = [draw_host(draw, gpus) for gpus in ground.nodes]
    takes = {str(row): draw_takes(draw) for row in range(len(jobs)) if draw.random() < 0.85}
    rings = {name: draw.choice((0.0, 120.0, 700.125)) for name in takes}
    kappa, cap = draw.choice((0.0, 4.0, 13.0)), 450.0
    rows = np.zeros((len(jobs), NUMBERS))
    for name, one in takes.items():
        loads = (one.cores, one.traffic, min(cap, one.traffic), rings[name])
        number = 1.0 + sorted(takes).index(name)
        rows[int(name)] = (*(round(1000 * load) for load in loads), one.cores_theta, one.traffic_theta, number)
    theirs = [Host("node", host.sockets, host.cores, host.pcie, host.memory, host.link) for host in hosts]
    nodes = [Node(gpus) for gpus in ground.nodes]
    sigma = draw.choice((0.0, 0.3))
    neighbours = Neighbours(nodes, hosts, takes, lambda job, place: rings[job.model], kappa, cap, sigma, seed)
    models = tuple(sorted(takes)) if sigma > 0 else ()
    pairs = tuple(tuple(residual(seed, sigma, a, b) for b in models) for a in models)
    return Drawn("table", kappa, models, pairs, theirs, rows), neighbours


@pytest.mark.parametrize("policy", ["lwf", "srsf", "ada-srsf"])
def test_chains_of_slowed_tasks(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = alone.Terms
    slowed_some = 0
    for seed in range(CASES):
        params, admit = alone.POLICIES[policy][seed % len(alone.POLICIES[policy])]
        ground, jobs = alone.random_chains(seed, admits=policy != "lwf")
        factor, neighbours = drawn(seed, ground, jobs)
        monkeypatch.setattr(alone, "Terms", partial(terms, factors=(factor,)))
        monkeypatch.setattr(World, "neighbours", neighbours, raising=False)
        world = World(ground, jobs, partial(slowed.decide, params=params, admit=admit))
        simulation = alone.simulation_of(ground, jobs, get_policy(policy).make(params))
        alone.check(simulation, world)
        slowed_some += bool(simulation.handle.world.outcomes["slowed"].any())
    assert slowed_some > CASES // 4
