"""Topologies by their closed forms, small ones drawn by hand, and the tree that the simulator knows of each."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from pointsman.cluster import ClusterGraph, load_cluster
from pointsman.cluster.layout import Layout
from pointsman.cluster.yaml_file import parse_cluster

FILE = """\
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: small}
spec:
  node_types:
    big: {gpus: 8, gpu_type: a100, nic: {bandwidth: 100 Gb/s}}
    small: {gpus: 4, gpu_type: v100, nic: {bandwidth: 10 Gb/s}}
    store: {gpus: 0}
  nodes:
    - {type: small, count: 12}
    - {type: big, count: 4}
  topology:
    fat-tree: {k: 4, oversubscription: 2}
  network:
    pod: {latency: 8 us}
"""


def tiers(graph: ClusterGraph) -> dict[str, int]:
    return dict(Counter(graph.tiers))


def drawn(graph: ClusterGraph) -> set[str]:
    """Links as `n0000--10--edge 0`."""
    pairs = zip(graph.links.tolist(), graph.gbps.tolist(), strict=True)
    return {f"{graph.names[lower]}--{rate:g}--{graph.names[upper]}" for (lower, upper), rate in pairs}


def upwards_gbps(graph: ClusterGraph) -> dict[str, float]:
    """What all links up from the vertices of a tier carry together."""
    lower = [graph.tiers[vertex] for vertex in graph.links[:, 0].tolist()]
    return {tier: sum(graph.gbps[[name == tier for name in lower]].tolist()) for tier in dict.fromkeys(lower)}


def flow_gbps(graph: ClusterGraph, sources: Sequence[int], sinks: Sequence[int]) -> float:
    """The most that these vertices can send to those, by all paths at once."""
    size = len(graph.names)
    one, other = graph.links.T
    rates = np.round(graph.gbps * 1000).astype(np.int32)  # whole Mb/s
    unbounded = np.full(len(sources) + len(sinks), 2**30, np.int32)
    tails = [*one, *other, *[size] * len(sources), *sinks]
    heads = [*other, *one, *sources, *[size + 1] * len(sinks)]
    capacities = csr_array((np.concatenate([rates, rates, unbounded]), (tails, heads)), shape=(size + 2, size + 2))
    return maximum_flow(capacities, size, size + 1).flow_value / 1000


def bisection_gbps(graph: ClusterGraph) -> float:
    """From the nodes of one half of the racks to those of the other."""
    nodes = [v for v, tier in enumerate(graph.tiers) if tier == "node"]
    half = (int(graph.rack.max()) + 1) // 2
    return flow_gbps(graph, [v for v in nodes if graph.rack[v] < half], [v for v in nodes if graph.rack[v] >= half])


@pytest.mark.parametrize("k", [2, 4, 6, 8])
@pytest.mark.parametrize("over", [1, 4])
def test_fat_tree_by_its_closed_forms(k: int, over: int) -> None:
    cluster = load_cluster(f"fat-tree:{k}/gpus=2,nic=10Gbps,oversubscription={over}")
    graph = cluster.graph()
    assert tiers(graph) == {"node": k**3 // 4, "edge": k**2 // 2, "aggregation": k**2 // 2, "core": k**2 // 4}
    assert len(graph.links) == 3 * k**3 // 4
    ports = Counter(graph.links.ravel().tolist())
    assert {ports[v] for v, tier in enumerate(graph.tiers) if tier != "node"} == {k}
    cards = k**3 / 4 * 10
    assert upwards_gbps(graph) == pytest.approx({"node": cards, "edge": cards / over, "aggregation": cards / over})
    assert set(graph.gbps.tolist()) == {10.0, 10.0 / over}
    assert bisection_gbps(graph) == pytest.approx(k**3 / 8 * 10 / over, abs=0.1)
    layout = cluster.layout()
    assert set(np.bincount(layout.node_rack).tolist()) == {k // 2}
    assert set(np.bincount(layout.node_pod).tolist()) == {k**2 // 4}


@pytest.mark.parametrize(("d_a", "d_i", "rack"), [(4, 2, 3), (4, 3, 20), (8, 8, 8), (2, 6, 5)])
@pytest.mark.parametrize("over", [1, 4])
def test_vl2_by_its_closed_forms(d_a: int, d_i: int, rack: int, over: int) -> None:
    cluster = load_cluster(f"vl2:{d_a}x{d_i}/rack={rack},nic=10Gbps,oversubscription={over}")
    graph = cluster.graph()
    racks = d_a * d_i // 4
    assert tiers(graph) == {"node": racks * rack, "tor": racks, "aggregation": d_i, "intermediate": d_a // 2}
    ports = Counter(graph.links.ravel().tolist())
    expected = {"node": 1, "tor": rack + 2, "aggregation": d_a, "intermediate": d_i}
    assert {(tier, ports[v]) for v, tier in enumerate(graph.tiers)} == set(expected.items())
    cards = racks * rack * 10
    assert upwards_gbps(graph) == pytest.approx({"node": cards, "tor": cards / over, "aggregation": cards / over})
    assert bisection_gbps(graph) == pytest.approx(racks // 2 * rack * 10 / over, abs=0.1)
    assert cluster.layout().node_pod.max() == 0


@pytest.mark.parametrize("over", [1, 2.5])
def test_leaf_spine_by_its_closed_forms(over: float) -> None:
    graph = load_cluster(f"leaf-spine:6x4/rack=5,nic=100Gbps,oversubscription={over}").graph()
    assert tiers(graph) == {"node": 30, "leaf": 6, "spine": 4}
    assert len(graph.links) == 30 + 6 * 4
    assert bisection_gbps(graph) == pytest.approx(3 * 5 * 100 / over, abs=0.1)


def test_the_racks_of_vl2_have_twenty_nodes_as_in_the_paper() -> None:
    assert load_cluster("vl2:4x4").nodes == 4 * 20


def test_fat_tree_by_hand() -> None:
    """Two pods of one rack of one node, where all uplinks are half as wide as a card::

              core 0
             5 /  \\ 5
    aggregation 0  aggregation 1
           5 |      | 5
        edge 0      edge 1
          10 |      | 10
         n0000      n0001
    """
    assert drawn(load_cluster("fat-tree:2/nic=10Gbps,oversubscription=2").graph()) == {
        "n0000--10--edge 0",
        "n0001--10--edge 1",
        "edge 0--5--aggregation 0",
        "edge 1--5--aggregation 1",
        "aggregation 0--5--core 0",
        "aggregation 1--5--core 0",
    }


def test_the_first_aggregation_switches_lead_to_the_first_cores() -> None:
    """A pod of a fat-tree of 4 ports; the same switch of every pod leads to the same two cores::

        core 0  core 1   core 2  core 3
             \\   /           \\   /
          aggregation 2    aggregation 3
                | \\          / |
                |  \\________/  |
                |  /        \\  |
              edge 2          edge 3
              /    \\          /    \\
          n0004  n0005    n0006  n0007
    """
    graph = load_cluster("fat-tree:4/nic=10Gbps").graph()
    pod = {v for v, number in enumerate(graph.pod.tolist()) if number == 1}
    assert {
        f"{graph.names[lower]}--{graph.names[upper]}" for lower, upper in graph.links.tolist() if {lower, upper} & pod
    } == {
        *("n0004--edge 2", "n0005--edge 2", "n0006--edge 3", "n0007--edge 3"),
        *("edge 2--aggregation 2", "edge 2--aggregation 3", "edge 3--aggregation 2", "edge 3--aggregation 3"),
        *("aggregation 2--core 0", "aggregation 2--core 1", "aggregation 3--core 2", "aggregation 3--core 3"),
    }


def test_vl2_by_hand() -> None:
    """Two racks of four cards of 10 Gb/s, each with two uplinks of 20 Gb/s::

    intermediate 0      intermediate 1
          | \\____  ____/ |
          | _____><_____  |
          |/            \\ |
    aggregation 0   aggregation 1      (20 on each link)
          | \\____  ____/ |
          | _____><_____  |
          |/            \\ |
        tor 0           tor 1
      n0000-n0003     n0004-n0007      (10)
    """
    assert drawn(load_cluster("vl2:4x2/rack=4,nic=10Gbps").graph()) == {
        *(f"n000{i}--10--tor {i // 4}" for i in range(8)),
        *(f"tor {i}--20--aggregation {j}" for i in range(2) for j in range(2)),
        *(f"aggregation {i}--20--intermediate {j}" for i in range(2) for j in range(2)),
    }


def test_leaf_spine_by_hand() -> None:
    """::

    spine 0   spine 1   spine 2
       each leaf to each spine: 2 x 9 / 3 = 6
        leaf 0        leaf 1
       n0   n1       n2   n3           (9)
    """
    assert drawn(load_cluster("leaf-spine:2x3/rack=2,nic=9Gbps").graph()) == {
        *(f"n000{i}--9--leaf {i // 2}" for i in range(4)),
        *(f"leaf {i}--6--spine {j}" for i in range(2) for j in range(3)),
    }


@pytest.mark.parametrize("n", [2, 5, 11])
def test_bcube_by_its_closed_forms(n: int) -> None:
    """n² nodes with two cards, 2n switches of n ports. Half of the racks reach the others by their second cards."""
    cluster = load_cluster(f"bcube:{n}x1/gpus=4,nic=10Gbps")
    graph, layout = cluster.graph(), cluster.layout()
    assert tiers(graph) == {"node": n**2, "level-0": n, "level-1": n}
    ports = Counter(graph.links.ravel().tolist())
    assert [ports[v] for v in range(len(graph.names))] == [2] * n**2 + [n] * 2 * n
    assert set(graph.gbps.tolist()) == {10.0}
    assert bisection_gbps(graph) == pytest.approx(n // 2 * n * 10)
    assert np.bincount(layout.node_rack).tolist() == [n] * n
    assert layout.cards_apart
    assert not load_cluster("fat-tree:4").layout().cards_apart


def test_bcube_by_hand() -> None:
    r"""::

    level-1 0    level-1 1
       | \____   /  |
       | _____\_/   |        second cards, 10 each
       |/      \    |
     n0000 n0001  n0002 n0003        (n0000 and n0002 to level-1 0, the others to level-1 1)
        \   /        \   /           first cards, 10 each
      level-0 0    level-0 1
    """
    assert drawn(load_cluster("bcube:2x1/nic=10Gbps").graph()) == {
        *("n0000--10--level-0 0", "n0001--10--level-0 0", "n0002--10--level-0 1", "n0003--10--level-0 1"),
        *("n0000--10--level-1 0", "n0002--10--level-1 0", "n0001--10--level-1 1", "n0003--10--level-1 1"),
    }


def same(one: Layout, other: Layout) -> bool:
    fields = ("node_rack", "node_pod", "bandwidth_bytes_per_s", "sharers", "latency_s")
    return all(np.array_equal(getattr(one, field), getattr(other, field)) for field in fields)


@pytest.mark.parametrize(
    ("topology", "tree"),
    [
        ("fat-tree:8/gpus=4,nic=10Gbps,oversubscription=4", "128x4/rack=4,pod=4,nic=10Gbps,oversubscription=4"),
        ("vl2:8x8/rack=8,gpus=4,nic=25Gbps", "128x4/rack=8,nic=25Gbps"),
        ("leaf-spine:3x2/rack=5,gpus=8,oversubscription=2.5", "15x8/rack=5,oversubscription=2.5"),
    ],
)
def test_the_simulator_sees_the_tree_of_racks_and_pods(topology: str, tree: str) -> None:
    assert same(load_cluster(topology).layout(), load_cluster(tree).layout())


@settings(max_examples=25, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize(
    ("topology", "tree"),
    [
        ("fat-tree:4/nic=10Gbps,oversubscription=4", "16x4/rack=2,pod=2,nic=10Gbps,oversubscription=4"),
        ("vl2:4x3/rack=4,nic=10Gbps,oversubscription=3", "12x4/rack=4,nic=10Gbps,oversubscription=3"),
        ("leaf-spine:4x3/rack=3,nic=10Gbps", "12x4/rack=3,nic=10Gbps"),
    ],
)
def test_pooled_uplinks_carry_what_all_paths_together_do(topology: str, tree: str, data: st.DataObject) -> None:
    """Whatever nodes send to whatever others: the tree of pools is exact where traffic may take every path."""
    graph, pools = load_cluster(topology).graph(), load_cluster(tree).graph()
    kinds = data.draw(st.lists(st.sampled_from(["send", "receive", "idle"]), min_size=12, max_size=12))
    sources, sinks = ([i for i, kind in enumerate(kinds) if kind == wanted] for wanted in ("send", "receive"))
    if sources and sinks:
        assert flow_gbps(graph, sources, sinks) == pytest.approx(flow_gbps(pools, sources, sinks), abs=0.1)


def test_nodes_may_differ_and_each_rack_has_the_uplinks_of_its_own() -> None:
    cluster = parse_cluster(FILE, origin="x")
    graph = cluster.graph()
    uplinks = dict.fromkeys(range(8), 0.0)
    for (lower, _), rate in zip(graph.links.tolist(), graph.gbps.tolist(), strict=True):
        if graph.tiers[lower] == "edge":
            uplinks[lower - 16] += rate
    assert uplinks == pytest.approx({r: 2 * (100 if r >= 6 else 10) / 2 for r in range(8)})
    assert cluster.layout().latency_s[0].tolist()[2:] == [5e-6, 8e-6, 10e-6]


def test_a_file_and_a_shorthand_read_back() -> None:
    for cluster in (parse_cluster(FILE, origin="x"), load_cluster("vl2:8x8/rack=8,gpu=a100,partition=a|b")):
        assert parse_cluster(cluster.to_yaml(), origin="x") == cluster
    assert load_cluster("vl2:8x8/rack=8,gpu=a100,partition=a|b").layout().node_partitions[0] == ("a", "b")


def test_names_do_not_matter() -> None:
    """The names of the nodes in another order are just that: the same graph under other labels."""
    plain = parse_cluster(FILE, origin="x").graph()
    names = [f"z{i:02d}" for i in (5, 3, 12, 1, 2, 4, 6, 7, 8, 9, 10, 11)]
    text = FILE.replace("{type: small, count: 12}", f'{{type: small, names: "{",".join(names)}"}}')
    named = parse_cluster(text, origin="x").graph()
    assert named.names[:12] == tuple(names)
    assert named.names[12:] == plain.names[12:]
    for field in ("rack", "pod", "gpus", "links", "gbps"):
        assert np.array_equal(getattr(named, field), getattr(plain, field)), field
