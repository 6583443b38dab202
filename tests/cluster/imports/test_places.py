"""Racks, pods and sockets: Slurm's topology, labels of Kubernetes, and the links between GPUs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pointsman.cluster.imports.gpu_links import read_gpu_links
from pointsman.cluster.imports.read import import_nodes
from pointsman.errors import InputError
from tests.cluster.imports.lists import case, gpus, kubernetes, node, notes, places, read

NODES = "NODELIST GRES\n" + "".join(f"n{i} gpu:a100:8\n" for i in range(1, 9))
TREE = """SwitchName=leaf1 Nodes=n[1-2]
SwitchName=leaf2 Nodes=n[3-4] LinkSpeed=100
SwitchName=leaf[3] Nodes=n[5-6]
SwitchName=leaf4 Nodes=n[7-8]
SwitchName=spine1 Switches=leaf[1-2]
SwitchName=spine2 Switches=leaf[3-4]
SwitchName=root Switches=spine[1-2]
"""
SHOWN = """SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=leaf3 Level=0 LinkSpeed=1 Nodes=n[5-6]
SwitchName=leaf4 Level=0 LinkSpeed=1 Nodes=n[7-8]
SwitchName=spine1 Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=leaf[1-2]
SwitchName=spine2 Level=1 LinkSpeed=1 Nodes=n[5-8] Switches=leaf[3-4]
"""
YAML = """- topology: main
  cluster_default: true
  tree:
    switches:
      - {switch: spine1, children: "leaf[1-2]"}
      - {switch: spine2, children: "leaf[3-4]"}
      - switch: leaf1
        nodes: n[1-2]
      - switch: leaf2
        nodes: n[3-4]
      - switch: leaf3
        nodes: n[5-6]
      - switch: leaf4
        nodes: n[7-8]
"""
BLOCKS = "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8] # the new ones\nBlockSizes=4\n"


def with_topology(folder: Path, text: str, nodes: str = NODES):
    (folder / "topology.conf").write_text(text)
    (folder / "nodes.txt").write_text(nodes)
    return import_nodes(folder / "nodes.txt", {}, folder / "topology.conf")


@pytest.mark.parametrize("text", [TREE, SHOWN, YAML])
def test_switches_are_racks_and_those_above_pods(text: str, tmp_path: Path) -> None:
    found = with_topology(tmp_path, text.replace("leaf[3] ", "leaf3 "))
    assert places(found) == {f"n{i}": ((i - 1) // 2, (i - 1) // 4) for i in range(1, 9)}
    assert found.cluster.spec.racks_per_pod == 2


def test_blocks_are_racks(tmp_path: Path) -> None:
    assert places(with_topology(tmp_path, BLOCKS)) == {f"n{i}": ((i - 1) // 4, 0) for i in range(1, 9)}


def test_nodes_that_the_topology_lacks_and_the_other_way_round(tmp_path: Path) -> None:
    found = with_topology(tmp_path, "SwitchName=s1 Nodes=n[1-4],x1\nSwitchName=s2 Nodes=n[4-7]\n")
    assert [rack for rack, _ in places(found).values()] == [0, 0, 0, 0, 1, 1, 1, 2]
    assert "1 node of the topology is not in the list: x1" in found.notes
    assert "of several switches, the first counts: n4" in found.notes
    assert "1 node without a rack stands in one of its own: n8" in found.notes


def test_pods_of_unequal_size_cannot_be_told(tmp_path: Path) -> None:
    text = "".join(f"SwitchName=s{i} Nodes=n{i}\n" for i in range(1, 9))
    found = with_topology(tmp_path, text + "SwitchName=a Switches=s[1-4]\nSwitchName=b Switches=s[5-7]\n"
                          "SwitchName=c Switches=s8\n")  # fmt: skip
    assert {pod for _, pod in places(found).values()} == {0}
    assert "pods of 4, 3, 1 racks are left out" in notes(found)


def test_a_short_pod_is_the_last(tmp_path: Path) -> None:
    text = "".join(f"SwitchName=s{i} Nodes=n{i}\n" for i in range(1, 9))
    found = with_topology(tmp_path, text + "SwitchName=a Switches=s[1-2]\nSwitchName=b Switches=s[3-5]\n"
                          "SwitchName=c Switches=s[6-8]\n")  # fmt: skip
    by_pod = {name: pod for name, (_, pod) in places(found).items()}
    assert by_pod["n1"] == by_pod["n2"] == 2
    assert by_pod["n3"] != by_pod["n6"]


def test_a_topology_alone_names_the_command_that_it_is_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not which GPUs they have .*pointsman cluster import nodes.txt --topology "):
        read(TREE, tmp_path)


@pytest.mark.parametrize("text", ["SwitchName=a Switches=b\n", "SwitchName=a Nodes=n[9-1]\n", "hello\n"])
def test_wrong_topologies(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"topology.conf: (a topology without nodes|no topology)"):
        with_topology(tmp_path, text)


H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}


def labelled(folder: Path, *labels: dict[str, str]):
    return kubernetes(folder, *(node(f"n{i}", {"nvidia.com/gpu": "8"}, H100 | own) for i, own in enumerate(labels)))


def levels(keys: Sequence[str]) -> list[dict[str, str]]:
    """Eight nodes: two in each place of the first label, four of the second, ..."""
    return [{key: f"p{i // 2 ** (depth + 1)}" for depth, key in enumerate(keys)} for i in range(8)]


@pytest.mark.parametrize(
    "keys",
    [
        ("topology.kubernetes.io/rack", "topology.kubernetes.io/zone"),
        ("example.com/rack", "example.com/block"),
        ("cloud.google.com/gce-topology-subblock", "cloud.google.com/gce-topology-block"),
        ("cloud.provider.com/topology-rack", "cloud.provider.com/topology-block"),
        ("topology.k8s.aws/network-node-layer-3", "topology.k8s.aws/network-node-layer-2"),
        ("nvidia.com/gpu.clique", "topology.kubernetes.io/zone"),
        ("network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine", "network.topology.nvidia.com/core"),
        ("network.topology.nvidia.com/accelerator", "network.topology.nvidia.com/leaf"),
        ("topology.kubernetes.io/zone", "topology.kubernetes.io/region"),
    ],
)
def test_the_nearest_level_of_labels_is_the_rack_and_the_next_the_pod(keys: Sequence[str], tmp_path: Path) -> None:
    found = labelled(tmp_path, *levels(keys))
    assert places(found) == {f"n{i}": (i // 2, i // 4) for i in range(8)}
    assert f"racks are by the label {keys[0]}, pods by {keys[1]}" in found.notes


def test_racks_of_one_name_in_two_zones_are_two(tmp_path: Path) -> None:
    zone, rack = "topology.kubernetes.io/zone", "example.com/rack"
    found = labelled(tmp_path, *({zone: z, rack: r} for z in "ab" for r in ("r1", "r2") for _ in range(2)))
    assert len({rack for rack, _ in places(found).values()}) == 4


def test_a_host_label_is_no_rack(tmp_path: Path) -> None:
    found = labelled(tmp_path, *({"cloud.google.com/gce-topology-host": f"h{i}"} for i in range(4)))
    assert "racks are not in the list: all nodes stand in one" in found.notes


def test_an_nvlink_domain_is_as_wide_as_nvlink(tmp_path: Path) -> None:
    network = labelled(tmp_path, *levels(["nvidia.com/gpu.clique"])).cluster.spec.network
    assert (network.rack.bandwidth, network.pod.bandwidth) == ("450 GB/s", "12.5 Gb/s")


def test_nodes_without_the_label_stand_apart(tmp_path: Path) -> None:
    found = labelled(tmp_path, {"example.com/rack": "r1"}, {}, {"example.com/rack": "r1"})
    assert places(found) == {"n0": (0, 0), "n2": (0, 0), "n1": (1, 0)}
    assert "1 node does not have it" in notes(found)


HALVES = ["0-7 0", "0-7 0", "8-15 1", "8-15 1"]
HEADER = "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"


def links(rows: Sequence[str], affinity: Sequence[str]) -> str:
    cells = (f"GPU{i}\t{rows[i]}\tSYS\t{affinity[i]}\t\tN/A\n" for i in range(len(rows)))
    return HEADER + "".join(cells).replace(" ", "\t") + "NIC0\tSYS\tSYS\tSYS\tSYS\t X \n\nLegend:\n  X    = Self\n"


@pytest.mark.parametrize(
    ("rows", "affinity", "sockets"),
    [
        (["X NV4 SYS SYS", "NV4 X SYS SYS", "SYS SYS X NV4", "SYS SYS NV4 X"], HALVES, [0, 0, 1, 1]),
        (["X NV8 NV8 NV8", "NV8 X NV8 NV8", "NV8 NV8 X NV8", "NV8 NV8 NV8 X"], HALVES, [0, 0, 1, 1]),
        (["X PHB PHB PHB", "PHB X PHB PHB", "PHB PHB X PHB", "PHB PHB PHB X"], ["0-7 N/A"] * 4, [0, 0, 0, 0]),
        (["X SYS PIX SYS", "SYS X SYS PIX", "PIX SYS X SYS", "SYS PIX SYS X"], ["0-7 0", "8-15 1"] * 2, [0, 1, 0, 1]),
    ],
)  # fmt: skip
def test_links_between_gpus_tell_their_sockets(rows: list[str], affinity: list[str], sockets: list[int]) -> None:
    assert read_gpu_links(links(rows, affinity), Path("x")).sockets == sockets


def test_nodes_as_the_one_whose_links_are_known_have_its_sockets(tmp_path: Path) -> None:
    one_socket = links(["X PHB PHB PHB"] + ["PHB PHB PHB PHB"] * 3, ["0-7 0"] * 4)
    (tmp_path / "topo.txt").write_text(one_socket)
    (tmp_path / "nodes.txt").write_text("name,gpus,gpu_type\na,4,a100\nb,8,a100\n")
    found = import_nodes(tmp_path / "nodes.txt", {}, None, tmp_path / "topo.txt")
    assert [host.sockets for host in found.cluster.layout().hosts] == [1, 2]
    assert "1 node of 4 GPUs has 1 socket" in notes(found)
    assert "1 node has another number of GPUs" in notes(found)


def test_the_links_alone_are_a_node(tmp_path: Path) -> None:
    found = import_nodes(case("n08_topo_m.txt"), {"": "a100"})
    assert gpus(found) == {"n08_topo_m": (4, "a100")}
    assert [host.sockets for host in found.cluster.layout().hosts] == [2]
    with pytest.raises(InputError, match="--gpu-type NAME"):
        import_nodes(case("n08_topo_m.txt"))
