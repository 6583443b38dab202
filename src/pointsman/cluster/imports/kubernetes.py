"""Nodes as Kubernetes says them: ``kubectl get nodes -o json``."""

from pathlib import Path
from typing import Any, Final

from pointsman.cluster.imports.machine import Machine, text_of
from pointsman.cluster.quantities import memory_bytes
from pointsman.errors import InputError

TYPES: Final = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
)
"""Labels that name a node's GPU type."""
RACK: Final = "/rack"
"""How a label ends that names a node's rack."""


def of_kubectl(items: list[Any], path: Path) -> list[Machine]:
    """Of the items of the list; GPUs are the resource whose name ends with ``/gpu``.

    Raises:
        InputError: an item is no node.
    """
    try:
        return [_machine(item) for item in items]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        fix = "import what 'kubectl get nodes -o json' prints"
        raise InputError(f"no list of Kubernetes nodes: {error}", path=path, fix=fix) from None


def _machine(item: dict[str, Any]) -> Machine:
    capacity, labels = item["status"]["capacity"], item["metadata"].get("labels") or {}
    gpus = sum(int(number) for name, number in capacity.items() if name.endswith("/gpu"))
    gpu_type = text_of(next((labels[name] for name in TYPES if name in labels), ""))
    rack = text_of(next((value for name, value in sorted(labels.items()) if name.endswith(RACK)), ""))
    size = capacity["memory"]
    memory_mib = int(memory_bytes(f"{size}B" if size.isdigit() else size) // 2**20)
    name = text_of(item["metadata"]["name"])
    return Machine(name, gpus, gpu_type, _cores(capacity["cpu"]), None, memory_mib, rack=rack)


def _cores(text: str) -> int:
    """Whole ones: ``64``, ``63500m``."""
    return -(-int(text[:-1]) // 1000) if text.endswith("m") else int(text)
