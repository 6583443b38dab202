"""The graph of a cluster without a topology, and the graph as plain data; `test_topologies` has the others."""

import pytest

from pointsman.cluster import load_cluster
from pointsman.cluster.layout import uplink_bandwidths


@pytest.mark.parametrize("name", ["8x4/rack=2,pod=2,oversubscription=4", "philly", "3x4", "4x4/rack=1"])
def test_the_graph_of_any_cluster_is_its_tree(name: str) -> None:
    """One link up from every node and rack, as wide as the simulator takes it; a level that joins one thing is none."""
    cluster = load_cluster(name)
    layout, graph = cluster.layout(), cluster.graph()
    racks, pods = int(layout.node_rack.max()) + 1, int(layout.node_pod.max()) + 1
    levels = ["node", "rack", *["pod"] * (racks > 1), *["cluster"] * (pods > 1)]
    assert list(dict.fromkeys(graph.tiers)) == levels
    ups = uplink_bandwidths(layout)
    wide = [*ups.nodes, *(ups.racks if racks > 1 else ()), *(ups.pods if pods > 1 else ())]
    assert graph.links[:, 0].tolist() == list(range(len(wide)))
    assert graph.gbps.tolist() == pytest.approx([rate * 8 / 1e9 for rate in wide])
    assert len(graph.links) == len(graph.names) - 1


def test_the_graph_as_plain_data() -> None:
    data = load_cluster("fat-tree:2/gpus=2,nic=10Gbps").graph().to_dict()
    by_id = {vertex["id"]: vertex for vertex in data["nodes"]}
    assert by_id["n0001"] == {"id": "n0001", "tier": "node", "rack": 1, "pod": 1, "gpus": 2, "gpu_type": "v100"}
    assert by_id["edge 1"] == {"id": "edge 1", "tier": "edge", "rack": 1, "pod": 1}
    assert by_id["core 0"] == {"id": "core 0", "tier": "core"}
    assert data["links"][0] == {"source": "n0000", "target": "edge 0", "gbps": 10.0}
    assert {end for link in data["links"] for end in (link["source"], link["target"])} == set(by_id)
