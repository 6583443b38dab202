"""A factor on computing under chains of iterations (semantics.md §14): the engine and the oracle agree job by job."""

from functools import partial
from typing import Any

import pytest

from pointsman.policies.registry import get_policy
from tests.engine.rate_models.shared_nodes import SharedNodes
from tests.oracle import chains

from . import one_in
from . import test_iterations as alone

CASES = one_in(10)
ONE = 1 << 16


class SlowedWorld(chains.World):
    """Computing takes `times` as long on nodes on which several jobs run; fractions of a ms are carried."""

    times = 1.0

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.extra: dict[int, int] = {}
        self.owed: dict[int, int] = {}

    def _extra(self, job: Any) -> int:
        running = self.having("RUNNING")
        shares = any(sum(node in other.nodes for other in running) > 1 for node in job.nodes)
        return round((self.times - 1) * ONE) if shares else 0

    def _run(self, job: Any) -> None:
        super()._run(job)
        self.owed[job.row] = 0

    def _end_iteration(self, job: Any) -> None:
        alone_ms = job.chain.fw + job.chain.bw
        self.owed[job.row] = (alone_ms * self.extra[job.row] + self.owed[job.row]) % ONE
        super()._end_iteration(job)

    def _longer(self, job: Any, ms: int) -> int:
        return (ms * self.extra[job.row] + self.owed[job.row]) // ONE

    def takes(self, job: Any, worker: str) -> int:
        forward = job.chain.fw + self._longer(job, job.chain.fw)
        whole = job.chain.fw + job.chain.bw
        return forward if worker == "forward" else whole + self._longer(job, whole) - forward

    def _tasks(self) -> None:
        for job in self.having("RUNNING"):
            if set(job.workers.values()) == {"forward"}:
                self.extra[job.row] = self._extra(job)
        super()._tasks()


def decide(world: chains.World, params: dict[str, Any], admit: Any) -> None:
    chains.place_waiting(world, params.get("kappa", 1), params.get("choice", "lwf"))
    if admit is not None:
        admit(world)


@pytest.mark.parametrize("times", [1.7, 2.25])
@pytest.mark.parametrize("policy", ["lwf", "srsf", "ada-srsf"])
def test_chains_of_slowed_tasks(policy: str, times: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alone, "Terms", partial(alone.Terms, factors=(SharedNodes(times),)))
    monkeypatch.setattr(SlowedWorld, "times", times)
    for seed in range(CASES):
        params, admit = alone.POLICIES[policy][seed % len(alone.POLICIES[policy])]
        ground, jobs = alone.random_chains(seed, admits=policy != "lwf")
        world = SlowedWorld(ground, jobs, partial(decide, params=params, admit=admit))
        alone.check(alone.simulation_of(ground, jobs, get_policy(policy).make(params)), world)
