"""Small random instances, each policy's in the engine and in the oracle, for runs without the JIT. (The suite has the
same and more, compiled.)
"""

from dataclasses import replace
from pathlib import Path

import pytest

from pointsman.policies.registry import get_policy
from tests.against_oracle import test_iterations as chains
from tests.against_oracle import test_learned as learned
from tests.against_oracle import test_random_actions as changes
from tests.against_oracle import test_tree as tree
from tests.against_oracle.shared_replay import differences
from tests.against_oracle.shared_replay import run_engine as run_shared
from tests.against_oracle.test_policies import check_agreement
from tests.oracle.chains import World, place_waiting
from tests.oracle.instances import Kind, random_instance
from tests.oracle.shared_instances import POLICIES as SHARED
from tests.oracle.shared_instances import random_shared
from tests.oracle.simulator import POLICIES
from tests.oracle.uplinks import Contention

SMALL = Kind(most_nodes=4, most_jobs=9)
FEW = range(6)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("policy", list(POLICIES))
def test_policies(policy: str, seed: int) -> None:
    check_agreement(random_instance(3000 + seed, replace(SMALL, policies=(policy,))))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("policy", list(SHARED))
def test_sharing(policy: str, seed: int, tmp_path: Path) -> None:
    instance = random_shared(3000 + seed, (policy,))
    instance = replace(instance, jobs=instance.jobs[:8], script=tuple(e for e in instance.script if e[1] != "CANCEL"))
    assert not differences(run_shared(instance, tmp_path), instance.run_oracle())


@pytest.mark.parametrize("seed", range(10))
def test_whims(seed: int, tmp_path: Path) -> None:
    engine, oracle, _ = changes.both(changes.drawn(3000 + seed), tmp_path)
    assert not differences(engine, oracle)


@pytest.mark.parametrize("seed", FEW)
@pytest.mark.parametrize("how", changes.LINKS)
@pytest.mark.parametrize("on_bcube", [False, True])
def test_links(how: str, seed: int, on_bcube: bool, tmp_path: Path) -> None:
    instance = changes.drawn(3000 + seed, on_bcube=on_bcube)
    instance = instance if on_bcube else changes.with_links(instance)
    engine, oracle, _ = changes.both(instance, tmp_path, Contention(how))
    assert not differences(engine, oracle)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("policy", list(chains.POLICIES))
def test_chains(policy: str, seed: int) -> None:
    params, admit = chains.POLICIES[policy][seed % len(chains.POLICIES[policy])]
    ground, jobs = chains.random_chains(3000 + seed, admits=policy != "lwf")

    def decide(world: World) -> None:
        place_waiting(world, params.get("kappa", 1), params.get("choice", "lwf"))
        if admit is not None:
            admit(world)

    simulation = chains.simulation_of(ground, jobs, get_policy(policy).make(params))
    chains.check(simulation, World(ground, jobs, decide))


@pytest.mark.parametrize("seed", FEW)
@pytest.mark.parametrize("policy", ["pick-place", "fifo"])
def test_tree(policy: str, seed: int, tmp_path: Path) -> None:
    tree.check_agreement(3000 + seed, policy, tmp_path)


@pytest.mark.parametrize("seed", FEW)
def test_learned(seed: int) -> None:
    learned.check_agreement(3000 + seed)
