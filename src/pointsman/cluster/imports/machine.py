"""Nodes as some list has them, and the cluster that they make."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pointsman.cluster.cluster import Cluster
from pointsman.cluster.gpu_catalogue import GPU_MODELS
from pointsman.cluster.hostlist import compress
from pointsman.errors import InputError
from pointsman.inputs.messages import quoted, wording


@dataclass(frozen=True)
class Machine:
    """One node."""

    name: str
    gpus: int
    gpu_type: str = ""
    """As the list calls it; empty: it does not say."""
    cpus: int | None = None
    sockets: int | None = None
    memory_mib: int | None = None
    partitions: tuple[str, ...] = ()
    rack: str = ""
    line: int | None = None
    """Of the list, where it has lines."""


@dataclass(frozen=True)
class Imported:
    """The cluster, and what people should know of how it was made."""

    cluster: Cluster
    notes: Sequence[str]


def cluster_of(machines: Sequence[Machine], path: Path, what: str, gpu_types: Mapping[str, str]) -> Imported:
    """The cluster of these, nodes in their order.

    Args:
        machines: all nodes; those without GPUs are left out.
        path: of the list.
        what: kind of list, for the cluster's source.
        gpu_types: from a name in the list, or "", to one that we know.

    Raises:
        InputError: no node has a GPU, a type is unknown, or nodes contradict each other.
    """
    with_gpu = [one for one in machines if one.gpus]
    if not with_gpu:
        raise InputError("no node has a GPU", path=path, fix="import a list of nodes with GPUs")
    known = {one.gpu_type: _type_of(one, path, gpu_types) for one in with_gpu}
    racks = {one.rack for one in with_gpu}
    if "" in racks and len(racks) > 1:
        one = next(one for one in with_gpu if not one.rack)
        fix = "give it one, or no node"
        raise InputError(f"{one.name} has no rack, and others have", path=path, line=one.line, fix=fix)
    try:
        cluster = Cluster.model_validate(_document(with_gpu, known, path, what))
    except ValidationError as error:
        raise InputError(wording(error.errors()[0]["msg"]), path=path, fix="correct the list") from None
    left = len(machines) - len(with_gpu)
    notes = [f"{left:,} of {len(machines):,} nodes have no GPU and were left out"] * (left > 0)
    notes += [f"{raw} is taken for {name}" for raw, name in known.items() if raw.casefold() not in ("", name)]
    notes += ["racks are not in the list: all nodes stand in one"] * (racks == {""})
    return Imported(cluster, notes)


def _type_of(machine: Machine, path: Path, gpu_types: Mapping[str, str]) -> str:
    found = gpu_types.get(machine.gpu_type) or known_type(machine.gpu_type)
    if found is None:
        kind = (
            f"an unknown type {quoted(machine.gpu_type)}" if machine.gpu_type else "a type that the list does not say"
        )
        given = f"{machine.gpu_type}=NAME" if machine.gpu_type else "NAME"
        fix = f"say which it is by --gpu-type {given}, NAME one of {', '.join(GPU_MODELS)}"
        raise InputError(f"{machine.name} has GPUs of {kind}", path=path, line=machine.line, fix=fix)
    return found


def known_type(text: str) -> str | None:
    """The catalogue's name of a GPU type, whatever is written around it: ``NVIDIA-A100-SXM4-80GB`` is ``a100``."""
    words = re.findall(r"[a-z0-9]+", text.casefold())
    for length in (3, 2, 1):
        for begin in range(len(words) - length + 1):
            name = "".join(words[begin : begin + length])
            if name in GPU_MODELS:
                return name
    return None


def _document(machines: Sequence[Machine], known: Mapping[str, str], path: Path, what: str) -> dict[str, Any]:
    types = {_kind(one): _node_type(one, known[one.gpu_type]) for one in machines}
    names = {kind: _named(kind, known) for kind in types}

    def groups(some: Iterable[Machine]) -> list[dict[str, Any]]:
        runs = groupby(some, key=lambda one: (_kind(one), one.partitions))
        return [
            {"type": names[kind], "names": compress([one.name for one in run])}
            | ({"partitions": list(partitions)} if partitions else {})
            for (kind, partitions), run in runs
        ]

    racks = list(dict.fromkeys(one.rack for one in machines))
    nodes: dict[str, Any] = {"nodes": groups(machines)}
    if racks != [""]:
        nodes = {"racks": [{"nodes": groups(one for one in machines if one.rack == rack)} for rack in racks]}
    source = f"{what}; networks are not in it, the defaults of cluster-yaml stand in"
    name = "imported" if str(path) == "-" else path.stem
    return {
        "metadata": {"name": name, "description": f"{len(machines):,} nodes with GPUs", "source": source},
        "spec": {"node_types": {names[kind]: one for kind, one in types.items()}, **nodes},
    }


def _kind(machine: Machine) -> tuple[str, int, int | None, int | None, int | None]:
    return machine.gpu_type, machine.gpus, machine.cpus, machine.sockets, machine.memory_mib


def _named(kind: tuple[str, int, int | None, int | None, int | None], known: Mapping[str, str]) -> str:
    gpu_type, gpus, cpus, sockets, memory_mib = kind
    parts = [
        f"{known[gpu_type]}x{gpus}",
        *(f"{n}{unit}" for n, unit in ((cpus, "c"), (sockets, "s"), (memory_mib, "m")) if n),
    ]
    return "-".join(parts)


def _node_type(machine: Machine, gpu_type: str) -> dict[str, Any]:
    found: dict[str, Any] = {"gpus": machine.gpus, "gpu_type": gpu_type}
    found |= {"cpus": machine.cpus} if machine.cpus else {}
    found |= {"sockets": machine.sockets} if machine.sockets else {}
    return found | ({"memory": f"{machine.memory_mib} MiB"} if machine.memory_mib else {})


def whole(text: str, what: str, path: Path, line: int | None, most: int = 10**9) -> int:
    """A whole number from 0 to `most`.

    Raises:
        InputError: it is something else.
    """
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) > most:
        cause = f"{what} is {quoted(text)}, not a whole number from 0 to {most:,}"
        raise InputError(cause, path=path, line=line, fix="correct it, or leave the node out")
    return int(text)


def text_of(value: Any) -> str:
    """A name of JSON. TypeError: it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value
