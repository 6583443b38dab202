"""The accelerators of a node of Kubernetes by its resources, each maker's by its own names."""

import re
from typing import Final, NamedTuple

from pointsman.cluster.imports.kubernetes.labels import Labels, gpu_type
from pointsman.cluster.imports.kubernetes.nvidia import RESOURCES, Counted, Resources, nvidia
from pointsman.cluster.imports.machine import Gpus, OddNode
from pointsman.inputs.gpu_names import known_name


class Maker(NamedTuple):
    """How a maker's accelerators are called: patterns, without regard to case."""

    domain: str
    names: tuple[str, ...]
    """Names of the same accelerators, of which the first counts."""
    otherwise: str = ""
    """The type where nothing names it; empty: the name of the resource."""
    labels: tuple[str, ...] = ()
    """That name the type."""
    shares: str = ""
    """Names of resources that are shares of accelerators."""


MAKERS: Final = (
    Maker(r"amd\.com", ("gpu", "[a-z]{3}_nps[0-9]"), "amd-gpu",
          ("amd.com/gpu.product-name", "beta.amd.com/gpu.product-name")),
    Maker(r"habana\.ai", ("gaudi",), "gaudi", ("habana.ai/gaudi.product",)),
    Maker(r"google\.com", ("tpu",), "tpu", ("cloud.google.com/gke-tpu-accelerator",)),
    Maker(r"aws\.amazon\.com", ("neuron", "neurondevice", "neuroncore"), "neuron"),
    Maker(r"huawei\.com", (r"ascend\w*", "npu"), shares=r"ascend\w*-\w+"),
    Maker(r"gpu\.intel\.com", ("i915", "xe"), labels=("gpu.intel.com/product",)),
    Maker(r"cambricon\.com", ("real-mlu-counts", r"mlu\w*"), "mlu", shares=r"mlu.*\.\w+"),
    Maker(r"mthreads\.com", ("gpu",), "mthreads-gpu", shares="[vs]gpu"),
    Maker(r"metax-tech\.com", ("gpu",), "metax-gpu", shares="[vs]gpu"),
    Maker(r"hygon\.com", ("dcu", "dcunum"), "dcu", shares="vdcu"),
    Maker(r"iluvatar\.(ai|com)", ("gpu",), "iluvatar-gpu", shares=".*vgpu"),
    Maker(r"enflame\.com", (r"gcu\w*",), "gcu", shares="(v|shared-)gcu"),
    Maker(r"(kunlunxin|baidu)\.com", ("xpu",), "kunlun-xpu", shares="vxpu"),
    Maker(r"qualcomm\.com", (r"qaic\w*",), "qaic"),
    Maker(r"graphcore\.ai", (r"ipu\w*",), "ipu"),
    Maker(r"(rebellions|furiosa)\.ai|tenstorrent\.com", (r"\w+",)),
    Maker(r"[\w.-]+", ("gpu",)),
)  # fmt: skip
"""All but NVIDIA; the last is whatever else calls itself a GPU."""
_PARTS: Final = {"spx": 1, "dpx": 2, "tpx": 3, "qpx": 4, "cpx": 8}
"""Parts of a GPU of AMD by its compute partition."""
_PARTITION: Final = "amd.com/compute-memory-partition"
_CORES: Final = {"inferentia": 4, "trainium2": 4}
"""Cores of a Neuron device, as Kubernetes counts them; 2 of others."""


def accelerators(resources: Resources, labels: Labels, annotations: Labels) -> tuple[Counted, list[str]]:
    """Physical accelerators of a node, and resources with a maker's name that are none, so far as known.

    Raises:
        OddNode: it has shares of accelerators and does not say of how many.
    """
    own = {name: count for name, count in resources.items() if RESOURCES.fullmatch(name)}
    found = nvidia(own, labels, annotations)
    gpus, notes = list(found.gpus), [found.note] * bool(found.note)
    rest = {name: count for name, count in resources.items() if "/" in name and count and name not in own}
    for maker in MAKERS:
        of_maker = {name: n for name, n in rest.items() if re.fullmatch(maker.domain, name.split("/")[0])}
        counted = _of_maker(maker, of_maker, labels)
        if counted.gpus:
            gpus += counted.gpus
            notes += [counted.note] * bool(counted.note)
            rest = {name: n for name, n in rest.items() if name not in of_maker}
    return Counted(tuple(gpus), "; ".join(notes)), list(rest)


def _of_maker(maker: Maker, resources: Resources, labels: Labels) -> Counted:
    for pattern in maker.names:
        if found := _matching_resources(pattern, resources):
            counted = [_accelerators(maker, name, resources[name], labels) for name in found]
            notes = (one.note for one in counted if one.note)
            return Counted(tuple(gpus for one in counted for gpus in one.gpus), "; ".join(notes))
    if shares := _matching_resources(maker.shares, resources):
        raise OddNode(f"{resources[shares[0]]} of {shares[0]} are shares, and it does not say of how many")
    return Counted(())


def _matching_resources(pattern: str, resources: Resources) -> list[str]:
    return [name for name in resources if re.fullmatch(pattern, name.split("/", 1)[1], re.IGNORECASE)]


def _accelerators(maker: Maker, name: str, count: int, labels: Labels) -> Counted:
    end = name.split("/")[1]
    kind = gpu_type(labels, maker.labels, "") if known_name(end) is None else end
    kind = kind or maker.otherwise or (end if end != "gpu" else name.split("/")[0])
    parts = _parts(name, kind, labels)
    cards = _cards(labels) if "intel" in name else 0
    whole = cards if 0 < cards < count else -(-count // parts)
    return Counted((Gpus(whole, kind),), f"{count} of {name} are parts of {whole} {kind}" if whole < count else "")


def _parts(name: str, kind: str, labels: Labels) -> int:
    """Returns how many units one accelerator has."""
    if name.endswith("neuroncore"):
        return _CORES.get(known_name(kind) or "", 2)
    mode = re.search(r"([a-z]{3})_nps", name) or re.match(r"([a-z]{3})_nps", labels.get(_PARTITION, "").casefold())
    return _PARTS.get(mode[1], 1) if mode and name.startswith("amd.com/") else 1


def _cards(labels: Labels) -> int:
    """GPUs of Intel, of which each may be offered several times."""
    numbers = labels.get("gpu.intel.com/gpu-numbers", "")
    return len([one for one in re.split(r"[.,_-]", numbers) if one.isdigit()])
