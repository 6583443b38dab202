"""Layouts against figures worked out by hand."""

import numpy as np
import pytest

from pointsman.cluster import Cluster, load_cluster
from pointsman.cluster.layout import Host
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.types import Locality

MIXED = """
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: mixed}
spec:
  gpu_types:
    k9: {memory: 10 GB}
  node_types:
    unused: {gpus: 1, gpu_type: h100}
    big: {gpus: 8, gpu_type: a100, nic: {bandwidth: 200 Gb/s, count: 4}}
    small:
      gpus: 2
      gpu_type: k9
      interconnect: {kind: pcie, bandwidth: 10 GB/s, latency: 2 us}
      nic: {bandwidth: 40 Gb/s, per: gpu}
    cpu: {gpus: 0, cpus: 64}
  racks:
    - count: 2
      nodes:
        - {type: small, count: 2, partitions: [all, old]}
        - {type: cpu}
    - nodes:
        - {type: cpu, count: 3}
    - count: 3
      nodes:
        - {type: big, count: 1, partitions: [all]}
  racks_per_pod: 3
  network:
    rack: {oversubscription: 2}
    pod: {oversubscription: 4, latency: 20 us}
    cluster: {bandwidth: 1 Gb/s}
  queues:
    prod: {gpu_limit: 16}
    dev: {}
"""


@pytest.fixture
def mixed() -> Cluster:
    return parse_cluster(MIXED, origin="mixed.yaml")


def test_nodes_without_gpus_are_left_out_and_the_rest_counted_densely(mixed: Cluster) -> None:
    layout = mixed.layout()
    assert (mixed.nodes, mixed.gpus, mixed.gpu_types) == (7, 32, ("k9", "a100"))
    assert layout.node_gpus.tolist() == [2, 2, 2, 2, 8, 8, 8]
    assert layout.node_rack.tolist() == [0, 0, 1, 1, 2, 3, 4]
    assert layout.node_pod.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert layout.node_names == ("n0000", "n0001", "n0003", "n0004", "n0009", "n0010", "n0011")
    assert layout.node_partitions == (("all", "old"),) * 4 + (("all",),) * 3
    assert layout.queue_limits == {"prod": 16}


def test_types_are_numbered_by_first_appearance(mixed: Cluster) -> None:
    layout = mixed.layout()
    assert layout.gpu_types == ("k9", "a100")
    assert layout.node_types == ("small", "big")
    assert layout.node_gpu_type.tolist() == layout.node_type.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert layout.gpu_memory_bytes.tolist() == [10e9, 80 * 2**30]


def test_bandwidth_is_per_gpu_with_cards_shared_and_oversubscription_paid(mixed: Cluster) -> None:
    layout = mixed.layout()
    small, big = layout.bandwidth_bytes_per_s
    assert small.tolist() == [np.inf, 10e9, 2.5e9, 0.625e9, 0.125e9]
    assert big.tolist() == [np.inf, 300e9, 4 * 25e9 / 8 / 2, 4 * 25e9 / 8 / 2 / 4, 0.125e9]
    assert layout.latency_s.tolist() == [[0, 2e-6, 5e-6, 2e-5, 2e-5], [0, 1.5e-6, 5e-6, 2e-5, 2e-5]]


def test_arrays_have_the_dtypes_of_the_contract(mixed: Cluster) -> None:
    layout = mixed.layout()
    for name in ("node_gpus", "node_rack", "node_pod", "node_gpu_type", "node_type"):
        assert getattr(layout, name).dtype == np.int64
    for name in ("gpu_memory_bytes", "bandwidth_bytes_per_s", "latency_s"):
        assert getattr(layout, name).dtype == np.float64
    assert layout.bandwidth_bytes_per_s.shape == layout.latency_s.shape == (2, len(Locality))


def test_what_the_gpus_of_a_node_share_besides_cards(mixed: Cluster) -> None:
    """By default as documented; 1-GPU nodes have cores for any model of the catalogue."""
    assert mixed.layout().hosts == (
        Host("small", 2, 6.0, 12_000.0, 12_000.0, 20_000.0),
        Host("big", 2, 24.0, 12_000.0, 12_000.0, 20_000.0),
    )
    assert load_cluster("2x1").layout().hosts[0].cores == 6
    host = "cpus: 96, sockets: 4, host: {pcie: 25 GB/s, memory: 200 Gb/s, socket_link: 0.5 GB/s},"
    text = MIXED.replace("    big: {gpus: 8, gpu_type: a100,", "    big: {gpus: 8, gpu_type: a100, " + host)
    assert parse_cluster(text, origin="x").layout().hosts[1] == Host("big", 4, 96.0, 25_000.0, 25_000.0, 500.0)


def test_racks_are_cut_across_groups() -> None:
    text = MIXED[: MIXED.index("  racks:")] + (
        "  nodes:\n  - {type: small, names: 'a[1-3]'}\n  - {type: big, count: 3, names: 'b[1-3]'}\n"
        "  nodes_per_rack: 2\n  racks_per_pod: 2\n"
    )
    layout = parse_cluster(text, origin="x").layout()
    assert layout.node_rack.tolist() == [0, 0, 1, 1, 2, 2]
    assert layout.node_pod.tolist() == [0, 0, 0, 0, 1, 1]
    assert layout.node_names == ("a1", "a2", "a3", "b1", "b2", "b3")


def test_a_large_cluster_is_laid_out() -> None:
    layout = load_cluster("8192x8/rack=32,pod=16").layout()
    assert layout.node_gpus.sum() == 65536
    assert layout.node_rack[-1] == 255
    assert layout.node_pod[-1] == 15
