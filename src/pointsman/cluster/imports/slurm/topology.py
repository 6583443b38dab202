"""Racks and pods of nodes as Slurm knows them: ``topology.conf``, ``topology.yaml`` and ``scontrol show topo``."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pointsman.cluster import hostlist
from pointsman.cluster.imports.machine import NodeList, refuse, some
from pointsman.errors import InputError
from pointsman.inputs.messages import counted

LINE: Final = re.compile(r"^\s*(SwitchName|BlockName)=", re.MULTILINE | re.IGNORECASE)
_YAML: Final = re.compile(r"^\s*(- )?(tree|block|switches|blocks):", re.MULTILINE)
_FIELD: Final = re.compile(r"(\w+)=(\S+)")


@dataclass
class Topology:
    """Switches of nodes, and what is above them."""

    switches: dict[str, str] = field(default_factory=dict)
    """The switch, or block, of each node: the nearest."""
    above: dict[str, str] = field(default_factory=dict)
    """The switch above each switch."""
    twice: list[str] = field(default_factory=list)
    """Nodes with several switches, of which the first counts."""


def is_topology(text: str) -> bool:
    """Whether it says which switches join nodes."""
    return bool(LINE.search(text) or (_YAML.search(text) and re.search(r"^\s*- (switch|block):", text, re.MULTILINE)))


def read_topology(text: str, path: Path) -> Topology:
    """Reads the topology of the tree plug-in or the block plug-in.

    Raises:
        InputError: it names no switches of nodes, or names that are none.
    """
    found = Topology()
    if not is_topology(text):
        raise refuse("no topology", path, "give topology.conf or what 'scontrol show topo' prints")
    try:
        for record in _of_yaml(text) if not LINE.search(text) else _of_lines(text):
            _add(found, record)
    except ValueError as error:
        raise refuse(f"no topology: {error}", path, "correct the file") from None
    if not found.switches:
        raise refuse("a topology without nodes", path, "give topology.conf or what 'scontrol show topo' prints")
    return found


def _of_lines(text: str) -> Iterator[dict[str, str]]:
    for line in re.sub(r"\\[ \t]*\n", " ", text).splitlines():
        if LINE.match(line):
            yield {key.casefold(): value for key, value in _FIELD.findall(line.split("#")[0])}


def _of_yaml(text: str) -> Iterator[dict[str, str]]:
    import yaml

    try:
        yield from _records(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("not valid YAML") from error


def _records(value: Any) -> Iterator[dict[str, str]]:
    """Switches and blocks, wherever they are in the file."""
    if isinstance(value, list):
        for each in value:
            yield from _records(each)
    elif isinstance(value, Mapping):
        names = {"switch": "switchname", "block": "blockname", "children": "switches", "nodes": "nodes"}
        yield {names[key]: each for key, each in value.items() if key in names and isinstance(each, str)}
        for each in value.values():
            yield from _records(each)


def _add(found: Topology, record: Mapping[str, str]) -> None:
    """Adds a switch. Slurm names the nodes of a switch above others as well: they stand at the switch below."""
    name = record.get("switchname") or record.get("blockname")
    if name is None:
        return
    for below in hostlist.expand(record["switches"]) if "switches" in record else ():
        found.above.setdefault(below, name)
    if "nodes" in record and "switches" not in record:
        for node in hostlist.expand(record["nodes"]):
            if found.switches.setdefault(node, name) != name:
                found.twice.append(node)


def place_in_topology(nodes: NodeList, topology: Topology) -> NodeList:
    """The nodes with the switch as rack and the one above it as pod, in the order of the topology."""
    place = {name: i for i, name in enumerate(topology.switches)}
    machines = sorted(nodes.machines, key=lambda one: place.get(one.name, len(place)))
    machines = [replace(one, rack=_rack(one.name, topology), pod=_pod(one.name, topology)) for one in machines]
    names = {machine.name for machine in machines}
    return replace(nodes, machines=machines, notes=[*nodes.notes, *_notes(names, topology)], nvlink_racks=False)


def _notes(names: set[str], topology: Topology) -> Iterator[str]:
    unknown = [name for name in topology.switches if name not in names]
    if unknown:
        are = counted(len(unknown), "node of the topology is", "nodes of the topology are")
        yield f"{are} not in the list: {some(unknown)}"
    if topology.twice:
        yield f"of several switches, the first counts: {some(list(dict.fromkeys(topology.twice)))}"
    if {topology.above.get(switch) for switch in topology.above.values()} - {None} and _deep(topology):
        yield "switches above the second level are left out: a cluster file has racks and pods"


def _deep(topology: Topology) -> bool:
    """Whether there are several switches above those above the nodes' own."""
    second = {topology.above.get(switch) for switch in topology.switches.values()} - {None}
    return len({topology.above.get(switch or "") for switch in second}) > 1


def _rack(node: str, topology: Topology) -> str:
    return topology.switches.get(node, "")


def _pod(node: str, topology: Topology) -> str:
    return topology.above.get(_rack(node, topology), "")


def alone(path: Path) -> InputError:
    """The error for a topology without a list of nodes."""
    fix = (
        "give the nodes as well: 'scontrol show node > nodes.txt', then "
        f"'pointsman cluster import nodes.txt --topology {path} -o cluster.yaml'"
    )
    return refuse("a topology says which nodes share a switch, and not which GPUs they have", path, fix)
