"""Interference between jobs on a node (semantics.md §15): the engine and the oracle agree job by job and action by
action, beside sharing of GPUs, links, fractions, failures and overheads.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.learnt_nodes import learnt_of
from tests.oracle.node_instances import neighbours_of
from tests.oracle.shared_instances import POLICIES, random_shared, with_links
from tests.oracle.uplinks import Contention

from . import one_in
from .shared_replay import differences, run_engine

CASES = one_in(15)
LINKS = (None, None, None, Contention("max-min"), Contention("duty-cycle"), Contention("level"))


@pytest.mark.parametrize("policy", list(POLICIES))
def test_policies_agree(policy: str, tmp_path: Path) -> None:
    for seed in range(CASES):
        instance, contention = random_shared(seed, (policy,)), LINKS[seed % len(LINKS)]
        instance = instance if contention is None else with_links(instance)
        neighbours = neighbours_of(instance)
        engine = run_engine(instance, tmp_path, contention=contention, neighbours=neighbours)
        oracle = instance.run_oracle(contention=contention, neighbours=neighbours)
        found = differences(engine, oracle)
        assert not found, (policy, seed, found)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_policies_agree_by_a_learnt_file(policy: str, tmp_path: Path) -> None:
    for seed in range(1000, 1000 + one_in(30)):
        instance, contention = random_shared(seed, (policy,)), LINKS[seed % len(LINKS)]
        instance = instance if contention is None else with_links(instance)
        learnt = learnt_of(instance)
        engine = run_engine(instance, tmp_path, contention=contention, neighbours=learnt)
        oracle = instance.run_oracle(contention=contention, neighbours=learnt)
        found = differences(engine, oracle)
        assert not found, (policy, seed, found)


def test_learnt_files_are_used() -> None:
    """Most jobs are slowed, some by what is looked up and some by the law."""
    slower = 0
    for seed in range(40):
        instance = random_shared(seed)
        slower += instance.run_oracle(neighbours=learnt_of(instance)).run_ms != instance.run_oracle().run_ms
    assert slower > 25


@pytest.mark.slow
def test_the_instances_have_what_they_are_to_test() -> None:
    """Most jobs are slowed by others; some by each resource, on shared GPUs and on fractions."""
    felt: dict[str, int] = dict.fromkeys(("slower", "link", "shared", "fractions"), 0)
    for seed in range(60):
        instance = random_shared(seed)
        neighbours = neighbours_of(instance)
        beside, alone = instance.run_oracle(neighbours=neighbours), instance.run_oracle()
        felt["slower"] += beside.run_ms != alone.run_ms
        felt["shared"] += (instance.sharing or 1) > 1 and beside.run_ms != alone.run_ms
        felt["fractions"] += any(job.milli < 1000 and job.model in neighbours.takes for job in instance.jobs)
        no_link = replace(neighbours, hosts=[replace(host, link=1e9) for host in neighbours.hosts])
        felt["link"] += instance.run_oracle(neighbours=no_link).run_ms != beside.run_ms
    assert felt["slower"] > 30 and felt["shared"] > 15 and felt["fractions"] > 15 and felt["link"] > 5, felt
