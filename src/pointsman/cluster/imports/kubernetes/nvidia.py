"""How many NVIDIA GPUs a node of Kubernetes has: its resources may be whole GPUs, slices, replicas or shares."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from pointsman.cluster.gpu_catalogue import known_gpu
from pointsman.cluster.imports.cards import cards, compute_slices, describe_slices
from pointsman.cluster.imports.kubernetes.labels import Labels, gpu_type
from pointsman.cluster.imports.machine import Gpus, OddNode
from pointsman.cluster.quantities import memory_bytes
from pointsman.inputs.gpu_names import known_name
from pointsman.inputs.messages import counted

DOMAIN: Final = "nvidia.com/"
_COUNT: Final = "nvidia.com/gpu.count"
_COUNTS: Final = (_COUNT, "cloud.google.com/gke-accelerator-count", "karpenter.k8s.aws/instance-gpu-count")
_REPLICAS: Final = ("nvidia.com/gpu.replicas", "cloud.google.com/gke-max-shared-clients-per-gpu")
_PARTITION: Final = "cloud.google.com/gke-gpu-partition-size"
MANY: Final = 16
"""More GPUs of NVIDIA than this no node has (ours): they may be shares."""
_PRODUCT: Final = "nvidia.com/gpu.product"
_VIRTUAL: Final = ("volcano.sh/vgpu-number", "volcano.sh/vgpu-memory")
_CARDS: Final = ("volcano.sh/gpu-number", "aliyun.com/gpu-count")
"""Resources that count GPUs, beside another that shares their memory."""
_VCUDA: Final = ("tencent.com/vcuda-core", 100)
"""Hundredths of GPUs."""
_REGISTER: Final = re.compile(r".*/node-(nvidia|vgpu)-register")
_SHARED: Final = "-SHARED"
RESOURCES: Final = re.compile(
    r"nvidia\.com/.*|volcano\.sh/v?gpu-.*|aliyun\.com/gpu-.*|tencent\.com/vcuda-.*", re.IGNORECASE
)

Resources = Mapping[str, int]
"""What a node offers, by resource."""


class Counted(NamedTuple):
    """GPUs of a node, and a word on how they were counted."""

    gpus: tuple[Gpus, ...]
    note: str = ""


def nvidia(resources: Resources, labels: Labels, annotations: Labels) -> Counted:
    """NVIDIA GPUs of a node.

    Raises:
        OddNode: it has shares of GPUs and does not say of how many.
    """
    units = resources.get("nvidia.com/gpu", 0) + resources.get("nvidia.com/gpu.shared", 0)
    product = gpu_type(labels, (_PRODUCT,), "") + (f"-MIG-{labels[_PARTITION]}" if labels.get(_PARTITION) else "")
    whole = product.removesuffix(_SHARED).split("-MIG-")[0]
    found = _count_gpus(units, product, resources, labels, annotations)
    other = tuple(_gpus_by_resource_name(resources))
    return Counted((Gpus(found[0], whole), *other), found[1])


def _count_gpus(units: int, product: str, resources: Resources, labels: Labels, annotations: Labels) -> tuple[int, str]:
    told, replicas = _figure(labels, *_COUNTS), max(_figure(labels, *_REPLICAS), 1)
    shared = product.endswith(_SHARED) or resources.get("nvidia.com/gpu.shared", 0) > 0 or replicas > 1
    slices = _slices(resources, labels)
    if "-MIG-" in product and units:
        return _of_one_profile(product, units // replicas, told)
    if slices:
        return _count_mixed(units // replicas, slices, told, product)
    if shared and units:
        return _replicas(units, replicas, told)
    for name in _CARDS:
        if resources.get(name):
            return resources[name], f"GPUs by {name}"
    virtual, memory = (resources.get(name, 0) for name in _VIRTUAL)
    if virtual and not units:
        return _virtual(virtual, memory, _VIRTUAL[0], told, product, labels, annotations)
    core, parts = _VCUDA
    if resources.get(core) and not units:
        return resources[core] // parts, f"GPUs by {core}: {parts} are one"
    return _plain(units, told, product, resources, labels, annotations)


def _plain(
    units: int, told: int, product: str, resources: Resources, labels: Labels, annotations: Labels
) -> tuple[int, str]:
    memory = resources.get("nvidia.com/gpumem", 0)
    registered = any(_REGISTER.fullmatch(name) for name in annotations)
    if units and (memory or registered or 0 < told < units):
        return _virtual(units, memory, "nvidia.com/gpu", told, product, labels, annotations)
    if units < told:
        return (
            told,
            f"{units or 'none'} of {told} GPUs offered (nvidia.com/gpu); all are counted, by the label {_COUNT}",
        )
    many = f"{units} GPUs in one node: if they are shares, give the node a label {_COUNT}" if units > MANY else ""
    return units, "" if told else many


def _of_one_profile(product: str, slices: int, told: int) -> tuple[int, str]:
    profile = product.split("-MIG-")[1].removesuffix(_SHARED)
    needed = cards({profile: slices}, product)
    count = told if needed <= told < slices else needed
    return count, f"{slices} slices ({profile}) of {counted(count, 'GPU')} (MIG)"


def _count_mixed(units: int, slices: Mapping[str, int], told: int, product: str) -> tuple[int, str]:
    needed = units + cards(slices, product)
    count = max(told, needed)
    least = "" if told else f"; at least that many, as there is no label {_COUNT}"
    wrong = f"; the label {_COUNT} says {told}, too few for them" if 0 < told < needed else ""
    others = "others" if units else "GPUs"
    return (
        count,
        f"{units or 'no'} whole GPUs, and slices of {count - units} {others}: "
        f"{describe_slices(slices)} (MIG){least}{wrong}",
    )


def _replicas(units: int, replicas: int, told: int) -> tuple[int, str]:
    if not told and replicas == 1:
        raise OddNode(
            f"{units} replicas of shared GPUs, and no label {_COUNT} or nvidia.com/gpu.replicas says of how many"
        )
    count = told if 0 < told <= units else -(-units // replicas)
    return count, f"{units} replicas of {counted(count, 'GPU')} (time slicing or MPS)"


def _virtual(
    units: int, memory_mib: int, name: str, told: int, product: str, labels: Labels, annotations: Labels
) -> tuple[int, str]:
    """GPUs of which there are `units` shares: by their label, their list, or the memory that they have together."""
    listed = sum(len(set(re.findall(r"GPU-[0-9a-fA-F-]{6,}", text))) for key, text in annotations.items()
                 if _REGISTER.fullmatch(key))  # fmt: skip
    count = told or listed or _by_memory(memory_mib, product, labels)
    if not 0 < count <= units:
        raise OddNode(f"{units} of {name} are shares, and neither {_COUNT} nor their memory says of how many GPUs")
    return count, f"{units} of {name} are shares of {counted(count, 'GPU')}" if units > count else ""


def _by_memory(memory_mib: int, product: str, labels: Labels) -> int:
    each = _figure(labels, "nvidia.com/gpu.memory")
    model = known_gpu(product)
    if not each and model is not None:
        each = int(memory_bytes(model.memory) // 2**20)
    return round(memory_mib / each) if each else 0


def _slices(resources: Resources, labels: Labels) -> dict[str, int]:
    """Instances of each MIG profile; replicas of them count once."""
    found: dict[str, int] = {}
    for name, count in resources.items():
        profile = name.removeprefix("nvidia.com/mig-")
        if count and profile != name and compute_slices(profile) is not None:
            times = max(_figure(labels, f"{name.removesuffix('.shared')}.replicas"), 1)
            profile = profile.removesuffix(".shared")
            found[profile] = found.get(profile, 0) + -(-count // times)
    return found


def _gpus_by_resource_name(resources: Resources) -> list[Gpus]:
    """GPUs of which the resource has the name of their type, as those that virtual machines are given."""
    return [
        Gpus(count, name.removeprefix(DOMAIN))
        for name, count in resources.items()
        if name.startswith(DOMAIN) and count and "mig-" not in name and known_name(name.removeprefix(DOMAIN))
    ]


def _figure(labels: Labels, *keys: str) -> int:
    """The first number that one of these labels has; 0: none."""
    text = next((labels[key] for key in keys if labels.get(key)), "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
