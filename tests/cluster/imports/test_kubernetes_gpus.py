"""How many physical accelerators a node of Kubernetes has, whatever it calls them."""

from pathlib import Path

import pytest

from pointsman.cluster.imports.read import import_nodes
from pointsman.errors import InputError
from tests.cluster.imports.lists import case, gpus, kubernetes, node, notes

A100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}
NEW = {"nvidia.com/gpu.product": "NVIDIA-Z999"}
LISTED = "GPU-11111111-aaaa,10,40960,100,NVIDIA-A100,0,true:GPU-22222222-bbbb,10,40960,100,NVIDIA-A100,0,true:"
SHARES = [
    ({"nvidia.com/gpu": "56"}, {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}, 8, "56 slices (1g.5gb)"),
    (
        {"nvidia.com/gpu": "9"},
        {"nvidia.com/gpu.product": "NVIDIA-A100-MIG-2g.10gb", "nvidia.com/gpu.count": "9"},
        3,
        "9 slices (2g.10gb) of 3 GPUs",
    ),
    (
        {"nvidia.com/gpu": "4"},
        {"nvidia.com/gpu.product": "NVIDIA-A100-MIG-7g.40gb", "nvidia.com/gpu.count": "4"},
        4,
        "4 slices",
    ),
    ({"nvidia.com/gpu": "1", "nvidia.com/mig-3g.20gb": "4"}, A100, 3, "at least that many"),
    (
        {"nvidia.com/mig-1g.5gb": "14", "nvidia.com/mig-4g.20gb": "1"},
        A100 | {"nvidia.com/gpu.count": "4"},
        4,
        "slices of 4 GPUs",
    ),
    (
        {"nvidia.com/mig-1g.20gb": "3", "nvidia.com/mig-2g.20gb": "1", "nvidia.com/mig-1g.10gb": "4"},
        {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        2,
        "3 of 1g.20gb and 1 of 2g.20gb and 4 of 1g.10gb",
    ),
    ({"nvidia.com/mig-1g.5gb.shared": "28"}, A100 | {"nvidia.com/mig-1g.5gb.replicas": "2"}, 2, "14 of 1g.5gb"),
    ({"nvidia.com/gpu": "12"}, A100 | {"nvidia.com/gpu.replicas": "3"}, 4, "12 replicas of 4 GPUs"),
    ({"nvidia.com/gpu.shared": "10"}, A100 | {"nvidia.com/gpu.count": "2"}, 2, "10 replicas of 2 GPUs"),
    ({"nvidia.com/gpu": "6"}, {"nvidia.com/gpu.product": "T4-SHARED", "nvidia.com/gpu.replicas": "3"}, 2, "6 repl"),
    (
        {"nvidia.com/gpu": "40", "nvidia.com/gpumem": "163840"},
        A100 | {"nvidia.com/gpu.memory": "40960"},
        4,
        "40 of nvidia.com/gpu are shares of 4 GPUs",
    ),
    (
        {"nvidia.com/gpu": "40", "nvidia.com/gpumem": "163000"},
        A100 | {"nvidia.com/gpu.memory": "40960"},
        4,
        "40 of nvidia.com/gpu are shares of 4 GPUs",
    ),
    ({"nvidia.com/gpu": "20"}, A100 | {"nvidia.com/gpu.count": "2"}, 2, "20 of nvidia.com/gpu are shares of 2 GPUs"),
    ({"volcano.sh/vgpu-number": "20", "volcano.sh/vgpu-memory": "163840"}, A100, 2, "20 of volcano.sh/vgpu-number"),
    ({"volcano.sh/gpu-number": "4", "volcano.sh/gpu-memory": "64000"}, A100, 4, "GPUs by volcano.sh/gpu-number"),
    ({"aliyun.com/gpu-count": "2", "aliyun.com/gpu-mem": "80"}, A100, 2, "GPUs by aliyun.com/gpu-count"),
    ({"tencent.com/vcuda-core": "400", "tencent.com/vcuda-memory": "640"}, A100, 4, "100 are one"),
    (
        {"nvidia.com/gpu": "56"},
        {"cloud.google.com/gke-accelerator": "nvidia-tesla-a100", "cloud.google.com/gke-gpu-partition-size": "1g.5gb"},
        8,
        "56 slices (1g.5gb) of 8 GPUs",
    ),
    (
        {"nvidia.com/gpu": "40"},
        {"cloud.google.com/gke-accelerator": "nvidia-l4", "cloud.google.com/gke-max-shared-clients-per-gpu": "10"},
        4,
        "40 replicas of 4 GPUs",
    ),
    ({"nvidia.com/gpu": "40"}, A100, 40, "40 GPUs in one node: if they are shares"),
    ({"nvidia.com/gpu": "7"}, A100 | {"nvidia.com/gpu.count": "8"}, 8, "7 of 8 GPUs offered"),
    ({}, A100 | {"nvidia.com/gpu.count": "8"}, 8, "none of 8 GPUs offered"),
]  # fmt: skip


@pytest.mark.parametrize(("resources", "labels", "count", "said"), SHARES)
def test_slices_replicas_and_shares_are_of_physical_gpus(
    resources: dict[str, str], labels: dict[str, str], count: int, said: str, tmp_path: Path
) -> None:
    read = kubernetes(tmp_path, node("n1", resources, labels))
    assert gpus(read)["n1"][0] == count
    assert said in notes(read)


def test_a_node_with_whole_gpus_needs_no_word(tmp_path: Path) -> None:
    read = kubernetes(tmp_path, node("n1", {"nvidia.com/gpu": "8", "nvidia.com/mig-1g.5gb": "0"}, A100))
    assert gpus(read) == {"n1": (8, "a100")}
    assert [note for note in read.notes if note.startswith("n1")] == []


def test_virtual_gpus_by_the_list_that_their_plugin_keeps(tmp_path: Path) -> None:
    one = node("n1", {"nvidia.com/gpu": "20"}, A100, annotations={"hami.io/node-nvidia-register": LISTED})
    assert gpus(kubernetes(tmp_path, one)) == {"n1": (2, "a100")}


@pytest.mark.parametrize(
    ("resources", "labels", "why"),
    [
        ({"nvidia.com/gpu": "32"}, {"nvidia.com/gpu.product": "Tesla-T4-SHARED"}, "32 replicas of shared GPUs"),
        ({"volcano.sh/vgpu-number": "20"}, A100, "20 of volcano.sh/vgpu-number are shares"),
        ({"volcano.sh/vgpu-number": "20", "volcano.sh/vgpu-memory": "163840"}, NEW, "20 of volcano.sh/vgpu-number are"),
        ({"mthreads.com/vgpu": "8"}, {}, "8 of mthreads.com/vgpu are shares"),
        ({"nvidia.com/gpu": "many"}, A100, "nvidia.com/gpu is 'many', not a whole number"),
        ({"nvidia.com/gpu": "100"}, A100, "100 GPUs, and a node has at most 64"),
    ],
)
def test_a_node_of_which_the_gpus_cannot_be_told_is_left_out_and_named(
    resources: dict[str, str], labels: dict[str, str], why: str, tmp_path: Path
) -> None:
    read = kubernetes(tmp_path, node("odd", resources, labels), node("n1", {"nvidia.com/gpu": "8"}, A100))
    assert list(gpus(read)) == ["n1"]
    assert f"left out odd: {why}" in notes(read)


OTHERS = [
    ({"amd.com/gpu": "8"}, {"amd.com/gpu.product-name": "AMD_Instinct_MI325X_OAM"}, (8, "mi325x")),
    ({"amd.com/cpx_nps4": "64"}, {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}, (8, "mi300x")),
    ({"habana.ai/gaudi": "8"}, {"node.kubernetes.io/instance-type": "dl1.24xlarge"}, (8, "gaudi")),
    ({"google.com/tpu": "4"}, {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}, (4, "tpu-v6e")),
    (
        {"aws.amazon.com/neuron": "16", "aws.amazon.com/neuroncore": "32", "aws.amazon.com/neurondevice": "16"},
        {"node.kubernetes.io/instance-type": "trn1.32xlarge"},
        (16, "trainium"),
    ),
    ({"aws.amazon.com/neuroncore": "24"}, {"node.kubernetes.io/instance-type": "inf2.48xlarge"}, (12, "inferentia2")),
    ({"huawei.com/Ascend910B": "8", "huawei.com/Ascend910B-memory": "524288"}, {}, (8, "ascend910b")),
    ({"gpu.intel.com/i915": "4"}, {"gpu.intel.com/product": "Max_1550"}, (4, "max1550")),
    (
        {"gpu.intel.com/xe": "20", "gpu.intel.com/memory.max": "65536"},
        {"gpu.intel.com/product": "Flex_170", "gpu.intel.com/gpu-numbers": "0.1"},
        (2, "flex170"),
    ),
    ({"nvidia.com/gpu": "8"}, {"node.kubernetes.io/instance-type": "p5.48xlarge"}, (8, "h100")),
    ({"nvidia.com/gpu": "8"}, {"node.kubernetes.io/instance-type": "a2-highgpu-8g"}, (8, "a100")),
    ({"nvidia.com/gpu": "2"}, {"cloud.google.com/gke-accelerator": "nvidia-l4"}, (2, "l4")),
    ({"nvidia.com/GA100_A100_PCIE_40GB": "4"}, {}, (4, "a100")),
    ({"example.com/gpu": "4"}, {"accelerator": "nvidia-tesla-p100"}, (4, "p100")),
]  # fmt: skip


@pytest.mark.parametrize(("resources", "labels", "right"), OTHERS)
def test_accelerators_of_any_maker_are_of_their_type(
    resources: dict[str, str], labels: dict[str, str], right: tuple[int, str], tmp_path: Path
) -> None:
    assert gpus(kubernetes(tmp_path, node("n1", resources, labels))) == {"n1": right}


def test_resources_that_are_no_accelerators_are_named(tmp_path: Path) -> None:
    read = kubernetes(tmp_path, node("n1", {"nvidia.com/gpu": "8", "rdma/hca": "4", "hugepages-2Mi": "0"}, A100))
    assert "resources that are not taken for accelerators: rdma/hca" in read.notes


def test_unknown_types_are_listed_at_once_with_what_imports_them(tmp_path: Path) -> None:
    nodes = [
        node("n1", {"cambricon.com/mlu": "8"}), node("n2", {"cambricon.com/mlu": "8"}),
        node("n3", {"nvidia.com/gpu": "8"}, {"nvidia.com/gpu.product": "Odd GPU 7"}),
        node("n4", {"nvidia.com/gpu": "4"}),
    ]  # fmt: skip
    with pytest.raises(InputError) as refused:
        kubernetes(tmp_path, *nodes)
    said = str(refused.value)
    assert "'mlu' (n1 and 1 more nodes), 'Odd GPU 7' (n3), none named (n4)" in said
    assert "--gpu-type mlu=mlu --gpu-type 'Odd GPU 7=odd-gpu-7' --gpu-type NAME" in said
    read = import_nodes(tmp_path / "nodes.txt", {"mlu": "mlu", "Odd GPU 7": "odd-gpu-7", "": "l4"})
    assert gpus(read) == {"n1": (8, "mlu"), "n2": (8, "mlu"), "n3": (8, "odd-gpu-7"), "n4": (4, "l4")}
    assert "mlu is not in the catalogue: 16 GiB and pcie of 12 GB/s are assumed" in read.notes


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("k01_mig_mixed.json", {"g1": (8, "a100"), "g2": (1, "h100"), "g3": (8, "h100")}),
        ("k03_timeslice.json", {"g1": (8, "l40s"), "g2": (4, "l40s")}),
        ("k04_hami.json", {"g1": (8, "a100")}),
        ("k07_single_node.json", {"g3": (8, "h100")}),
        ("k11_yaml.yaml", {"g1": (8, "h100")}),
    ],
)
def test_field_cases(name: str, right: dict[str, tuple[int, str]]) -> None:
    assert gpus(import_nodes(case(name))) == right


def test_the_field_case_of_many_makers() -> None:
    with pytest.raises(InputError, match="i1 has GPUs of an unknown type 'i915'"):
        import_nodes(case("k06_vendors.json"))
    assert gpus(import_nodes(case("k06_vendors.json"), {"i915": "i915"})) == {
        "a1": (8, "mi300x"), "h1": (8, "gaudi"), "n1": (8, "ascend910"), "t1": (4, "tpu-v5e"), "w1": (16, "trainium"),
        "i1": (2, "i915"),
    }  # fmt: skip


def test_the_field_case_of_new_products() -> None:
    read = gpus(import_nodes(case("k10_new_products.json")))
    assert len(read) == 16
    assert {count for count, _ in read.values()} == {8}
    assert "rtx6000ada" in {kind for _, kind in read.values()}
