"""Nodes as Kubernetes says them: ``kubectl get nodes -o json`` or ``-o yaml``, one or several."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pointsman.cluster.imports.kubernetes.accelerators import accelerators
from pointsman.cluster.imports.kubernetes.labels import Labels, places
from pointsman.cluster.imports.machine import Machine, NodeList, OddNode, Reading, some, text_of, within
from pointsman.cluster.quantities import memory_bytes
from pointsman.inputs.messages import quoted

NODE: Final = "Node"
_STANDARD: Final = re.compile(r"[^/]*|kubernetes\.io/.*")
_UNIT: Final = {"k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def of_kubectl(items: Sequence[Any]) -> NodeList:
    """Reads nodes as Kubernetes has them; objects of other kinds are left out."""
    reading, labels, unread = Reading(), [], Counter[str]()
    others = Counter(str(item.get("kind")) for item in items if isinstance(item, dict) and not _is_node(item))
    for item in items:
        if isinstance(item, dict) and not _is_node(item):
            continue
        before = len(reading.machines)
        reading.take(lambda of=item: _machine(of, unread), _name(item))
        labels += [_labels(item) for _ in reading.machines[before:]]
    notes = [f"{count:,} objects of kind {kind} were left out" for kind, count in others.items()]
    if unread:
        notes.append(f"resources that are not taken for accelerators: {some(sorted(unread))}")
    told = places([of if machine.gpus else {} for machine, of in zip(reading.machines, labels, strict=True)])
    machines = [
        replace(machine, rack=rack, pod=pod)
        for machine, rack, pod in zip(reading.machines, told.racks, told.pods, strict=True)
    ]
    notes += [told.said_by] * bool(told.said_by)
    return NodeList("kubectl get nodes", machines, reading.odd, notes, told.nvlink)


def _is_node(item: Mapping[str, Any]) -> bool:
    return item.get("kind", NODE) == NODE


def _name(item: Any) -> str:
    try:
        return str(item["metadata"]["name"])
    except (KeyError, TypeError):
        return quoted(item, 40)


def _machine(item: Mapping[str, Any], unread: Counter[str]) -> Machine:
    status, metadata = item["status"], item["metadata"]
    name = text_of(metadata["name"])
    capacity = status.get("capacity") or status["allocatable"]
    annotations = {key: str(value) for key, value in (metadata.get("annotations") or {}).items()}
    offered = {key: _whole(key, value) for key, value in capacity.items() if not _STANDARD.fullmatch(key)}
    found, others = accelerators(offered, _labels(item), annotations)
    unread.update(others)
    size, cores = capacity.get("memory"), capacity.get("cpu")
    memory = None if size is None else int(memory_bytes(f"{size}B" if str(size).isdigit() else str(size)) // 2**20)
    down = bool((item.get("spec") or {}).get("unschedulable")) or not _ready(status)
    cpus = None if cores is None else _cores(str(cores))
    return Machine(name, within(found.gpus), cpus, None, memory, down=down, note=found.note)


def _labels(item: Mapping[str, Any]) -> Labels:
    labels = item["metadata"].get("labels") or {}
    if not isinstance(labels, dict):
        raise OddNode("its labels are no mapping")
    return {text_of(key): text_of(value) for key, value in labels.items()}


def _ready(status: Mapping[str, Any]) -> bool:
    states = [one.get("status") for one in status.get("conditions") or [] if one.get("type") == "Ready"]
    return all(state == "True" for state in states)


def _whole(name: str, value: Any) -> int:
    found = re.fullmatch(r"([0-9]{1,15})(?:\.0*)?([kMG]|[KMGT]i)?", str(value).strip())
    if found is None:
        raise OddNode(f"{name} is {quoted(value)}, not a whole number")
    return int(found[1]) * _UNIT.get(found[2] or "", 1)


def _cores(text: str) -> int | None:
    """Whole ones: ``64``, ``63500m``."""
    found = re.fullmatch(r"([0-9]{1,9})(m?)|([0-9]{1,6})\.[0-9]*", text)
    if found is None:
        raise OddNode(f"cpu is {quoted(text)}, not a number of cores")
    whole = int(found[1] or found[3])
    return (-(-whole // 1000) if found[2] else whole) or None
