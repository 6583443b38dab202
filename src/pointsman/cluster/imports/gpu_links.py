"""CPU sockets of a node by the links between its GPUs: ``nvidia-smi topo -m``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pointsman.cluster.imports.machine import Gpus, Machine, NodeList, refuse
from pointsman.inputs.messages import counted

HEADER: Final = re.compile(r"^\s*(\x1b\[[0-9;]*m)?\s*GPU0\b.*", re.MULTILINE)
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_ACROSS: Final = "SYS"
"""The link of two GPUs of different sockets."""
_WITHIN: Final = ("PIX", "PXB", "PHB", "NODE", "PSB")
_NUMA: Final = ("CPU Affinity", "NUMA Affinity")


class GpuLinks(NamedTuple):
    """What one node is like."""

    gpus: int
    sockets: list[int]
    """The socket of each GPU, counted from 0 in the order of the GPUs."""


def is_gpu_links(text: str) -> bool:
    """Whether it is what ``nvidia-smi topo -m`` prints."""
    return bool(HEADER.search(_COLOUR.sub("", text))) and re.search(r"\bX\b", text) is not None


def read_gpu_links(text: str, path: Path) -> GpuLinks:
    """GPUs and their sockets.

    Raises:
        InputError: no such table.
    """
    rows = [re.split(r"\t+ *| {2,}", line.strip()) for line in _COLOUR.sub("", text).splitlines() if line.strip()]
    begin = next((i for i, row in enumerate(rows) if row[0] == "GPU0"), None)
    if begin is None:
        raise refuse("no table of links between GPUs", path, "give what 'nvidia-smi topo -m' prints")
    header = rows[begin]
    table = {row[0]: dict(zip(header, row[1:], strict=False)) for row in rows[begin + 1 :] if row[0] in header}
    gpus = sorted((name for name in table if re.fullmatch("GPU[0-9]+", name)), key=lambda name: int(name[3:]))
    if not gpus:
        raise refuse("no table of links between GPUs", path, "give what 'nvidia-smi topo -m' prints")
    return GpuLinks(len(gpus), _sockets(gpus, table))


def _sockets(gpus: Sequence[str], table: Mapping[str, Mapping[str, str]]) -> list[int]:
    """GPUs are on one socket unless a link or their cores say otherwise; NVLink, which passes sockets by, does not."""
    found: list[int] = []
    first: list[str] = []
    for gpu in gpus:
        alike = (i for i, other in enumerate(first) if not _apart(gpu, other, table))
        socket = next(alike, len(first))
        if socket == len(first):
            first.append(gpu)
        found.append(socket)
    return found


def _apart(one: str, other: str, table: Mapping[str, Mapping[str, str]]) -> bool:
    link = table[one].get(other, "").strip()
    if link == _ACROSS or link in _WITHIN:
        return link == _ACROSS
    mine, theirs = ([table[gpu].get(key, "").strip() for key in _NUMA] for gpu in (one, other))
    return any(a != b and "N/A" not in (a, b) for a, b in zip(mine, theirs, strict=True))


def with_sockets(nodes: NodeList, links: GpuLinks) -> NodeList:
    """The nodes that have as many GPUs, with the sockets of this one."""
    sockets = len(set(links.sockets))
    like = [sum(gpus.count for gpus in machine.gpus) == links.gpus for machine in nodes.machines]
    machines = [replace(one, sockets=sockets) if yes else one for one, yes in zip(nodes.machines, like, strict=True)]
    others = sum(bool(one.gpus) and not yes for one, yes in zip(nodes.machines, like, strict=True))
    of = f"of {counted(links.gpus, 'GPU')}"
    alike = counted(sum(like), f"node {of} has", f"nodes {of} have")
    notes = [f"{alike} {counted(sockets, 'socket')}, by the links between GPUs"]
    unlike = counted(others, "node has", "nodes have")
    notes += [f"{unlike} another number of GPUs, so nothing is known of sockets there"] * (others > 0)
    if not _equal_parts(links.sockets):
        notes.append("the sockets do not share the GPUs equally and in order, as those of a cluster file do")
    return replace(nodes, machines=machines, notes=[*nodes.notes, *notes])


def _equal_parts(sockets: Sequence[int]) -> bool:
    return list(sockets) == sorted(sockets) and len({sockets.count(one) for one in sockets}) == 1


def the_node(links: GpuLinks, path: Path) -> NodeList:
    """The one node that the table is of; it does not say the type of its GPUs."""
    name = "node" if str(path) == "-" else re.sub(r"[^\w.-]", "-", path.stem) or "node"
    nodes = NodeList("nvidia-smi topo -m", [Machine(name, (Gpus(links.gpus),))])
    return with_sockets(nodes, links)
