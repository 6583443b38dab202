"""The rate model `tree` and the GPU pickers of `pick-place` on it (semantics.md §12): the engine and the oracle agree
job by job and action by action.
"""

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.gpu_pickers import PICKERS, Edges
from tests.oracle.node_instances import neighbours_of
from tests.oracle.shared_instances import SharedInstance, random_on_tree
from tests.oracle.simulator import simulate
from tests.oracle.tree import CrowdedWorld, Tree

from . import one_in
from .shared_replay import run_engine

CASES = one_in(15)
WEIGHTS = ((0.5, 0.25, 0.025), (0.5, 0.25, 0.025), (0.0, 1.0, 0.0), (2.0, 0.125, 0.5), (0.25, 0.5, 0.125))
"""Of racks, nodes and GPUs; the first are the authors'."""
PICKED = ("pick-place", "pick-place-sjf")
POLICIES = (*PICKED, "fifo", "easy", "srtf", "tiresias")


def drawn(seed: int, policy: str) -> tuple[SharedInstance, Tree]:
    draw = random.Random(-seed)
    params: dict[str, Any] = {}
    if policy in PICKED:
        params = {"gpus": draw.choice((*PICKERS, "nearest", "random"))}
    if policy == "pick-place":
        params["picker"] = draw.choice(("fcfs", "tetris", "drf", "random"))
    law = Tree(Edges(*draw.choice(WEIGHTS)), clamp=draw.choice((0.0, 0.0, 1.0)))
    return random_on_tree(seed, policy, params), law


def words_of(law: Tree) -> str:
    edges = law.edges
    return f"tree:clamp={law.clamp},rack={edges.rack},node={edges.node},gpu={edges.gpu}"


def check_agreement(seed: int, policy: str, folder: Path, *, crowded: bool = False) -> None:
    instance, law = drawn(seed, policy)
    neighbours = neighbours_of(instance) if crowded else None
    engine = run_engine(instance, folder, rate_model=words_of(law), neighbours=neighbours)
    log = [entry[:4] for entry in engine.log]
    oracle = simulate(
        instance.nodes,
        instance.jobs,
        policy,
        params=instance.params,
        placement=instance.placement,
        overheads=instance.overheads,
        queue_limits=instance.queue_limits,
        script=instance.script,
        rate_on=lambda job, place: law.rate(instance.speeds, job, place),
        edges=law.edges,
        round_ms=instance.round_ms,
        told=log,
        make=partial(CrowdedWorld, speeds=instance.speeds, tree=law, neighbours=neighbours) if crowded else None,
    )
    assert log == oracle.log, (policy, seed)
    for field in ("first_start_ms", "end_ms", "run_ms", "preemptions", "cancelled"):
        assert getattr(engine, field) == getattr(oracle, field), (policy, seed, field)
    assert engine.lost_ms == pytest.approx(oracle.lost_ms), (policy, seed)


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_agree(policy: str, tmp_path: Path) -> None:
    for seed in range(CASES):
        check_agreement(seed, policy, tmp_path)


@pytest.mark.parametrize("policy", ["fifo", "srtf", "tiresias"])
def test_policies_agree_where_jobs_slow_each_other_on_nodes(policy: str, tmp_path: Path) -> None:
    for seed in range(CASES):
        check_agreement(seed, policy, tmp_path, crowded=True)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(5))
@pytest.mark.parametrize("policy", POLICIES)
def test_policies_agree_thousands_of_times(policy: str, chunk: int, tmp_path: Path) -> None:
    for seed in range(100_000 + chunk, 100_900, 5):
        check_agreement(seed, policy, tmp_path)


def test_the_instances_have_what_they_are_to_test() -> None:
    instances = [drawn(seed, policy)[0] for policy in POLICIES for seed in range(60)]
    assert sum(len({node.rack for node in i.nodes}) > 1 for i in instances) > 60
    assert sum(len({job.model for job in i.jobs}) > 2 for i in instances) > 200
    assert sum(any(job.gpus > max(n.gpus for n in i.nodes) for job in i.jobs) for i in instances) > 100
    assert sum(any(m.gradient_bytes > 0 for m in i.models.values()) for i in instances) > 200
