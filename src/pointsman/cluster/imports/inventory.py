"""Nodes as people and publishers list them: a table with names and GPUs, and what else is known."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from pointsman.cluster.imports.machine import Gpus, Machine, NodeList, OddNode, Reading, refuse, whole, within
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.types import MAX_NODE_GPUS

REQUIRED: Final = ("name", "gpus")
COLUMNS: Final = (*REQUIRED, "gpu_type", "cpus", "sockets", "memory_gib", "rack", "pod", "partitions")
_ALSO: Final = {
    "name": "node node_name nodename host hostname host_name machine machine_id node_id server server_id sn",
    "gpus": "gpu gpu_count num_gpus num_gpu gpu_num n_gpus ngpus gpu_capacity gpu_capacity_num cap_gpu gpu_cap",
    "gpu_type": "gpu_model model gpu_name gpu_spec gpu_spec_public gpu_product accelerator card card_type",
    "cpus": "cpu cpu_num cpu_count num_cpus cores cpu_cores cap_cpu cpu_capacity_cores vcpus",
    "sockets": "cpu_sockets",
    "memory_gib": "memory_gb mem_gib mem_gb cap_mem",
    "rack": "rack_id asw asw_id switch tor leaf",
    "pod": "pod_id psw psw_id spine block",
    "partitions": "partition queue pool",
}
"""Other names of the columns, as publishers have them."""
_NAMES: Final = {other: name for name, others in _ALSO.items() for other in (name, *others.split())}


def is_inventory(first: str) -> bool:
    """Whether a table with this first line has nodes and their GPUs."""
    return set(REQUIRED) <= {_NAMES.get(_plain(column), "") for column in re.split(r"[,;\t]", first)}


def has_a_column(first: str) -> bool:
    """Whether it looks like the header of such a table, of which something is missing."""
    return "gpus" in [_NAMES.get(_plain(column), "") for column in re.split(r"[,;\t]", first)]


def _plain(column: str) -> str:
    return re.sub(r"[\s-]+", "_", column.strip().strip('"').casefold())


def of_inventory(text: str, path: Path) -> NodeList:
    """A node a row; several partitions have ``|`` between them. Two rows of one node are GPUs of two types.

    Raises:
        InputError: a column is missing, or there twice, or looks like a known one that is misspelled.
    """
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(text.splitlines(), delimiter=delimiter)
    columns, notes = _columns(next(rows), path)
    reading = Reading()
    for row in rows:
        if any(cell.strip() for cell in row):
            name = row[columns.index("name")] if len(row) == len(columns) else f"line {rows.line_num}"
            reading.take(lambda cells=row, at=rows.line_num: _machine(cells, columns, at), name, rows.line_num)
    return NodeList("an inventory", _of_two_types(reading.machines), reading.odd, notes)


def _columns(header: Sequence[str], path: Path) -> tuple[list[str], list[str]]:
    """Our names of the columns, "" of those that are not read, and a note on these."""
    columns = [_NAMES.get(_plain(column), "") for column in header]
    unread = [column.strip() for column, ours in zip(header, columns, strict=True) if not ours]
    for column in unread:
        if get_close_matches(_plain(column), COLUMNS, 1, 0.7):
            raise refuse(f"unknown column {column!r:.60}", path, did_you_mean(column, COLUMNS), 1)
    for name in REQUIRED:
        if name not in columns:
            raise refuse(f"the column {name!r} is missing", path, f"begin with {','.join(REQUIRED)},gpu_type", 1)
    for name in COLUMNS:
        if columns.count(name) > 1:
            raise refuse(f"{columns.count(name)} columns are the {name!r}", path, "leave out all but one", 1)
    return columns, [f"columns that are not read: {', '.join(unread)}"] * bool(unread)


def _machine(row: Sequence[str], columns: Sequence[str], line: int) -> Machine:
    if len(row) != len(columns):
        raise OddNode("a row with more or fewer cells than the header")
    cells = {name: cell.strip() for name, cell in zip(columns, row, strict=True) if name}
    if not cells["name"]:
        raise OddNode("a row without a name")
    gpus = whole(cells["gpus"], "gpus", MAX_NODE_GPUS) if cells["gpus"] else 0
    gib = _number(cells, "memory_gib", 10**6)
    partitions = tuple(part for part in cells.get("partitions", "").split("|") if part)
    return Machine(
        cells["name"], within([Gpus(gpus, cells.get("gpu_type", ""))]), _number(cells, "cpus"),
        _number(cells, "sockets"), gib and 1024 * gib, partitions, cells.get("rack", ""), cells.get("pod", ""), line,
    )  # fmt: skip


def _number(cells: Mapping[str, str], name: str, most: int = 10**9) -> int | None:
    return whole(cells[name], name, most) or None if cells.get(name) else None


def _of_two_types(machines: Sequence[Machine]) -> list[Machine]:
    """Rows of one node with GPUs of different types as one node with both."""
    found: dict[str, Machine] = {}
    again = []
    for machine in machines:
        before = found.setdefault(machine.name, machine)
        types = {gpus.gpu_type.casefold() for gpus in before.gpus}
        if before is not machine and machine.gpus and machine.gpus[0].gpu_type.casefold() not in types:
            found[machine.name] = replace(before, gpus=before.gpus + machine.gpus)
        elif before is not machine:
            again.append(machine)
    return [*found.values(), *again]
