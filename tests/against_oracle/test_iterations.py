"""Chains of iterations: the engine, which leaps, and the oracle, which does not, agree job by job (semantics.md §9)."""

import random
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from pointsman.cluster.layout import Layout
from pointsman.engine.rate_models.base.iterations import Iterations
from pointsman.engine.rate_models.speeds import Speeds
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.setup.build import Rules, build
from pointsman.engine.setup.demand import Demand, make_pools
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.setup.terms import Terms
from pointsman.engine.state.records import ACCUMULATIONS, SCRIPT, STEP, SUBBATCH, TRACE
from pointsman.policies.registry import get_policy
from pointsman.types import LOCALITIES, Event, JobState, Reason, Verb
from tests.oracle import chains
from tests.oracle.chains import Action, Chain, Ground, World
from tests.oracle.model import Gpu

from . import INSTANCES

CHUNKS = 5


def random_chains(seed: int, admits: bool = True, told: bool = True) -> tuple[Ground, list[Chain]]:
    draw = random.Random(seed)
    nodes = tuple(draw.randint(1, 4) for _ in range(draw.randint(1, 4)))
    ground = Ground(
        nodes=nodes,
        memory=10,
        sharing=draw.choice([1, 2, 3, 8, 8]),
        latency=draw.choice([0, 0, 0, 2]),
        penalty=draw.choice([0.0, 0.25, 0.235 / 0.856, 1.5]),
        admits=admits,
        start_ms=draw.choice([0, 0, 0, 3]),
        stop_ms=draw.choice([0, 0, 2]),
        lost_ms=draw.choice([0, 0, 5]),
    )
    longest = draw.choice([3, 20, 60])
    jobs = []
    submits = [draw.choice([0, 0, draw.randint(0, 30), draw.randint(0, 300)]) for _ in range(draw.randint(1, 8))]
    for submit in sorted(at - min(submits) for at in submits):
        fw, bw = draw.randint(1, longest), draw.choice([0, draw.randint(1, longest)])
        wire = draw.choice([0.0, draw.randint(1, 40) / 8, 0.856 * draw.randint(1, 60), float(draw.randint(1, longest))])
        solo = fw + bw + draw.choice([0, int(np.ceil(wire))])
        work = round(solo * (draw.randint(1, 9) + draw.choice([0.0, 0.25, -0.25, 0.5])))
        estimate = float(draw.choice([work, work, draw.randint(1, 2 * work)]))
        gpus = draw.randint(1, min(6, sum(nodes)))
        memory = draw.choice([1, 3, 5, 10])
        jobs.append(Chain(submit, gpus, float(work), fw, bw, wire, solo, memory, estimate if told else None))
    return replace(ground, cancels=some_cancels(draw, jobs)), jobs


def some_cancels(draw: random.Random, jobs: list[Chain]) -> tuple[tuple[int, int], ...]:
    """Of a third of the instances users cancel some jobs, in the midst of tasks and transfers or while they wait."""
    rows = [row for row in range(len(jobs)) if draw.random() < 0.3] if draw.random() < 0.3 else []
    return tuple((jobs[row].submit_ms + draw.randint(1, draw.choice([5, 50, 400])), row) for row in rows)


def with_shapes(seed: int, ground: Ground, jobs: list[Chain]) -> list[Chain]:
    """In every other instance, half of the jobs of several GPUs have a shape that the cluster could hold."""
    draw = random.Random(f"shapes {seed}")
    if draw.random() < 0.5:
        return jobs
    shaped = []
    for job in jobs:
        divisors = [g for g in range(1, job.gpus + 1) if job.gpus % g == 0]
        per_node = draw.choice(divisors) if job.gpus > 1 and draw.random() < 0.5 else 0
        fits = per_node == 0 or sum(size >= per_node for size in ground.nodes) * per_node >= job.gpus
        shaped.append(replace(job, per_node=per_node) if fits else job)
    return shaped


def simulation_of(ground: Ground, jobs: list[Chain], policy: Any) -> Simulation:
    nodes = len(ground.nodes)
    flat = np.ones((1, LOCALITIES))
    layout = Layout(
        node_names=tuple(f"n{i}" for i in range(nodes)), node_gpus=np.array(ground.nodes, np.int64),
        node_rack=np.zeros(nodes, np.int64), node_pod=np.zeros(nodes, np.int64),
        node_gpu_type=np.zeros(nodes, np.int64), node_type=np.zeros(nodes, np.int64), node_partitions=((),) * nodes,
        gpu_types=("gpu",), node_types=("node",), gpu_memory_bytes=np.array([float(ground.memory)]),
        bandwidth_bytes_per_s=flat, latency_s=flat, sharers=flat, queue_limits={},
    )  # fmt: skip
    pools = make_pools(layout)
    everywhere = (tuple(range(len(pools.sizes))),)
    widths = sorted({(job.gpus, job.per_node) for job in jobs})
    demands = [Demand(gpus, everywhere, -1, per_node=per_node) for gpus, per_node in widths]
    cls = [widths.index((job.gpus, job.per_node)) for job in jobs]
    told = [np.nan if job.told is None else job.told for job in jobs]
    trace = np.array([(j.submit_ms, j.work, told[i], cls[i], 0, 0, i, 0) for i, j in enumerate(jobs)], TRACE)
    speeds = Speeds.without_models(np.ones((len(jobs), LOCALITIES)), 1)
    steps = np.array([(j.fw, j.bw, j.wire, j.solo) for j in jobs], STEP)
    subbatches = np.zeros((len(jobs), ACCUMULATIONS), SUBBATCH)
    subbatches["bytes"][:, 0] = [j.memory for j in jobs]
    rules = Rules(
        start_ms=ground.start_ms, stop_ms=ground.stop_ms, lost_ms=ground.lost_ms, audit=True,
        hosted=not hasattr(policy, "parameters"), admits=ground.admits,
    )  # fmt: skip
    terms = Terms(base_model=Iterations(a=ground.latency, b=1.0, eta=ground.penalty, sharing=ground.sharing))
    script = np.array(sorted((time_ms, Event.CANCEL, row, 0, -1, 0.0) for time_ms, row in ground.cancels), SCRIPT)
    speeds = replace(speeds, steps=steps, subbatches=subbatches.ravel())
    prepared = Prepared(pl.DataFrame(), trace, layout, pools, demands, [-1], speeds, terms)
    return Simulation(build(prepared, rules, policy, script), policy)


def actions_of(simulation: Simulation) -> list[tuple[int, Action]]:
    log = simulation.log()
    taken: list[tuple[int, Action]] = []
    for seq in dict.fromkeys(log["seq"].tolist()):
        rows = log[log["seq"] == seq]
        if rows["kind"][0] in (Verb.START, Verb.PREEMPT, Verb.ADMIT):
            verb = Verb(rows["kind"][0]).name
            gpus = [(int(p["node"]), g) for p in rows for g in range(64) if verb == "START" and int(p["mask"]) >> g & 1]
            taken.append((int(rows["time"][0]), (verb, int(rows["row"][0]), tuple(sorted(gpus)))))
    return taken


def check(simulation: Simulation, world: World) -> None:
    simulation.run()
    world.run()
    assert actions_of(simulation) == world.actions
    outcomes = simulation.handle.world.outcomes
    for name, ours in (("start", "first_start_ms"), ("end", "end_ms"), ("run", "run_ms"), ("held", "held_gpu_ms")):
        wanted = [getattr(job, ours) for job in world.jobs]
        assert outcomes[name].tolist() == [-1 if value is None else value for value in wanted], name
    cancelled = [job.state == "CANCELLED" for job in world.jobs]
    assert (outcomes["state"] == JobState.CANCELLED).tolist() == cancelled
    assert outcomes["waited"].tolist() == [job.comm_ms for job in world.jobs]
    assert simulation.decisions == len(world.passes)


POLICIES: dict[str, list[tuple[dict[str, Any], Any]]] = {
    "lwf": [({"kappa": k, "choice": c}, None) for k in (0, 1, 2, 4) for c in ("lwf", "list", "first-fit")],
    "srsf": [({"transfers": t}, partial(chains.srsf, transfers=t)) for t in (1, 2, 3)],
    "ada-srsf": [({}, chains.ada_dual), ({"kappa": 3}, chains.ada_dual)],
}


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("policy", list(POLICIES))
def test_policies_agree(policy: str, chunk: int) -> None:
    for seed in range(chunk, INSTANCES, CHUNKS):
        params, admit = POLICIES[policy][seed % len(POLICIES[policy])]
        ground, jobs = random_chains(seed, admits=policy != "lwf")
        jobs = with_shapes(seed, ground, jobs)

        def decide(world: World, params: dict[str, Any] = params, admit: Any = admit) -> None:
            chains.place_waiting(world, params.get("kappa", 1), params.get("choice", "lwf"))
            if admit is not None:
                admit(world)

        check(simulation_of(ground, jobs, get_policy(policy).make(params)), World(ground, jobs, decide))


@dataclass
class Whims:
    """Starts jobs anywhere, preempts them and admits their transfers, as the dice fall; notes what it did."""

    seed: int
    admits: bool
    name: str = "whims"
    needs: str = "oracle"
    done: dict[int, list[Action]] = field(default_factory=dict)
    wakes: dict[int, int] = field(default_factory=dict)
    """When it asked to be woken, and for when."""
    passes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)

    def decide(self, view: Any) -> None:
        self.passes.append(view.now_ms)
        did = self.done.setdefault(view.now_ms, [])
        rows = view.jobs["row"]
        for j in sorted(view.running, key=lambda j: int(rows[j])):
            if self.draw.random() < 0.05 and view.preempt(j) == Reason.OK:
                did.append(("PREEMPT", int(rows[j]), ()))
        for j in sorted(view.pending, key=lambda j: int(rows[j])):
            if self.draw.random() < 0.7:
                every = [(n, g) for n, size in enumerate(view.state.nodes["gpus"].tolist()) for g in range(size)]
                gpus: list[Gpu] = self.draw.sample(every, int(view.jobs["asked"][j]))
                if view.start(j, gpus) == Reason.OK:
                    did.append(("START", int(rows[j]), tuple(sorted(gpus))))
        for j in view.waiting_transfers:
            if self.draw.random() < 0.6:
                assert view.admit(j) == Reason.OK
                did.append(("ADMIT", int(rows[j]), ()))
        if view.pending_count or view.waiting_transfers:
            at = view.now_ms + self.draw.randint(1, 40)
            view.wake_at(at / 1000)
            self.wakes[view.now_ms] = int(np.ceil(at / 1000 * 1000))  # as the view understands it


def replay(whims: Whims, world: World) -> None:
    world.wake_at(whims.wakes.get(world.now, world.wake_ms))
    for verb, row, gpus in whims.done.get(world.now, []):
        job = world.jobs[row]
        if verb == "START":
            assert all(world.has_room(job, gpu) for gpu in gpus)
            world.start(job, gpus)
        elif verb == "PREEMPT":
            world.preempt(job)
        else:
            world.admit(job)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_whatever_a_policy_does_ends_in_the_same_way(chunk: int) -> None:
    """Sharing, preemption in the midst of tasks and transfers, admission at any time."""
    for seed in range(chunk, INSTANCES, CHUNKS):
        ground, jobs = random_chains(seed, admits=seed % 3 > 0, told=seed % 5 > 0)
        whims = Whims(seed, ground.admits)
        simulation = simulation_of(ground, jobs, whims)
        simulation.run()
        cancelled = {row for _, row in ground.cancels}
        states = simulation.handle.world.outcomes["state"].tolist()
        assert all(s == JobState.COMPLETED or row in cancelled for row, s in enumerate(states))
        world = World(ground, jobs, partial(replay, whims))
        check(simulation, world)
        assert whims.passes == world.passes
