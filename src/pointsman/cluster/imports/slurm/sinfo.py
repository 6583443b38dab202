"""Nodes as ``sinfo`` prints them, in any order of its columns: a line for each node and partition."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pointsman.cluster import hostlist
from pointsman.cluster.imports.machine import Machine, NodeList, OddNode, Reading, whole
from pointsman.cluster.imports.slurm.gres import gres
from pointsman.cluster.imports.slurm.nodes import is_down
from pointsman.inputs.messages import counted

COLUMNS: Final = 'sinfo -N -o "%N %P %G %c %X %m"'
_GRES: Final = r"\(null\)|N/A|[\w./-]+(?::[\w./+-]+)+(?:\([^)]*\))?(?:,[\w./-]+(?::[\w./+-]+)+(?:\([^)]*\))?)*"
_RESOURCE: Final = r"[A-Za-z][\w./:+-]*:[0-9]+[KMGT]?(?:\([^)]*\))?"
_NAMES: Final = r"[\w.-]+(?:\[[0-9,-]+\][\w.-]*)?(?:,[\w.-]+(?:\[[0-9,-]+\][\w.-]*)?)*?"
_CELL: Final = {"NODELIST": _NAMES, "PARTITION": r"[\w.-]+\*?", "GRES": _GRES, "CPUS": r"[0-9]+\+?",
    "MEMORY": r"[0-9]+\+?", "SOCKETS": r"[0-9]+\+?"}  # fmt: skip
"""What a cell of a column is like; of others, a word."""
_WORD: Final = r"[^\s,|;]*(?:\([^)]*\))?"
_ALSO: Final = {"HOSTNAMES": "NODELIST", "NODEHOST": "NODELIST", "NODE": "NODELIST", "NODES": "COUNT",
    "ACTIVE_FEATURES": "FEATURES", "AVAIL_FEATURES": "FEATURES", "CPUS(A/I/O/T)": "CPUS(A/I/O/T)"}  # fmt: skip
_STATES: Final = re.compile(
    r"(idle|mix|mixed|alloc|allocated|comp|completing|down|drain|draining|drained|drng|fail|failing|maint|plnd|planned|"
    r"resv|reserved|unk|unknown|boot|pow_up|pow_dn|inval|future|futr|up|inact)[*~#$%@!^-]*",
    re.IGNORECASE,
)
LARGE: Final = 1000
"""A number from here on is memory in MiB; no node has as many cores or sockets."""


def is_header(line: str) -> bool:
    """Whether it names columns of sinfo."""
    words = re.split(r"[\s,|;]+", line.strip())
    return bool({"NODELIST", "HOSTNAMES"} & {*words})


def is_row(line: str) -> bool:
    """Whether it looks like a line of sinfo without its header: a word of resources, and another."""
    cells = _words(line)
    return len(cells) > 1 and any(cell.startswith("gpu:") and re.fullmatch(_GRES, cell) for cell in cells)


def of_sinfo(text: str) -> NodeList:
    """Reads ``sinfo -N -o "%N %P %G %c %X %m"`` and the like, with commas or bars, and without a header.

    Raises:
        OddNode: there is no column of names, or none of resources.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    notes = []
    if is_header(lines[0][1]):
        columns = _names(lines.pop(0)[1])
    else:
        columns = _guess_columns([line for _, line in lines])
        notes.append(f"the list has no header; its columns are taken for {', '.join(columns)}")
    if missing := [name for name in ("NODELIST", "GRES") if name not in columns]:
        raise OddNode(f"sinfo without the column {missing[0]}", line=1)
    reading = Reading()
    for number, line in lines:
        if not is_header(line):
            reading.take(lambda row=line, at=number: _row(row, columns, at), line.split()[0][:40], number)
    return NodeList("sinfo", reading.machines, reading.odd, notes)


def _names(header: str) -> list[str]:
    words = [word for word in re.split(r"\s*[,|;]\s*|\s+", header) if word]
    return [_ALSO.get(word.upper(), word.upper()) for word in words]


def _row(line: str, columns: Sequence[str], number: int) -> list[Machine]:
    cells = dict(zip(columns, _cells(line, columns), strict=True))
    found = gres(cells["GRES"], re.split(r"[,&|]", cells.get("FEATURES", "")))
    partition = cells.get("PARTITION", "").rstrip("*")
    cpus, sockets, memory = (_number(cells, key) for key in ("CPUS", "SOCKETS", "MEMORY"))
    down = is_down(cells.get("STATE", ""))
    return [
        Machine(
            name, found.gpus, cpus, sockets, memory, (partition,) if partition else (), line=number, down=down,
            note=found.note,
        )
        for name in hostlist.expand(cells["NODELIST"])
    ]  # fmt: skip


def _cells(line: str, columns: Sequence[str]) -> list[str]:
    """Cut where the columns say: names and resources have commas of their own."""
    plain = line.split()
    if len(plain) == len(columns):
        return plain
    pattern = r"\s*[,|;\s]\s*".join(f"({_CELL.get(name, _WORD)})" for name in columns)
    found = re.fullmatch(pattern, line)
    if found is None:
        raise OddNode(f"{counted(len(plain), 'cell')} instead of {len(columns)}")
    return list(found.groups())


def _number(cells: Mapping[str, str], key: str) -> int | None:
    if key in cells:
        return whole(cells[key].rstrip("+"), key) or None
    if key == "CPUS" and "CPUS(A/I/O/T)" in cells:
        return whole(cells["CPUS(A/I/O/T)"].split("/")[-1], key) or None
    if key == "SOCKETS" and "S:C:T" in cells:
        return whole(cells["S:C:T"].split(":")[0], key) or None
    return None


def _guess_columns(lines: Sequence[str]) -> list[str]:
    """What the columns are, by their cells: the larger numbers are memory, and the others cores before sockets."""
    rows = [_words(line) for line in lines]
    width = max(map(len, rows), key=[len(row) for row in rows].count)
    columns = list(zip(*(row for row in rows if len(row) == width), strict=True))
    kinds = [_kind(column) for column in columns]
    words = [i for i, kind in enumerate(kinds) if kind == "WORD"]
    names = max(words, key=lambda i: _like_names(columns[i]), default=None)
    others = [i for i in words if i != names]
    partition = next((i for i in others if any("*" in cell for cell in columns[i])), next(iter(others), None))
    named = {names: "NODELIST", partition: "PARTITION"}
    counts = [] if names is None else list(map(_nodes, columns[names]))
    numbers = [i for i, kind in enumerate(kinds) if kind == "SMALL"]
    if max(counts, default=1) > 1:
        named |= {i: "COUNT" for i in numbers if list(map(_of, columns[i])) == counts}
    numbers = [i for i in numbers if i not in named]
    named |= {i: "SOCKETS" for i in numbers}
    named[max(numbers, key=lambda i: max(map(_of, columns[i])), default=None)] = "CPUS"
    return [named.get(i, kind) for i, kind in enumerate(kinds)]


def _words(line: str) -> list[str]:
    """Cells of a line whose columns are not known: resources that follow each other are of one cell."""
    cells: list[str] = []
    for cell in filter(None, re.split(r"[\s|;]+|,(?![^(\[]*[)\]])", line.strip())):
        if cells and all(re.fullmatch(_RESOURCE, one) for one in (cell, cells[-1].split(",")[-1])):
            cells[-1] += f",{cell}"
        else:
            cells.append(cell)
    return cells


def _like_names(column: Sequence[str]) -> tuple[bool, bool, int]:
    """More like names of nodes than of partitions: no star for the default one, numbered, seldom the same twice."""
    return (
        not any("*" in cell for cell in column), any(re.search("[0-9]", cell) for cell in column), len({*column})
    )  # fmt: skip


def _kind(column: Sequence[str]) -> str:
    if all(re.fullmatch(r"[0-9]+\+?", cell) for cell in column):
        return "MEMORY" if min(map(_of, column)) >= LARGE else "SMALL"
    if any(cell.startswith(("gpu:", "(null)")) for cell in column):
        return "GRES"
    for kind, pattern in (("AVAIL", r"up|inact"), ("TIMELIMIT", r"infinite|[0-9-]*[0-9]+:[0-9:]+"), ("STATE", _STATES)):
        if all(re.fullmatch(pattern, cell) for cell in column):
            return kind
    return "WORD"


def _nodes(cell: str) -> int:
    """How many it names; 0: it is no hostlist."""
    try:
        return len(hostlist.expand(cell))
    except ValueError:
        return 0


def _of(cell: str) -> int:
    return int(cell.rstrip("+"))
