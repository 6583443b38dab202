"""The cluster that a list of nodes makes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pointsman.cluster.cluster import Cluster, size_of
from pointsman.cluster.gpu_catalogue import known_gpu
from pointsman.cluster.hostlist import compress
from pointsman.cluster.imports.gpu_types import UNKNOWN_LINKS, Types, types_of
from pointsman.cluster.imports.machine import Gpus, Machine, NodeList, each_once, has, refuse, some
from pointsman.cluster.imports.racks import Racks, in_racks
from pointsman.inputs.messages import counted, wording

Kind = tuple[str, int, int | None, int | None, int | None]
"""GPU type, GPUs, cores, sockets and memory of a node."""


@dataclass(frozen=True)
class Imported:
    """The cluster, and what people should know of how it was made."""

    cluster: Cluster
    notes: Sequence[str]


def cluster_of(nodes: NodeList, path: Path, gpu_types: Mapping[str, str]) -> Imported:
    """The cluster of these, nodes in their order. Those without GPUs, and odd ones, are left out.

    Args:
        nodes: what a list says.
        path: of the list.
        gpu_types: from a name in the list, or "", to a type.

    Raises:
        InputError: no node has a GPU, or types are unknown.
    """
    nodes = each_once(nodes)
    with_gpu = [one for one in nodes.machines if one.gpus]
    if not with_gpu:
        if nodes.odd:
            first = nodes.odd[0]
            raise refuse(f"no node can be used: {first.name}: {first.why}", path, "correct the list", first.line)
        raise refuse("no node has a GPU", path, "import a list of nodes with GPUs")
    types = types_of(with_gpu, path, gpu_types)
    parts = _of_one_type(with_gpu, types)
    racks = in_racks(parts)
    try:
        cluster = Cluster.model_validate(_document(nodes, racks, types, path))
    except ValidationError as error:
        raise refuse(wording(error.errors()[0]["msg"]), path, "correct the list") from None
    return Imported(cluster, [*_notes(nodes, with_gpu), *types.notes(), *_two_types(with_gpu, types), *racks.notes])


def _of_one_type(machines: Sequence[Machine], types: Types) -> list[Machine]:
    """A node in a cluster file has one type of GPUs: of a node with several, each type is a node; first ones first."""
    parts = [list(_parts(machine, types)) for machine in machines]
    most = max(map(len, parts))
    return [part[i] for i in range(most) for part in parts if i < len(part)]


def _by_name(machine: Machine, types: Types) -> dict[str, int]:
    """GPUs of a node by the names of their types."""
    counts: dict[str, int] = {}
    for gpus in machine.gpus:
        name = types.names[gpus.gpu_type]
        counts[name] = counts.get(name, 0) + gpus.count
    return counts


def _parts(machine: Machine, types: Types) -> Iterator[Machine]:
    """Cores, sockets and memory go with the GPUs, in proportion and rounded down, but at least 1."""
    counts = _by_name(machine, types)
    total = sum(counts.values())
    for i, (name, count) in enumerate(counts.items()):

        def share(of: int | None, count: int = count) -> int | None:
            return None if of is None else max(of * count // total, 1)

        yield replace(
            machine, name=f"{machine.name}:{name}" if i else machine.name, gpus=(Gpus(count, name),),
            cpus=share(machine.cpus), sockets=share(machine.sockets), memory_mib=share(machine.memory_mib),
        )  # fmt: skip


def _document(nodes: NodeList, racks: Racks, types: Types, path: Path) -> dict[str, Any]:
    machines = [machine for rack in racks.racks for machine in rack]
    gpus = [machine.gpus[0] for machine in machines]
    kinds = {_kind(machine): machine for machine in machines}
    names = {kind: _kind_name(kind) for kind in kinds}

    def groups(some: Iterable[Machine]) -> list[dict[str, Any]]:
        runs = groupby(some, key=lambda one: (_kind(one), one.partitions))
        return [
            {"type": names[kind], "names": compress([one.name for one in run])}
            | ({"partitions": list(partitions)} if partitions else {})
            for (kind, partitions), run in runs
        ]

    several = len(racks.racks) > 1
    where = {"racks": [{"nodes": groups(rack)} for rack in racks.racks]} if several else {"nodes": groups(machines)}
    pods = {"racks_per_pod": racks.per_pod} if racks.per_pod else {}
    network = _nvlink(machines) if nodes.nvlink_racks and several else {}
    declared = types.declared()
    source = f"{nodes.what}; networks are not in it, the defaults of cluster-yaml stand in"
    return {
        "metadata": {
            "name": "imported" if str(path) == "-" else path.stem,
            "description": size_of(len(machines), sum(one.count for one in gpus), [one.gpu_type for one in gpus]),
            "source": source,
        },
        "spec": {
            **({"gpu_types": declared} if declared else {}),
            "node_types": {names[kind]: _node_type(one) for kind, one in kinds.items()},
            **where,
            **pods,
            **network,
        },
    }


def _kind(machine: Machine) -> Kind:
    gpus = machine.gpus[0]
    return gpus.gpu_type, gpus.count, machine.cpus, machine.sockets, machine.memory_mib


def _kind_name(kind: Kind) -> str:
    gpu_type, gpus, cpus, sockets, memory_mib = kind
    parts = [
        f"{gpu_type}x{gpus}",
        *(f"{n}{unit}" for n, unit in ((cpus, "c"), (sockets, "s"), (memory_mib, "m")) if n),
    ]
    return "-".join(parts)


def _node_type(machine: Machine) -> dict[str, Any]:
    gpus = machine.gpus[0]
    found: dict[str, Any] = {"gpus": gpus.count, "gpu_type": gpus.gpu_type}
    found |= {} if known_gpu(gpus.gpu_type) else {"interconnect": UNKNOWN_LINKS}
    found |= {"cpus": machine.cpus} if machine.cpus else {}
    found |= {"sockets": machine.sockets} if machine.sockets else {}
    return found | ({"memory": f"{machine.memory_mib} MiB"} if machine.memory_mib else {})


def _nvlink(machines: Sequence[Machine]) -> dict[str, Any]:
    """Within a rack that one NVLink network joins, GPUs reach each other as within a node; beyond it by their cards."""
    kinds = {(machine.gpus[0].gpu_type, machine.gpus[0].count) for machine in machines}
    model = known_gpu(next(iter(kinds))[0])
    if len(kinds) > 1 or model is None:
        return {}
    count = next(iter(kinds))[1]
    return {"network": {"rack": {"bandwidth": model.bandwidth}, "pod": {"bandwidth": f"{100 / count:g} Gb/s"}}}


def _notes(nodes: NodeList, with_gpu: Sequence[Machine]) -> Iterator[str]:
    left = len(nodes.machines) - len(with_gpu)
    if left:
        yield f"{left:,} of {len(nodes.machines) + len(nodes.odd):,} nodes have no GPU and were left out"
    reasons: dict[str, list[str]] = {}
    for odd in nodes.odd:
        reasons.setdefault(odd.why, []).append(odd.name + (f" (line {odd.line})" if odd.line else ""))
    for why, names in reasons.items():
        yield f"left out {some(names)}: {why}"
    noted: dict[str, list[str]] = {}
    for machine in with_gpu:
        if machine.note:
            noted.setdefault(machine.note, []).append(machine.name)
    for note, names in noted.items():
        yield f"{some(names)}: {note}"
    if down := [machine.name for machine in with_gpu if machine.down]:
        none = "no jobs at present (down, drained or cordoned) and"
        take = counted(len(down), f"node takes {none} is counted", f"nodes take {none} are counted")
        yield f"{take}: {some(down)}"
    yield from nodes.notes


def _two_types(machines: Sequence[Machine], types: Types) -> Iterator[str]:
    several = [one for one in machines if len(_by_name(one, types)) > 1]
    if several:
        first, *others = _by_name(several[0], types)
        yield (
            f"{some([one.name for one in several])} {has(several)} GPUs of several types: each is a node of its own, "
            f"such as {several[0].name} ({first}) and {several[0].name}:{others[0]}, with its share of cores and memory"
        )
