"""What a cluster offers the gangs of one GPU type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.cluster import Cluster, load_cluster
from pointsman.speed import GangShape, Topology, topology
from pointsman.types import Locality

MIXED = {
    "apiVersion": "pointsman/v1",
    "kind": "Cluster",
    "metadata": {"name": "mixed"},
    "spec": {
        "node_types": {
            "old": {"gpus": 2, "gpu_type": "p100", "nic": {"bandwidth": "10 Gb/s"}},
            "new": {"gpus": 8, "gpu_type": "a100", "nic": {"bandwidth": "100 Gb/s"}},
            "small": {"gpus": 4, "gpu_type": "a100", "nic": {"bandwidth": "25 Gb/s"}},
        },
        "racks": [
            {"nodes": [{"type": "old", "count": 2}, {"type": "new", "count": 1}]},
            {"nodes": [{"type": "small", "count": 3}, {"type": "new", "count": 2}]},
        ],
    },
}


@pytest.fixture(scope="module")
def regular() -> Topology:
    """16 nodes of 8 GPUs, 4 nodes to a rack."""
    return topology(load_cluster("16x8/rack=4,gpu=v100").layout(), 0)


@pytest.mark.parametrize(
    ("gpus", "best"),
    [(1, "GPU"), (2, "NODE"), (8, "NODE"), (9, "RACK"), (32, "RACK"), (33, "POD"), (128, "POD"), (129, "CLUSTER")],
)
def test_best_locality(regular, gpus, best):
    assert regular.best_locality(gpus) == Locality[best]


@pytest.mark.parametrize(
    ("gpus", "locality", "largest", "smallest"),
    [
        (1, "CLUSTER", (1, 1, 1, 1), (1, 1, 1, 1)),
        (6, "NODE", (6, 1, 1, 1), (6, 1, 1, 1)),
        (6, "RACK", (3, 2, 1, 1), (3, 2, 1, 1)),
        (5, "POD", (3, 1, 2, 1), (2, 1, 2, 1)),
        (2, "CLUSTER", (1, 1, 1, 2), (1, 1, 1, 2)),
        (24, "RACK", (8, 3, 1, 1), (8, 3, 1, 1)),
        (20, "RACK", (8, 3, 1, 1), (4, 3, 1, 1)),
        (24, "POD", (8, 2, 2, 1), (8, 1, 2, 1)),
        (64, "POD", (8, 4, 2, 1), (8, 4, 2, 1)),
        (72, "POD", (8, 4, 3, 1), (8, 1, 3, 1)),
        (72, "CLUSTER", (8, 4, 2, 2), (8, 1, 1, 2)),
    ],
)
def test_shapes_by_hand(regular, gpus, locality, largest, smallest):
    assert regular.shape(gpus, Locality[locality]) == GangShape(largest, smallest)


@pytest.mark.parametrize(
    ("gpus", "per_node", "best", "largest", "smallest"),
    [
        (8, 8, "NODE", (8, 1, 1, 1), (8, 1, 1, 1)),
        (8, 2, "RACK", (2, 4, 1, 1), (2, 4, 1, 1)),
        (5, 1, "POD", (1, 4, 2, 1), (1, 1, 2, 1)),
        (34, 2, "CLUSTER", (2, 4, 3, 2), (2, 1, 2, 2)),
    ],
)
def test_a_shape_that_is_asked_for(regular, gpus, per_node, best, largest, smallest):
    assert regular.best_locality(gpus, per_node) == Locality[best]
    assert regular.shape(gpus, Locality[best], per_node) == GangShape(largest, smallest)


@given(st.integers(2, 300), st.sampled_from([Locality.RACK, Locality.POD, Locality.CLUSTER]))
def test_a_shape_is_at_the_locality_it_was_asked_for(gpus, locality):
    place = topology(load_cluster("16x8/rack=4,gpu=v100").layout(), 0)
    shape = place.shape(gpus, locality)
    assert shape.locality == locality
    assert np.prod(shape.smallest) <= gpus <= np.prod(shape.largest)


def test_each_gpu_type_has_its_own_sizes_and_its_largest_nodes_network():
    layout = Cluster.model_validate(MIXED).layout()
    old, new = (topology(layout, layout.gpu_types.index(t)) for t in ("p100", "a100"))
    assert (old.node_gpus, old.rack_nodes, old.rack_gpus, old.pod_gpus) == (2, 2, 4, 4)
    assert (new.node_gpus, new.rack_nodes, new.rack_gpus, new.pod_gpus) == (8, 2, 28, 36)
    assert old.network.bandwidth_bytes_per_s[Locality.RACK] == 10e9 / 8 / 2
    assert new.network.bandwidth_bytes_per_s[Locality.RACK] == 100e9 / 8 / 8
