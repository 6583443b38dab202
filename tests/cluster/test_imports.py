"""Lists of nodes of Slurm, Kubernetes and people become clusters."""

import json
from pathlib import Path

import pytest

from pointsman.cluster import load_cluster
from pointsman.cluster.imports.read import import_nodes
from pointsman.errors import InputError, UsageError
from pointsman.inputs.gpu_names import known_name

SCONTROL = """NodeName=gpu01 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=0 CPUEfctv=64 CPUTot=64 CPULoad=0.00
   Gres=gpu:a100:8(S:0-1),shard:32
   OS=Linux 5.15.0 #1 SMP
   RealMemory=515000 AllocMem=0 Sockets=2 Boards=1
   Partitions=gpu,debug
   CfgTRES=cpu=64,mem=515000M,billing=64,gres/gpu=8

NodeName=gpu02 CoresPerSocket=16
   CPUTot=64
   Gres=gpu:a100:8
   RealMemory=515000 Sockets=2
   Partitions=gpu

NodeName=cpu01 CoresPerSocket=16
   CPUTot=32
   Gres=(null)
   RealMemory=64000 Sockets=2
"""
SINFO = """NODELIST PARTITION GRES CPUS SOCKETS MEMORY
gpu01 gpu* gpu:a100:8(S:0-1) 64 2 515000
gpu01 debug gpu:a100:8(S:0-1) 64 2 515000
gpu02 gpu* gpu:a100:8 64 2 515000
cpu01 cpu (null) 32 2 64000
"""
SCONTROL_JSON = {
    "nodes": [
        {"name": name, "gres": gres, "cpus": 64, "sockets": 2, "real_memory": 515000, "partitions": partitions}
        for name, gres, partitions in (
            ("gpu01", "gpu:a100:8(S:0-1)", ["gpu", "debug"]),
            ("gpu02", "gpu:a100:8", ["gpu"]),
            ("cpu01", "", []),
        )
    ]
}
INVENTORY = (
    "name,gpus,gpu_type,cpus,sockets,partitions\ngpu01,8,A100,64,2,gpu|debug\ngpu02,8,A100,64,2,gpu\ncpu01,0,,32,2,\n"
)


def kubernetes_node(name: str, gpus: int, product: str = "", rack: str = "") -> dict[str, object]:
    labels = {"nvidia.com/gpu.product": product} if product else {}
    labels |= {"example.com/rack": rack} if rack else {}
    capacity = {"cpu": "63500m", "memory": "527360000Ki"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"capacity": capacity}}


@pytest.fixture
def listed(tmp_path: Path):
    def write(text: str) -> Path:
        (tmp_path / "nodes.txt").write_text(text)
        return tmp_path / "nodes.txt"

    return write


@pytest.mark.parametrize("text", [SCONTROL, SINFO, json.dumps(SCONTROL_JSON), INVENTORY])
def test_slurm_and_people_say_the_same(text: str, listed) -> None:
    read = import_nodes(listed(text))
    layout = read.cluster.layout()
    assert list(layout.node_names) == ["gpu01", "gpu02"]
    assert layout.node_gpus.tolist() == [8, 8]
    assert layout.gpu_types == ("a100",)
    assert [(host.cores, host.sockets) for host in layout.hosts] == [(64, 2)]
    assert [group.partitions for group in read.cluster.spec.nodes] == [("gpu", "debug"), ("gpu",)]
    assert read.notes[0] == "1 of 3 nodes have no GPU and were left out"


def test_kubernetes(listed) -> None:
    items = [
        kubernetes_node("a", 8, "NVIDIA-H100-80GB-HBM3", "r1"), kubernetes_node("b", 8, "NVIDIA-H100-80GB-HBM3", "r2"),
        kubernetes_node("c", 4, "Tesla-T4", "r1"), kubernetes_node("control-plane", 0),
    ]  # fmt: skip
    read = import_nodes(listed(json.dumps({"kind": "List", "items": items})))
    layout = read.cluster.layout()
    assert list(layout.node_names) == ["a", "c", "b"]
    assert layout.node_rack.tolist() == [0, 0, 1]
    assert [layout.gpu_types[k] for k in layout.node_gpu_type] == ["h100", "t4", "h100"]
    assert [host.cores for host in layout.hosts] == [64, 64]
    assert "Tesla-T4 is taken for t4" in read.notes


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA-A100-SXM4-80GB", "a100"), ("Tesla V100-SXM2-32GB", "v100"), ("NVIDIA GeForce RTX 3090", "rtx3090"),
        ("GeForce GTX 1080 Ti", "gtx1080ti"), ("NVIDIA L40S", "l40s"), ("NVIDIA L4", "l4"),
        ("Quadro RTX 6000", "rtx6000"),
        ("AMD_Instinct_MI300X_OAM", "mi300x"), ("tesla", None), ("1g.5gb", None), ("", None),
    ],
)  # fmt: skip
def test_names_of_gpus(text: str, name: str | None) -> None:
    assert known_name(text) == name


def test_a_type_that_is_not_said_can_be_given(listed) -> None:
    path = listed("name,gpus,gpu_type\na,8,\nb,4,tesla\n")
    read = import_nodes(path, {"": "a100", "tesla": "v100"})
    assert read.cluster.gpu_types == ("a100", "v100")
    with pytest.raises(
        InputError, match=r"nodes.txt:2: .*: none named \(a\), 'tesla' \(b\) .*--gpu-type NAME --gpu-type te"
    ):
        import_nodes(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the list is empty"),
        ("hello\n", ":1: no list of nodes that we know"),
        ("{", "not valid JSON"),
        ('{"items": [1]}', "no node can be used: 1: "),
        ('{"nodes": [{"name": "a"}]}', "no node can be used: a: 'gres' is missing"),
        ('{"jobs": []}', "no list of nodes"),
        ("NODELIST CPUS\na 1\n", ":1: sinfo without the column GRES"),
        ("NODELIST GRES\na gpu:a100:8 3\n", ":2: no node can be used: a: 3 cells instead of 2"),
        (
            "NODELIST GRES\na gpu:a100:8\na gpu:a100:4\n",
            ":3: no node can be used: a: a has 4 a100 GPUs here and 8 a100 GPUs on line 2",
        ),
        (
            "NODELIST GRES\na gpu:a100:many\n",
            ":2: no node can be used: a: Gres is 'gpu:a100:many', which cannot be read",
        ),
        ("NODELIST GRES\na (null)\n", "no node has a GPU"),
        ("name,gpus,gpu_type,rock\n", ":1: unknown column 'rock'"),
        ("name,gpus\na,8\n", ":2: a has GPUs of a type that the list does n"),
        ("name,gpus,gpu_type\na,8\n", ":2: no node can be used: line 2: a row with more or fewer cells"),
        (
            "name,gpus,gpu_type\na,800,a100\n",
            ":2: no node can be used: a: gpus is '800', not a whole number from 0 to 64",
        ),
    ],
)
def test_mistakes(text: str, said: str, listed) -> None:
    with pytest.raises(InputError) as caught:
        import_nodes(listed(text))
    assert said in str(caught.value)


@pytest.mark.parametrize("change", [{"name": ["a"]}, {"name": None}, {"partitions": [["a"]]}, {"partitions": [1]}])
def test_names_that_are_no_texts(change: dict, listed) -> None:
    nodes = [one | change for one in SCONTROL_JSON["nodes"]]
    with pytest.raises(InputError, match=r"no node can be used: .* is no text"):
        import_nodes(listed(json.dumps({"nodes": nodes})))


def test_names_of_kubernetes_that_are_no_texts(listed) -> None:
    for change in ({"name": True}, {"labels": {"nvidia.com/gpu.product": 5}}, {"labels": {"example.com/rack": [1]}}):
        node = kubernetes_node("n1", 4)
        node["metadata"] = {"name": "n1"} | change
        with pytest.raises(InputError, match=r"no node can be used: .* is no text"):
            import_nodes(listed(json.dumps({"items": [node]})))


def test_infinite_numbers(listed) -> None:
    """JSON has none, but Python reads 1e999."""
    node = kubernetes_node("n1", 4)
    node["status"]["capacity"]["nvidia.com/gpu"] = float("inf")
    with pytest.raises(InputError, match=r"nvidia.com/gpu is inf, not a whole number"):
        import_nodes(listed(json.dumps({"items": [node]})))
    nodes = [one | {"cpus": float("inf")} for one in SCONTROL_JSON["nodes"]]
    with pytest.raises(InputError, match=r"no node can be used: gpu01: .* infinity"):
        import_nodes(listed(json.dumps({"nodes": nodes})))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (SCONTROL, "scontrol show node"),
        (SINFO, "sinfo"),
        ("gpu01 gpu:a100:8 idle\n", "sinfo"),
        (json.dumps(SCONTROL_JSON), "scontrol show node --json"),
        (
            json.dumps({"kind": "List", "items": [kubernetes_node("n1", 8, "NVIDIA-A100-SXM4-80GB")]}),
            "kubectl get nodes",
        ),
        (INVENTORY, "an inventory"),
    ],
)
@pytest.mark.parametrize("name", ["nodes.txt", "nodes.json", "nodes.csv"])
def test_a_list_of_nodes_is_no_cluster_file_and_the_command_is_told(text, what, name, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load_cluster(path)
    assert f"a list of nodes ({what}), not a cluster file ('pointsman cluster import {path} -o " in str(error.value)
    import_nodes(path)
