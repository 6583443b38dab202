"""Nodes in tables, as people and publishers have them, and documents of Kubernetes in every form."""

import json
from pathlib import Path

import pytest

from pointsman.errors import InputError
from tests.cluster.imports.lists import gpus, node, notes, places, read

H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
ONE = node("n1", {"nvidia.com/gpu": "8"}, H100)
TWO = node("n2", {"nvidia.com/gpu": "4"}, H100)
YAML = """---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
status: {capacity: {cpu: 64, nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
status: {allocatable: {cpu: "64", nvidia.com/gpu: "4"}}
"""

LIST = "items:\n" + "".join(f"- {one}" for one in YAML.split("---\n")[1:]).replace("\nkind", "\n  kind").replace(
    "\nmetadata", "\n  metadata"
).replace("\nstatus", "\n  status")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"kind": "List", "items": [ONE, TWO]}), json.dumps([ONE, TWO]),
        json.dumps(ONE) + "\n" + json.dumps(TWO),
        json.dumps({"kind": "List", "items": [ONE]}) + json.dumps({"kind": "List", "items": [TWO]}), YAML,
        LIST,
    ],
)  # fmt: skip
def test_documents_of_kubernetes(text: str, tmp_path: Path) -> None:
    assert gpus(read(text, tmp_path)) == {"n1": (8, "h100"), "n2": (4, "h100")}


def test_other_objects_and_odd_nodes_are_counted(tmp_path: Path) -> None:
    odd = [{"kind": "Node", "metadata": {"name": "m1"}}, {"kind": "Node", "metadata": {}, "status": {"capacity": {}}}]
    pod = {"kind": "Pod", "metadata": {"name": "p"}}
    found = read(json.dumps({"items": [ONE, *odd, pod, pod, node("cpu", {})]}), tmp_path)
    assert list(gpus(found)) == ["n1"]
    for said in ("1 of 4 nodes have no GPU", "2 objects of kind Pod", "m1: 'status' is missing", "'name' is missing"):
        assert said in notes(found)


def test_cordoned_nodes_and_those_that_are_not_ready_are_counted(tmp_path: Path) -> None:
    cordoned = {**ONE, "spec": {"unschedulable": True}}
    states = [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "Unknown"}]
    lost = node("n2", {"nvidia.com/gpu": "4"}, H100, status={"conditions": states})
    ready = node("n3", {"nvidia.com/gpu": "4"}, H100, status={"conditions": [{"type": "Ready", "status": "True"}]})
    found = read(json.dumps({"items": [cordoned, lost, ready]}), tmp_path)
    assert len(gpus(found)) == 3
    assert "2 nodes take no jobs at present (down, drained or cordoned) and are counted: n1, n2" in found.notes


TABLES = {
    "node_name,gpu_model,gpu_capacity_num,cpu_num\n0,A10,1,9\n1,A100-SXM4,8,96\n": {"0": (1, "a10"), "1": (8, "a100")},
    "machine,gpu_type,cap_cpu,cap_mem,cap_gpu\na,CPU,96,512,0\nb,T4,96,512,2\n": {"b": (2, "t4")},
    "Hostname;GPU Count;GPU Model\na;4;NVIDIA A100-SXM4-80GB\n": {"a": (4, "a100")},
    "name\tgpus\tgpu_type\na\t4.0\tTesla V100\n": {"a": (4, "v100")},
    "name,gpus,gpu_type\na,4,a100\na,2,t4\n": {"a": (4, "a100"), "a:t4": (2, "t4")},
}  # fmt: skip


@pytest.mark.parametrize("text", TABLES)
def test_tables_by_the_usual_names_of_columns(text: str, tmp_path: Path) -> None:
    assert gpus(read(text, tmp_path)) == TABLES[text]


def test_a_table_with_a_row_an_hour_has_each_server_once(tmp_path: Path) -> None:
    rows = [f"s{i},c1,asw{i // 2},L20,8,96,0,{hour:02d}" for hour in range(3) for i in range(4)]
    text = "server_id,cluster_id,asw_id,gpu_spec_public,gpu_count,cpu_capacity_cores,day,hour\n" + "\n".join(rows)
    found = read(text, tmp_path)
    assert gpus(found) == {f"s{i}": (8, "l20") for i in range(4)}
    assert places(found) == {f"s{i}": (i // 2, 0) for i in range(4)}
    assert "columns that are not read: cluster_id, day, hour" in found.notes
    assert "8 rows name a node again and are counted once" in found.notes


@pytest.mark.parametrize(
    ("again", "said"), [("", []), ("a,8,a100\n", ["1 row names a node again and is counted once"])]
)
def test_a_row_that_names_a_node_again_is_noted(again: str, said: list[str], tmp_path: Path) -> None:
    found = read(f"name,gpus,gpu_type\na,8,a100\nb,8,a100\n{again}", tmp_path)
    assert len(gpus(found)) == 2
    assert [note for note in found.notes if "again" in note] == said


def test_a_type_that_the_publisher_withholds_is_one_of_its_own(tmp_path: Path) -> None:
    text = "node_name,gpu_model,gpu_capacity_num,cpu_num\n0,GPU-series-1,4,192\n1,A10,1,128\n"
    with pytest.raises(InputError, match="--gpu-type GPU-series-1=gpu-series-1"):
        read(text, tmp_path)
    assert gpus(read(text, tmp_path, {"GPU-series-1": "gpu-series-1"})) == {"0": (4, "gpu-series-1"), "1": (1, "a10")}


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("b,many,a100", "gpus is 'many', not a whole number"), ("b,4", "a row with more or fewer cells"),
        (",4,a100", "a row without a name"), ("b,99,a100", "gpus is '99', not a whole number from 0 to 64"),
    ],
)  # fmt: skip
def test_an_odd_row_costs_itself(row: str, why: str, tmp_path: Path) -> None:
    found = read(f"name,gpus,gpu_type\na,8,a100\n{row}\nc,8,a100\n", tmp_path)
    assert list(gpus(found)) == ["a", "c"]
    assert why in notes(found)
    assert "(line 3)" in notes(found)


def test_a_node_without_a_rack_stands_in_one_of_its_own(tmp_path: Path) -> None:
    found = read("name,gpus,gpu_type,rack\na,8,a100,r1\nb,8,a100,\nc,8,a100,r1\n", tmp_path)
    assert places(found) == {"a": (0, 0), "c": (0, 0), "b": (1, 0)}
    assert "1 node without a rack stands in one of its own: b" in found.notes


def test_one_byte_that_is_not_utf8_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"name,gpus,gpu_type,partitions\na,8,a100,caf\xe9\n")
    from pointsman.cluster.imports.read import import_nodes

    assert gpus(import_nodes(tmp_path / "x.csv")) == {"a": (8, "a100")}
