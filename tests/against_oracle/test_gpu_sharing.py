"""Shared GPUs (semantics.md §10): the engine and the oracle agree job by job and action by action."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.instances import with_shapes
from tests.oracle.shared_instances import POLICIES, SharedInstance, random_shared

from . import one_in
from .shared_replay import cluster_of, differences, run_engine, with_measured_pairs

CASES = one_in(5)
CHUNKS = 2


def drawn(seed: int, policy: str) -> SharedInstance:
    """Slow-downs are mostly numbers and files; now and then the shipped pairs, or their law."""
    instance = random_shared(seed, (policy,))
    instance = replace(instance, jobs=with_shapes(seed, instance.nodes, instance.jobs))
    word = {3: "table", 4: "law"}.get(seed % 5)
    return with_measured_pairs(instance, word) if word else instance


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("policy", list(POLICIES))
def test_policies_agree(policy: str, chunk: int, tmp_path: Path) -> None:
    for seed in range(chunk, CASES, CHUNKS):
        instance = drawn(seed, policy)
        found = differences(run_engine(instance, tmp_path), instance.run_oracle())
        assert not found, (policy, seed, found)


def test_the_oracles_network_is_that_of_the_cluster_file(tmp_path: Path) -> None:
    """Bandwidths, latencies and who shares them, done again by hand in the oracle."""
    from pointsman.speed import topology

    for seed in range(30):
        instance = random_shared(seed)
        layout = cluster_of(instance, tmp_path).layout()
        for index, kind in enumerate(layout.gpu_types):
            network = topology(layout, index).network
            for level, link in list(enumerate(instance.speeds.networks[kind]))[1:]:
                assert network.bandwidth_bytes_per_s[level] == pytest.approx(link.bytes_per_s)
                assert network.latency_s[level] == pytest.approx(link.latency_s)
                assert level == 1 or network.sharers[level] == link.sharers
        assert layout.gpu_memory_bytes.tolist() == [instance.memory[kind] for kind in layout.gpu_types]
