"""Nodes as people list them: a CSV with ``name,gpus`` and what else is known, such as ``gpu_type``."""

import csv
from pathlib import Path
from typing import Final

from pointsman.cluster.imports.machine import Machine, whole
from pointsman.errors import InputError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.types import MAX_NODE_GPUS

REQUIRED: Final = ("name", "gpus")
COLUMNS: Final = (*REQUIRED, "gpu_type", "cpus", "sockets", "memory_gib", "rack", "partitions")


def of_inventory(text: str, path: Path) -> list[Machine]:
    """A node a row; several partitions have ``|`` between them.

    Raises:
        InputError: a column is unknown or missing, or a cell makes no sense.
    """
    rows = csv.DictReader(text.splitlines())
    columns = rows.fieldnames or []
    for column in columns:
        if column not in COLUMNS:
            fix = did_you_mean(column, COLUMNS)
            raise InputError(f"unknown column {column!r:.60}", path=path, line=1, fix=fix)
    if missing := [name for name in REQUIRED if name not in columns]:
        raise InputError(
            f"the column {missing[0]!r} is missing", path=path, line=1, fix=f"begin with {','.join(REQUIRED)},gpu_type"
        )
    return [_machine(row, path, rows.line_num) for row in rows]


def _machine(row: dict[str, str], path: Path, line: int) -> Machine:
    if None in row or None in row.values() or not row["name"].strip():
        raise InputError(
            "a row with more or fewer cells than the header, or without a name",
            path=path,
            line=line,
            fix="complete the row",
        )
    cells = {name: cell.strip() for name, cell in row.items()}

    def number(name: str, most: int = 10**9) -> int | None:
        return whole(cells[name], name, path, line, most) if cells.get(name) else None

    gib = number("memory_gib", 10**6)
    partitions = tuple(part for part in cells.get("partitions", "").split("|") if part)
    return Machine(
        cells["name"], number("gpus", MAX_NODE_GPUS) or 0, cells.get("gpu_type", ""), number("cpus"), number("sockets"),
        gib and 1024 * gib, partitions, cells.get("rack", ""), line,
    )  # fmt: skip
