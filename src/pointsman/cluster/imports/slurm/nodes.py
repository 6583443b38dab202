"""Nodes as ``scontrol show node`` and ``sinfo --json`` print them, and as ``slurm.conf`` defines them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pointsman.cluster import hostlist
from pointsman.cluster.imports.machine import Machine, NodeList, OddNode, Reading, some, text_of, whole
from pointsman.cluster.imports.slurm.gres import gres
from pointsman.inputs.messages import quoted

NODES: Final = re.compile(r"^\s*NodeName=", re.MULTILINE | re.IGNORECASE)
CONF: Final = re.compile(
    r"^\s*(PartitionName|ClusterName|SlurmctldHost|ControlMachine|NodeSet|NodeName=DEFAULT|Include\s)",
    re.MULTILINE | re.IGNORECASE,
)
"""Lines that only ``slurm.conf`` has."""
DOWN: Final = ("DOWN", "DRAIN", "FAIL", "MAINT", "NOT_RESPONDING", "INVAL", "UNKNOWN", "FUTURE")
"""Words in the state of a node that takes no jobs."""
UNSAID: Final = "UNKNOWN"
"""What slurm.conf has of a node of which it is not said; where nodes are listed, it is one that has not answered."""
_SHOWN: Final = re.compile(r"\b(CPUTot|CPUAlloc|NodeHostName|CfgTRES)=")
_FIELD: Final = re.compile(r'(\w+)=("[^"]*"|\S*)')
_GOES_ON: Final = "\\"
_CPUS: Final = ("cputot", "cpus", "procs")

Fields = Mapping[str, str]
"""The fields of a node, by their names in lower case."""


def of_nodes(text: str) -> NodeList:
    """Reads ``scontrol show node`` or ``slurm.conf``: a ``NodeName=`` for each node, or for several of a kind."""
    shown = bool(_SHOWN.search(text)) and not CONF.search(text)
    reading, defaults = Reading(), {}
    for fields, line in _records(text, shown, "nodename"):
        if fields["nodename"].upper() == "DEFAULT":
            defaults |= fields
        else:
            whole_node = {**defaults, **fields}
            reading.take(lambda of=whole_node, at=line: _machines(of, at), fields["nodename"], line)
    if shown:
        return NodeList("scontrol show node", reading.machines, reading.odd)
    machines, notes = _in_partitions(reading.machines, text)
    return NodeList("slurm.conf", machines, reading.odd, notes)


def _records(text: str, shown: bool, key: str) -> Iterator[tuple[dict[str, str], int]]:
    """Fields of each record that begins with a key, and its line; of a field that is there twice the first counts."""
    if not shown:
        text = _plain(text)
    ends = r"(?=^NodeName=|\Z)" if shown else r"$"
    for record in re.finditer(rf"^[ \t]*{key}=(?s:.*?){ends}", text, re.MULTILINE | re.IGNORECASE):
        pairs = [(name.casefold(), value.strip('"')) for name, value in _FIELD.findall(record.group())]
        yield dict(reversed(pairs)), text.count("\n", 0, record.start()) + 1


def _plain(text: str) -> str:
    """``slurm.conf`` without comments, a line that goes on behind a backslash as one; as many lines as before."""
    found: list[str] = []
    more = 0
    for line in re.sub(r"(^|\s)#.*", r"\1", text).splitlines():
        part = line.rstrip()
        if more:
            found[-more] += f" {part.removesuffix(_GOES_ON)}"
            found.append("")
        else:
            found.append(part.removesuffix(_GOES_ON))
        more = (more or 0) + 1 if part.endswith(_GOES_ON) else 0
    return "\n".join(found)


def _machines(fields: Fields, line: int) -> list[Machine]:
    """The nodes of one record."""
    features = _split_list(fields.get("activefeatures") or fields.get("availablefeatures") or fields.get("feature", ""))
    found = gres(fields.get("gres", ""), features)
    partitions = tuple(_split_list(fields.get("partitions", "")))
    cpus, sockets, memory = _cpus(fields), _number(fields, "sockets"), _number(fields, "realmemory")
    state = fields.get("state", "")
    down = is_down(state) and ("cputot" in fields or state.upper() != UNSAID)
    return [
        Machine(name, found.gpus, cpus, sockets, memory, partitions, line=line, down=down, note=found.note)
        for name in hostlist.expand(fields["nodename"])
    ]


def _split_list(text: str) -> list[str]:
    return [part for part in re.split(r"[,&|]", text) if part and part != "(null)"]


def _number(fields: Fields, key: str) -> int | None:
    return whole(fields[key], key) or None if fields.get(key) else None


def _cpus(fields: Fields) -> int | None:
    said = next((key for key in _CPUS if key in fields), None)
    if said:
        return _number(fields, said)
    each = [_number(fields, key) for key in ("sockets", "corespersocket", "threadspercore")]
    if each[:2] == [None, None]:
        return None
    return (each[0] or 1) * (each[1] or 1) * (each[2] or 1)


def is_down(state: str) -> bool:
    """Whether Slurm gives no jobs to a node in this state, such as ``MIXED+DRAIN`` or ``idle*``."""
    words = re.sub(r"POWER\w*DOWN", "", state.upper())
    return words.endswith("*") or "*+" in words or any(word in words for word in DOWN)


def _in_partitions(machines: Sequence[Machine], text: str) -> tuple[list[Machine], list[str]]:
    """The nodes with the partitions that ``slurm.conf`` puts them into, and what of that cannot be read."""
    sets = dict(_node_sets(machines, text))
    partitions: dict[str, list[str]] = {machine.name: [] for machine in machines}
    odd, default = [], ""
    for fields, line in _records(text, False, "partitionname"):
        nodes = fields.get("nodes", default)
        if fields["partitionname"].upper() == "DEFAULT":
            default = nodes
            continue
        for name in _members(nodes, sets, partitions):
            if name in partitions:
                partitions[name].append(fields["partitionname"])
            else:
                odd.append(f"{name} (line {line})")
    included = re.findall(r"^[ \t]*Include\s+(\S+)", _plain(text), re.MULTILINE | re.IGNORECASE)
    notes = [f"'Include {name}' is not followed: import that file for its nodes" for name in included]
    notes += [f"partitions name nodes that are not in the file: {some(odd)}"] * bool(odd)
    return [replace(one, partitions=tuple(dict.fromkeys(partitions[one.name]))) for one in machines], notes


def _members(nodes: str, sets: Mapping[str, list[str]], known: Mapping[str, Any]) -> list[str]:
    if nodes.upper() == "ALL":
        return list(known)
    try:
        names = hostlist.expand(nodes) if nodes else []
    except ValueError:
        return [nodes]
    return [name for each in names for name in sets.get(each, [each])]


def _node_sets(machines: Sequence[Machine], text: str) -> Iterator[tuple[str, list[str]]]:
    """``NodeSet=name Nodes=...``, or by a feature."""
    features: dict[str, list[str]] = {}
    for fields, _ in _records(text, False, "nodename"):
        for feature in _split_list(fields.get("feature", "") or fields.get("features", "")):
            features.setdefault(feature, []).extend(_members(fields["nodename"], {}, {}))
    known = {machine.name for machine in machines}
    for fields, _ in _records(text, False, "nodeset"):
        named = _members(fields.get("nodes", ""), {}, {}) + features.get(fields.get("feature", ""), [])
        yield fields["nodeset"], [name for name in named if name in known]


def of_json(nodes: Sequence[Any]) -> NodeList:
    """Reads ``scontrol show node --json`` and what ``slurmrestd`` says of nodes."""
    reading = Reading()
    for one in nodes:
        name = one.get("name", "a node without a name") if isinstance(one, dict) else quoted(one)
        reading.take(lambda of=one: _of_object(of), str(name))
    return NodeList("scontrol show node --json", reading.machines, reading.odd)


def _of_object(one: Mapping[str, Any]) -> Machine:
    features = one.get("active_features") or one.get("features") or []
    found = gres(text_of(one["gres"]), _split_list(features) if isinstance(features, str) else list(map(str, features)))
    state = [*_words(one.get("state")), *_words(one.get("state_flags"))]
    cpus, sockets, memory = (_figure(one.get(key)) for key in ("cpus", "sockets", "real_memory"))
    partitions = tuple(map(text_of, _words(one.get("partitions"))))
    down = is_down("+".join(map(str, state)))
    return Machine(text_of(one["name"]), found.gpus, cpus, sockets, memory, partitions, down=down, note=found.note)


def _words(value: Any) -> list[Any]:
    """A list, however it is written."""
    if isinstance(value, str):
        return _split_list(value)
    return list(value or [])


def _figure(value: Any) -> int | None:
    """A number: plain, ``{"set": true, "number": 64}``, or ``{"minimum": 64, "maximum": 64}``."""
    if isinstance(value, dict):
        value = value.get("number", value.get("maximum")) if value.get("set", True) else None
    return None if value is None else int(value) or None


def of_sinfo_json(groups: Sequence[Any]) -> NodeList:
    """Reads ``sinfo --json``: nodes of one kind and partition together."""
    reading = Reading()
    for one in groups:
        reading.take(lambda of=one: _of_group(of), quoted(one, 40))
    return NodeList("sinfo --json", reading.machines, reading.odd)


def _of_group(one: Mapping[str, Any]) -> list[Machine]:
    names = list(map(text_of, one["nodes"]["nodes"]))
    total = one["gres"]["total"] if isinstance(one["gres"], dict) else one["gres"]
    found = gres(text_of(total), _split_list(str((one.get("features") or {}).get("active", ""))))
    cpus, sockets, memory = (_figure(one.get(key)) for key in ("cpus", "sockets", "memory"))
    partition = (one.get("partition") or {}).get("name")
    down = is_down("+".join(map(str, _words((one.get("node") or {}).get("state")))))
    if not names:
        raise OddNode("no names of nodes (print them by 'scontrol show node --json')")
    return [
        Machine(
            name, found.gpus, cpus, sockets, memory, (text_of(partition),) if partition else (), down=down,
            note=found.note,
        )
        for name in names
    ]  # fmt: skip
