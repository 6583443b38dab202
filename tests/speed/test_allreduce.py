"""The hierarchical ring against its closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.speed import GangShape, Network, all_reduce_s, shape_of
from pointsman.types import Locality

MB = 1e6


def network(node: float, rack: float, pod: float, cluster: float, latency: float = 0.0) -> Network:
    return Network(np.array([np.inf, node, rack, pod, cluster]), np.array([0.0] + [latency] * 4))


def even(*members: int) -> GangShape:
    return GangShape(members, members)  # ty: ignore[invalid-argument-type]


def test_one_gpu_sends_nothing():
    assert all_reduce_s(100 * MB, even(1, 1, 1, 1), network(1, 1, 1, 1, latency=1)) == 0


@pytest.mark.parametrize("gpus", [2, 3, 4, 8])
def test_one_node_is_a_flat_ring(gpus):
    time = all_reduce_s(100 * MB, even(gpus, 1, 1, 1), network(1e9, 1, 1, 1, latency=1e-3))
    assert time == pytest.approx(2 * (gpus - 1) / gpus * 0.1 + 2 * (gpus - 1) * 1e-3)


def test_two_levels_by_hand():
    # node: 2·3/4·0.1 s; rack: a quarter of the bytes at a tenth of the speed, 2·1/2·0.025·10 s; 6 + 2 steps of 1 ms
    time = all_reduce_s(100 * MB, even(4, 2, 1, 1), network(1e9, 1e8, 1, 1, latency=1e-3))
    assert time == pytest.approx(0.15 + 0.25 + 0.008)


def test_four_levels_by_hand():
    time = all_reduce_s(64 * MB, even(2, 2, 2, 2), network(64e6, 32e6, 16e6, 8e6))
    assert time == pytest.approx(1 + 1 + 1 + 1)


def test_an_uneven_gang_takes_its_largest_ring_and_its_smallest_shard():
    # 8 GPUs on one node and 2 on another: the node ring has 8, what goes out is a half and not an eighth
    time = all_reduce_s(100 * MB, GangShape((8, 2, 1, 1), (2, 2, 1, 1)), network(1e9, 1e9, 1, 1))
    assert time == pytest.approx(2 * 7 / 8 * 0.1 + 2 * 1 / 2 * 0.05)


members = st.integers(1, 8)


@given(members, members, members, members)
def test_with_one_bandwidth_throughout_the_hierarchy_moves_what_a_flat_ring_moves(a, b, c, d):
    n = a * b * c * d
    flat = 2 * (n - 1) / n * 0.1
    assert all_reduce_s(100 * MB, even(a, b, c, d), network(1e9, 1e9, 1e9, 1e9)) == pytest.approx(flat)


@given(st.lists(st.floats(1e6, 1e12), min_size=4, max_size=4), st.integers(0, 3), st.floats(1, 100), members, members)
def test_a_slower_link_never_makes_it_faster(bandwidth, level, factor, gpus, nodes):
    slower = [b / factor if i == level else b for i, b in enumerate(bandwidth)]
    shape = even(gpus, nodes, 2, 1)
    assert all_reduce_s(MB, shape, network(*slower)) >= all_reduce_s(MB, shape, network(*bandwidth))


@given(st.floats(0, 1e10), st.floats(0, 1e10))
def test_more_bytes_never_take_less_time(x, y):
    little, much = (all_reduce_s(size, even(4, 3, 2, 1), network(1e9, 1e8, 1e7, 1)) for size in sorted((x, y)))
    assert little <= much


def arrays(*columns: list[int]) -> list[np.ndarray]:
    return [np.array(c, dtype=np.int64) for c in columns]


def test_shapes_of_real_placements():
    assert shape_of(*arrays([1], [7], [3])) == even(1, 1, 1, 1)
    assert shape_of(*arrays([4], [7], [3])) == even(4, 1, 1, 1)
    assert shape_of(*arrays([8, 8, 3], [0, 0, 0], [0, 0, 0])) == GangShape((8, 3, 1, 1), (3, 3, 1, 1))
    assert shape_of(*arrays([4, 4, 4], [5, 5, 2], [1, 1, 1])) == GangShape((4, 2, 2, 1), (4, 1, 2, 1))
    assert shape_of(*arrays([2, 2, 2], [9, 4, 6], [1, 0, 1])) == GangShape((2, 1, 2, 2), (2, 1, 1, 2))


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_shape_knows_its_locality(nodes):
    gpus, rack = arrays([g for g, _ in nodes], [r for _, r in nodes])
    pod = rack // 2
    expected = (
        Locality.CLUSTER if len(set(pod)) > 1
        else Locality.POD if len(set(rack)) > 1
        else Locality.RACK if len(gpus) > 1
        else Locality.NODE if gpus[0] > 1
        else Locality.GPU
    )  # fmt: skip
    assert shape_of(gpus, rack, pod).locality == expected
