"""Topologies that cannot be: a sentence with the fix, and the line."""

import pytest

from pointsman.cluster import load_cluster
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import UsageError

from .test_topologies import FILE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fat-tree", "'' is not K"),
        ("fat-tree:", "'' is not K"),
        ("fat-tree:x", "is not K"),
        ("fat-tree:8x8", "'8x8' is not K"),
        ("fat-tree:7", "so k is even, not 7; try 6 or 8 (the form"),
        ("fat-tree:0", "k=0 is not a whole number"),
        ("fat-tree:1", "k must be greater than or equal to 2, not 1"),
        ("fat-tree:-4", "k=-4"),
        ("fat-tree:1000", "250,000,000 nodes; a cluster has at most 1,000,000"),
        ("fat-tree:8/gpus=65", "1 to 64"),
        ("fat-tree:8/rack=4", "unknown option 'rack'"),
        ("fat-tree:8/nic=10", "unit"),
        ("fat-tree:8/gpu=v10", "did you mean 'v100'"),
        ("fat-tree:8/oversubscription=0.5", "at least 1"),
        ("fat-tree:8/", "unknown option ''"),
        ("fat-tree:8+4x4", "'8+4x4' is not K"),
        ("vl2:8", "'8' is not DAxDI"),
        ("vl2:7x8", "d_a is even, not 7; try 6 or 8"),
        ("vl2:6x3", "no whole number with 6x3; try d_i = 4"),
        ("vl2:4x1", "d_i must be greater than or equal to 2, not 1"),
        ("leaf-spine:4x2", "option 'rack' is missing"),
        ("leaf-spine:4x2/rack=300000", "1,200,000 nodes"),
        ("bcube:11", "'11' is not Nx1"),
        ("bcube:4x2", "there is only k = 1 (two cards a node), not 2; try Nx1"),
        ("bcube:1x1", "n must be greater than or equal to 2, not 1"),
        ("bcube:4x1/oversubscription=2", "unknown option 'oversubscription'"),
        ("fattree:8", "did you mean 'fat-tree'?"),
    ],
)
def test_wrong_shorthand(text: str, message: str) -> None:
    with pytest.raises(UsageError, match="cluster ") as error:
        load_cluster(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("k: 4", "k: 5", 13, "so k is even, not 5; try 4 or 6"),
        ("{k: 4, oversubscription: 2}", "{ports: 4}", 13, "unknown key 'ports' (known: k, oversubscription)"),
        ("fat-tree: {k: 4, oversubscription: 2}", "vl2: {d_a: 6, d_i: 3}", 13, "no whole number with 6x3"),
        ("fat-tree: {k", "fattree: {k", 13, "did you mean 'fat-tree'?"),
        ("fat-tree: {k: 4, oversubscription: 2}", "{}", 12, "give one topology of fat-tree, vl2, leaf-spine, bcube"),
        ("count: 12", "count: 11", 13, "this fat-tree has 16 nodes, and 'nodes' 15; make them equal"),
        ("  network:", "  nodes_per_rack: 4\n  network:", 14, "leave nodes_per_rack out"),
        ("  network:", "  racks_per_pod: 4\n  network:", 14, "leave racks_per_pod out"),
        ("  nodes:\n", "  racks:\n    - nodes:\n", 9, "leave racks out"),
        ("pod: {latency: 8 us}", "pod: {oversubscription: 3}", 15, "give network.pod no more than a latency"),
        ("pod: {latency: 8 us}", "rack: {bandwidth: 1 GB/s}", 15, "give network.rack no more than a latency"),
        (
            "{type: big, count: 4}",
            "{type: store, count: 4}",
            11,
            "'store' cannot be in it: each node of a fat-tree has GPUs",
        ),
        ("fat-tree: {k: 4, oversubscription: 2}", "bcube: {n: 4, k: 2}", 13, "only k = 1"),
    ],
)
def test_wrong_file(old: str, new: str, line: int, message: str) -> None:
    text = FILE.replace("    - {type", "        - {type") if "racks:" in new else FILE
    assert old in text
    with pytest.raises(UsageError) as error:
        parse_cluster(text.replace(old, new, 1), origin="small.yaml")
    assert str(error.value).startswith(f"small.yaml:{line}: ")
    assert message in str(error.value)


def test_the_cards_of_bcube_are_not_pooled() -> None:
    text = FILE.replace("10 Gb/s}}", "10 Gb/s, count: 2}}").replace(
        "fat-tree: {k: 4, oversubscription: 2}", "bcube: {n: 4}"
    )
    with pytest.raises(
        UsageError, match=r"small.yaml:10: .*one card of this bandwidth for each level; leave out nic.count"
    ):
        parse_cluster(text, origin="small.yaml")
