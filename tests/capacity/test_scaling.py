"""A cluster with fewer or more nodes keeps its proportions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.capacity.scaling import divide, scaled, size_of
from pointsman.cluster import load_cluster
from pointsman.errors import UsageError


@given(st.integers(0, 300), st.lists(st.integers(1, 50), min_size=1, max_size=6))
def test_parts_are_in_proportion_and_never_shrink(whole: int, weights: list[int]) -> None:
    parts, more = divide(whole, weights), divide(whole + 1, weights)
    assert sum(parts) == whole
    assert all(one <= other for one, other in zip(parts, more, strict=True))
    assert all(abs(part - whole * w / sum(weights)) < len(weights) for part, w in zip(parts, weights, strict=True))
    assert divide(sum(weights), weights) == weights


def test_parts_go_by_sainte_lague() -> None:
    """The quotients are 7, 7 / 3 and 7 / 5, and 2."""
    assert [divide(whole, [7, 2]) for whole in (1, 2, 3)] == [[1, 0], [2, 0], [2, 1]]


@pytest.mark.parametrize(
    ("nodes", "groups"), [(1, "1 0"), (2, "1 1"), (3, "2 1"), (6, "4 2"), (12, "8 4"), (13, "9 4"), (24, "16 8")]
)
def test_groups_of_nodes(nodes: int, groups: str) -> None:
    found = scaled(load_cluster("8x8/gpu=v100+4x4/gpu=t4"), nodes)
    layout = found.layout()
    types = [layout.gpu_types[k] for k in layout.node_gpu_type]
    assert f"{types.count('v100')} {types.count('t4')}" == groups
    assert size_of(found) == found.nodes == nodes


def test_racks_are_filled_one_after_another() -> None:
    """Two racks of four nodes: ten nodes are two full racks and half of one."""
    layout = scaled(load_cluster("8x8/rack=4"), 10).layout()
    assert layout.node_rack.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]


def test_as_it_is_it_stays() -> None:
    cluster = load_cluster("philly")
    assert scaled(cluster, size_of(cluster)) is cluster
    assert scaled(cluster, 2 * size_of(cluster)).gpus == pytest.approx(2 * cluster.gpus, rel=0.01)


def test_a_topology_has_a_fixed_number_of_nodes() -> None:
    with pytest.raises(UsageError, match="a fat-tree has a fixed number of nodes"):
        scaled(load_cluster("fat-tree:4"), 17)
