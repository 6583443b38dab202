"""The accelerators that pods ask for, each maker's by its own names, and their type."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from pointsman.inputs.gpu_cells import GpuEntry
from pointsman.inputs.gpu_names import WHOLE, known_name, plain_name, slice_milli
from pointsman.workload.readers.kubernetes_objects import count_of, dicts, part, text_of
from pointsman.workload.readers.sdk import GpuDemand, demand_of

_MAKERS: Final = (
    (r"nvidia\.com/gpu|volcano\.sh/gpu-number|aliyun\.com/gpu-count", ""),
    (r"amd\.com/gpu", ""),
    (r"habana\.ai/(gaudi\d?)", "gaudi"),
    (r"google\.com/tpu", "tpu"),
    (r"aws\.amazon\.com/neuron(device)?", "neuron"),
    (r"huawei\.com/(ascend\w*|npu)", "npu"),
    (r"gpu\.intel\.com/(i915|xe)", ""),
    (r"cambricon\.com/(mlu\w*)", "mlu"),
    (r"hygon\.com/dcu(num)?", "dcu"),
    (r"enflame\.com/gcu\w*", "gcu"),
    (r"kunlunxin\.com/xpu|baidu\.com/xpu", "xpu"),
    (r"qualcomm\.com/qaic\w*", "qaic"),
    (r"graphcore\.ai/ipu\w*", "ipu"),
    (r"[\w.-]+/gpu", ""),
)
"""Resources that are whole accelerators, and their type where the name or a label says no better."""
_SLICE: Final = re.compile(r"(?:nvidia\.com/mig-|amd\.com/gpu-|cloud\.google\.com/mig-)(.+)", re.IGNORECASE)
_PERCENT: Final = ("nvidia.com/gpucores", "volcano.sh/vgpu-cores", "nvidia.com/gpumem-percentage")
"""Percent of a GPU, of each virtual one."""
_SHARES: Final = re.compile(
    r"nvidia\.com/gpu(\.shared|mem)|volcano\.sh/vgpu-(number|memory)|volcano\.sh/gpu-memory|aliyun\.com/gpu-mem|"
    r"tencent\.com/vcuda-(core|memory)|[\w.-]+/[\w-]*vgpu|huawei\.com/ascend\w*-\w+|aws\.amazon\.com/neuroncore|"
    r"amd\.com/[a-z]{3}_nps[0-9]|(mthreads|metax-tech)\.com/[vs]gpu|hygon\.com/vdcu|enflame\.com/(v|shared-)gcu",
    re.IGNORECASE,
)
"""Resources that are shares of accelerators whose size is not known from a pod."""
_FRACTIONS: Final = ("gpu-fraction",)
"""Annotations that say which share of a GPU a pod asks for."""
SHARED: Final = "-SHARED"
"""How the product of a node ends that offers each GPU several times."""
_OF_TYPE: Final = re.compile(r"gpu|accelerator|npu|instance-type|product|card|model|device", re.IGNORECASE)
"""Labels of nodes that may name a type."""


class Wanted(NamedTuple):
    """What one pod asks for."""

    entries: tuple[GpuEntry, ...]
    claims: bool = False
    """It asks by resource claims, whose devices are not told here."""

    @property
    def gpus(self) -> float:
        """GPUs, and shares of them as such; of shares of unknown size one each."""
        return sum(entry.count * (1.0 if entry.milli is None else entry.milli / WHOLE) for entry in self.entries)


def wanted(spec: Mapping[str, Any], labels: Mapping[str, str], node_types: Mapping[str, str]) -> Wanted:
    """The accelerators of a pod.

    Args:
        spec: of the pod, or of a template of pods.
        labels: of the pod, and its annotations.
        node_types: the products that nodes have, by name.
    """
    product = _product_of(spec) or node_types.get(text_of(spec.get("nodeName")), "")
    named = _kind(product)
    entries = [_part(entry, product) for entry in _entries(_of_pod(spec), named)]
    share = next((_share(labels[name]) for name in _FRACTIONS if name in labels), None)
    if share and not entries:
        entries = [GpuEntry(1, named, share, "a share of a GPU")]
    return Wanted(tuple(entries), bool(spec.get("resourceClaims")))


def _part(entry: GpuEntry, product: str) -> GpuEntry:
    """GPUs of a node that offers slices, or each GPU several times, under the name of whole ones."""
    if entry.milli != WHOLE or not entry.written.startswith("nvidia.com/gpu"):
        return entry
    milli = slice_milli(product)
    if product.endswith(SHARED):
        return entry._replace(milli=None, written=f"{entry.written} of {product}")
    return entry if milli is None else entry._replace(milli=milli, written=f"{entry.written} of {product}")


def total(pods: list[tuple[int, Wanted]], gpu_type: str) -> GpuDemand:
    """Adds up what pods of each kind request, given as (number, request); `gpu_type` is for entries that do not name
    one.
    """
    entries = [
        entry._replace(count=entry.count * many, gpu_type=entry.gpu_type or gpu_type)
        for many, wants in pods
        for entry in wants.entries
    ]
    return demand_of(entries)


def _share(value: str) -> int | None:
    found = re.fullmatch(r"0?\.[0-9]{1,6}", value)
    return round(float(value) * WHOLE) if found else None


def _of_pod(spec: Mapping[str, Any]) -> dict[str, int]:
    """Resources of a pod: its containers run at once, and its init containers before, but for those that stay."""
    running: dict[str, int] = {}
    before: dict[str, int] = {}
    for container in dicts(spec.get("containers")):
        _add(running, _extended_resources(container))
    for container in dicts(spec.get("initContainers")):
        if text_of(container.get("restartPolicy")) == "Always":
            _add(running, _extended_resources(container))
        else:
            before.update(
                {name: max(count, before.get(name, 0)) for name, count in _extended_resources(container).items()}
            )
    return {name: max(running.get(name, 0), before.get(name, 0)) for name in {**running, **before}}


def _extended_resources(container: Mapping[str, Any]) -> dict[str, int]:
    both = {**part(container, "resources", "requests"), **part(container, "resources", "limits")}
    return {name: count for name, value in both.items() if "/" in name and (count := count_of(value, 0))}


def _add(totals: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        totals[name] = totals.get(name, 0) + count


def _entries(resources: Mapping[str, int], named: str) -> Iterator[GpuEntry]:
    percent = next((resources[name] for name in _PERCENT if name in resources), None)
    limited = any(_SHARES.fullmatch(name) for name in resources if not name.startswith("nvidia.com/gpu.shared"))
    for name, count in resources.items():
        sliced = _SLICE.fullmatch(name)
        milli = None if sliced is None else slice_milli(sliced[1])
        virtual = name == "nvidia.com/gpu" or name.endswith("vgpu-number")
        if milli is not None:
            yield GpuEntry(count, named, milli, name)
        elif virtual and percent is not None and percent < 100 * count:
            yield GpuEntry(count, named, WHOLE * percent // (100 * count), name)
        elif (virtual and limited and percent is None) or name in ("nvidia.com/gpu.shared", "aliyun.com/gpu-mem"):
            yield GpuEntry(1 if name.endswith("mem") else count, named, None, name)
        elif (own := _whole_type(name)) is not None:
            yield GpuEntry(count, named or own, WHOLE, name)
        elif _SHARES.fullmatch(name) and not any(other.rpartition("/")[2] == "gpu" for other in resources):
            yield GpuEntry(1, named, None, name)


def _whole_type(name: str) -> str | None:
    """The type of accelerators called so, empty where the name does not tell it; None: these are none."""
    for pattern, otherwise in _MAKERS:
        found = re.fullmatch(pattern, name, re.IGNORECASE)
        if found:
            return known_name(name.rpartition("/")[2]) or otherwise
    return None


def product_of(labels: Mapping[str, Any]) -> str:
    """The GPU that a node's labels name, `NVIDIA-A100-SXM4-40GB-MIG-1g.5gb`; empty if none does."""
    told = {name: text_of(value) for name, value in labels.items() if _OF_TYPE.search(name)}
    products = [value for name, value in told.items() if name.endswith(("product", "product-name")) and value]
    known = (value for value in (*products, *told.values()) if known_name(value))
    found = next(known, next(iter(products), ""))
    shared = told.get("nvidia.com/gpu.sharing-strategy", "none") != "none"
    return found + SHARED if shared and not found.endswith(SHARED) else found


def _kind(product: str) -> str:
    return plain_name(product.removesuffix(SHARED))


def _product_of(spec: Mapping[str, Any]) -> str:
    """By the node selector, or by a required affinity to nodes of one type."""
    selected = product_of(part(spec, "nodeSelector"))
    if selected:
        return selected
    required = part(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    found = {
        product_of({text_of(wish.get("key")): value})
        for term in dicts(required.get("nodeSelectorTerms"))
        for wish in dicts(term.get("matchExpressions"))
        if text_of(wish.get("operator")) == "In" and isinstance(wish.get("values"), list)
        for value in wish["values"]
    } - {""}
    return next(iter(found)) if len({_kind(product) for product in found}) == 1 else ""


def one_node_each(spec: Mapping[str, Any]) -> bool:
    """Whether a required anti-affinity puts each pod on a node of its own."""
    terms = part(spec, "affinity", "podAntiAffinity").get("requiredDuringSchedulingIgnoredDuringExecution")
    return any(text_of(term.get("topologyKey")) == "kubernetes.io/hostname" for term in dicts(terms))
