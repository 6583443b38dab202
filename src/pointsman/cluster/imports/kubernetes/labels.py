"""What labels of Kubernetes' nodes say: the type of their GPUs, and the racks and pods that they are in."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from pointsman.inputs.gpu_names import known_name
from pointsman.inputs.messages import counted

Labels = Mapping[str, str]

INSTANCE: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_TYPES: Final = (
    "gpu.nvidia.com/model", "gpu.nvidia.com/class", "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator", "karpenter.k8s.aws/instance-gpu-name", "eks.amazonaws.com/instance-gpu-name",
    "karpenter.k8s.aws/instance-accelerator-name", "eks.amazonaws.com/instance-accelerator-name",
    "aliyun.accelerator/nvidia_name", "node.kubernetes.io/npu.chip.name", "accelerator-type", "accelerator",
)  # fmt: skip
"""Labels of clouds and sites that name a type, where the maker's own label is missing."""
_INSTANCES: Final = (
    ("p2.", "k80"), ("p3", "v100"), ("p4d", "a100"), ("p5en?\\.", "h200"), ("p5", "h100"), ("p6-b200", "b200"),
    ("p6-b300", "b300"), ("p6e-gb200", "gb200"), ("p6e-gb300", "gb300"), ("g3", "m60"), ("g4dn", "t4"),
    ("g5g", "t4"), ("g5", "a10g"), ("g6e", "l40s"), ("gr?6", "l4"), ("g7e|g4-", "rtxpro6000"), ("dl1", "gaudi"),
    ("trn1", "trainium"), ("trn2", "trainium2"), ("trn3", "trainium3"), ("inf1", "inferentia"), ("inf2", "inferentia2"),
    ("a2-", "a100"), ("a3-ultra", "h200"), ("a3-", "h100"), ("a4x-max", "gb300"), ("a4x", "gb200"), ("a4-", "b200"),
    ("g2-", "l4"), ("ct4p", "tpu-v4"), ("ct5l", "tpu-v5e"), ("ct5p", "tpu-v5p"), ("ct6e", "tpu-v6e"),
    ("standard_nc[0-9]+r?s_v3|standard_nd40rs", "v100"), ("standard_nc[0-9]+r?s_v2", "p100"), ("bm\\.gpu4", "a100"),
    ("bm\\.gpu3|vm\\.gpu3", "v100"), ("bm\\.gpu2|vm\\.gpu2", "p100"), ("bm\\.gpu\\.b4", "a100"),
)  # fmt: skip
"""How the names of clouds' machines begin, and their GPUs (recalled)."""


def gpu_type(labels: Labels, own: Sequence[str], otherwise: str) -> str:
    """What the maker's ``own`` labels say, or else others if they name a type of the catalogue, or else the last."""
    for key in own:
        if labels.get(key):
            return labels[key]
    said = [labels[key] for key in _TYPES if known_name(labels.get(key, ""))]
    return next(iter(said), "") or _of_instance(labels) or otherwise


def _of_instance(labels: Labels) -> str:
    machine = next((labels[key] for key in INSTANCE if key in labels), "").casefold()
    found = next((name for begin, name in _INSTANCES if re.match(begin, machine)), "")
    return found or known_name(machine) or ""


class Level(NamedTuple):
    """A label of places, and how far it reaches: the smaller, the nearer."""

    label: str
    reach: int
    nvlink: bool = False


_LEVELS: Final = (
    Level(r"nvidia\.com/gpu\.clique|network\.topology\.nvidia\.com/accelerator|.*nvlink[-./]?domain", 0, True),
    Level(r"network\.topology\.nvidia\.com/(leaf|block)|.*[/-](leaf|leafgroup|asw|tor)", 2),
    Level(r"(.*[/.-])?(rack|sub-?block|subblock)(-?(id|name))?|oci\.oraclecloud\.com/.*local_?block.*", 2),
    Level(r"topology\.k8s\.aws/network-node-layer-4", 1),
    Level(r"topology\.k8s\.aws/network-node-layer-3", 2),
    Level(r"topology\.k8s\.aws/network-node-layer-2", 3),
    Level(r"topology\.k8s\.aws/network-node-layer-1", 4),
    Level(r"network\.topology\.nvidia\.com/spine|.*[/-](spine|superpod)", 3),
    Level(r"(.*[/.-])?(block|row|pod)(-?(id|name))?|oci\.oraclecloud\.com/.*network_?block.*", 3),
    Level(r"network\.topology\.nvidia\.com/(core|datacenter)|.*[/-](core|fabric|hall|datacenter|hpc_island.*)", 4),
    Level(r"(topology\.kubernetes\.io|failure-domain\.beta\.kubernetes\.io)/zone", 5),
    Level(r"(topology\.kubernetes\.io|failure-domain\.beta\.kubernetes\.io)/region", 6),
)
_NO_PLACES: Final = re.compile(r".*(hostname|gce-topology-host)|node\.kubernetes\.io/.*|node-role.*|kubernetes\.io/.*")


class Places(NamedTuple):
    """Racks and pods of nodes, in their order; empty: not known."""

    racks: list[str]
    pods: list[str]
    said_by: str
    nvlink: bool
    """Whether a rack is what one NVLink network joins."""


def places(nodes: Sequence[Labels]) -> Places:
    """The nearest level that the labels of nodes tell becomes the rack, and the next one that joins racks the pod."""
    levels = _levels_of_labels(nodes)
    if not levels:
        return Places([""] * len(nodes), [""] * len(nodes), "", False)
    racks = _inside(nodes, levels)
    outer = [level for level in levels if level.reach > levels[0].reach]
    while outer and not 1 < len({*_inside(nodes, outer)} - {""}) < len({*racks} - {""}):
        outer.pop(0)
    label = levels[0].label
    by = f"racks are by the label {label}" + (f", pods by {outer[0].label}" if outer else "")
    without = sum(not labels.get(label) for labels in nodes if labels)
    by += f"; {counted(without, 'node does', 'nodes do')} not have it" if without else ""
    return Places(racks, _inside(nodes, outer), by, levels[0].nvlink and not without)


def _levels_of_labels(nodes: Sequence[Labels]) -> list[Level]:
    """Levels of this list, the nearest first; of labels that reach as far, the one that most nodes have."""
    counts: dict[str, int] = {}
    for labels in nodes:
        for label, value in labels.items():
            counts[label] = counts.get(label, 0) + bool(value)
    found: dict[int, Level] = {}
    for label in sorted(counts, key=lambda name: (-counts[name], name)):
        level = next((one for one in _LEVELS if re.fullmatch(one.label, label)), None)
        if level is not None and counts[label] and not _NO_PLACES.fullmatch(label):
            found.setdefault(level.reach, Level(label, level.reach, level.nvlink))
    return [found[reach] for reach in sorted(found)]


def _inside(nodes: Sequence[Labels], levels: Sequence[Level]) -> list[str]:
    """The place of each node at the first of these levels, with what is around it, for names that come again."""
    told = [[labels.get(level.label, "") for level in reversed(levels)] for labels in nodes]
    return ["/".join(values) if any(values) else "" for values in told]
