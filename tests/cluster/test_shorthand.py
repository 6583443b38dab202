import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.cluster import Cluster, load_cluster
from pointsman.errors import UsageError


def test_nodes_times_gpus() -> None:
    cluster = load_cluster("800x8")
    layout = cluster.layout()
    assert (cluster.name, cluster.nodes, cluster.gpus) == ("800x8", 800, 6400)
    assert layout.node_rack.max() == layout.node_pod.max() == 0


def test_rack_is_nodes_per_rack_and_the_last_may_be_short() -> None:
    layout = load_cluster("10x4/rack=4,gpu=v100").layout()
    assert layout.node_rack.tolist() == [0] * 4 + [1] * 4 + [2] * 2
    assert layout.gpu_types == ("v100",)


def test_parts_stand_side_by_side() -> None:
    cluster = load_cluster("2x8/gpu=a100,partition=big+3x4/gpu=t4,nic=10Gbps,partition=small|all")
    layout = cluster.layout()
    assert layout.node_gpus.tolist() == [8, 8, 4, 4, 4]
    assert layout.gpu_types == ("a100", "t4")
    assert layout.node_partitions == (("big",),) * 2 + (("small", "all"),) * 3
    assert layout.node_rack.tolist() == [0] * 5
    assert layout.bandwidth_bytes_per_s[:, 2].tolist() == [12.5e9 / 8, 1.25e9 / 4]


def test_parts_with_racks_start_new_racks() -> None:
    layout = load_cluster("3x8/rack=2,pod=2,oversubscription=2.5+2x4").layout()
    assert layout.node_rack.tolist() == [0, 0, 1, 2, 2]
    assert layout.node_pod.tolist() == [0, 0, 0, 1, 1]
    assert layout.bandwidth_bytes_per_s[0].tolist()[2:] == [12.5e9 / 8, 12.5e9 / 20, 12.5e9 / 20]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("16x", "not NODESxGPUS"),
        ("0x8", "0 nodes"),
        ("16x0", "0 GPUs"),
        ("16x65", "1 to 64"),
        ("16x4/", "unknown option ''"),
        ("16x4/rak=4", "did you mean 'rack'"),
        ("16x4/rack=0", "rack=0"),
        ("16x4/rack=", "has no value"),
        ("16x4/rack=2,rack=3", "given twice"),
        ("16x4/gpu=v10", "did you mean 'v100'"),
        ("16x4/nic=100", "unit"),
        ("16x4/oversubscription=0.5", "at least 1"),
        ("16x4+", "not NODESxGPUS"),
        ("16x4/pod=2+4x4/pod=3", "give it once"),
        ("16x4/gpu=v100+4x4/gpu=V100", "are one GPU type"),
        ("1000000x8+1x8", "more than 1,000,000 nodes"),
        ("9" * 5000 + "x8", "not NODESxGPUS"),
    ],
)
def test_wrong_shorthand(text: str, message: str) -> None:
    with pytest.raises(UsageError, match="cluster ") as error:
        load_cluster(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@given(nodes=st.integers(1, 200), gpus=st.integers(1, 64), rack=st.integers(1, 250), pod=st.integers(1, 9))
def test_any_sensible_shorthand(nodes: int, gpus: int, rack: int, pod: int) -> None:
    cluster = load_cluster(f"{nodes}x{gpus}/rack={rack},pod={pod}")
    layout = cluster.layout()
    assert cluster.gpus == layout.node_gpus.sum() == nodes * gpus
    assert layout.node_rack.tolist() == [i // rack for i in range(nodes)]
    assert layout.node_pod.tolist() == [i // rack // pod for i in range(nodes)]


WORDS = st.sampled_from(
    ["/", ",", "=", "+", "x", "|", "rack", "gpu", "v100", "nic", "pod", "100Gbps", "partition", " "]
)


@given(st.lists(st.one_of(WORDS, st.integers(0, 70).map(str), st.text(max_size=3)), max_size=12).map("".join))
def test_whatever_is_typed_after_a_size_is_a_cluster_or_a_clear_error(tail: str) -> None:
    try:
        assert isinstance(load_cluster("4x4" + tail), Cluster)
    except UsageError as error:
        assert str(error)


@given(
    st.sampled_from(["fat-tree:", "vl2:", "leaf-spine:", "bcube:"]),
    st.lists(st.one_of(WORDS, st.integers(0, 12).map(str), st.text(max_size=3)), max_size=8).map("".join),
)
def test_whatever_is_typed_after_a_topology_is_a_cluster_or_a_clear_error(kind: str, tail: str) -> None:
    try:
        assert isinstance(load_cluster(kind + tail), Cluster)
    except UsageError as error:
        assert str(error).startswith("cluster ")
