"""Interference between jobs on a node (semantics.md §15): the engine and the oracle agree job by job and action by
action, beside sharing of GPUs, links, fractions, failures and overheads.

``POINTSMAN_ORACLE_INSTANCES=10000`` sets how many random instances there are.
"""

import os
from pathlib import Path

import pytest

from tests.oracle.node_instances import neighbours_of
from tests.oracle.shared_instances import POLICIES, random_shared, with_links
from tests.oracle.uplinks import Contention

from .shared_replay import differences, run_engine

INSTANCES = int(os.environ.get("POINTSMAN_ORACLE_INSTANCES", "1000")) // 25
LINKS = (None, None, None, Contention("max-min"), Contention("duty-cycle"), Contention("level"))


@pytest.mark.parametrize("policy", list(POLICIES))
def test_policies_agree(policy: str, tmp_path: Path) -> None:
    for seed in range(INSTANCES):
        instance, contention = random_shared(seed, (policy,)), LINKS[seed % len(LINKS)]
        instance = instance if contention is None else with_links(instance)
        neighbours = neighbours_of(instance)
        engine = run_engine(instance, tmp_path, contention=contention, neighbours=neighbours)
        oracle = instance.run_oracle(contention=contention, neighbours=neighbours)
        found = differences(engine, oracle)
        assert not found, (policy, seed, found)
