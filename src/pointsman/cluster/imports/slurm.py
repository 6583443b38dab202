"""Nodes as Slurm says them: ``scontrol show node``, also with ``--json``, and ``sinfo -N -o "%N %P %G %c %X %m"``."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pointsman.cluster import hostlist
from pointsman.cluster.imports.machine import Machine, text_of, whole
from pointsman.errors import InputError
from pointsman.types import MAX_NODE_GPUS

SCONTROL: Final = "NodeName="
SINFO: Final = "NODELIST"
_COLUMNS: Final = 'sinfo -N -o "%N %P %G %c %X %m"'


def of_scontrol(text: str, path: Path) -> list[Machine]:
    """Of ``scontrol show node``, a block for each node; also of ``-o``, a line for each.

    Raises:
        InputError: a number is none, or a node has two types of GPUs.
    """
    found = []
    for block in re.finditer(r"^NodeName=(?s:.*?)(?=^NodeName=|\Z)", text, re.MULTILINE):
        line = text.count("\n", 0, block.start()) + 1
        fields = dict(re.findall(r"(\w+)=(\S*)", block.group()))
        found.append(_machine(fields, path, line))
    return found


def _machine(fields: Mapping[str, str], path: Path, line: int) -> Machine:
    name, gres = fields["NodeName"], fields.get("Gres", "")
    gpus, gpu_type = _gpus_of("" if gres == "(null)" else gres, name, path, line)
    numbers = {key: whole(fields[key], f"{key} of {name}", path, line) for key in _NUMBERS if key in fields}
    return Machine(
        name, gpus, gpu_type, numbers.get("CPUTot"), numbers.get("Sockets"), numbers.get("RealMemory"),
        tuple(part for part in fields.get("Partitions", "").split(",") if part), line=line,
    )  # fmt: skip


_NUMBERS: Final = ("CPUTot", "Sockets", "RealMemory")


def of_scontrol_json(nodes: list[Any], path: Path) -> list[Machine]:
    """Of ``scontrol show node --json``.

    Raises:
        InputError: a node lacks what it must have.
    """
    try:
        return [
            Machine(
                text_of(one["name"]), *_gpus_of(one["gres"], one["name"], path, None), int(one["cpus"]),
                int(one["sockets"]), int(one["real_memory"]), tuple(map(text_of, one["partitions"])),
            )
            for one in nodes
        ]  # fmt: skip
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        fix = "import what 'scontrol show node --json' prints"
        raise InputError(f"a node without what it must have: {error}", path=path, fix=fix) from None


def of_sinfo(text: str, path: Path) -> list[Machine]:
    """Of ``sinfo -N -o "%N %P %G %c %m"``: a line for each node and partition.

    Raises:
        InputError: a column or a cell is missing, or two lines of a node contradict each other.
    """
    head, *rows = text.splitlines()
    columns = head.split()
    if missing := [name for name in (SINFO, "GRES") if name not in columns]:
        raise InputError(f"sinfo without the column {missing[0]}", path=path, line=1, fix=f"make it by {_COLUMNS}")
    found: dict[str, Machine] = {}
    for line, row in enumerate(rows, 2):
        cells = row.split()
        if not cells:
            continue
        if len(cells) != len(columns):
            raise InputError(
                f"{len(cells)} cells instead of {len(columns)}", path=path, line=line, fix=f"make it by {_COLUMNS}"
            )
        for machine in _row(dict(zip(columns, cells, strict=True)), path, line):
            before = found.get(machine.name)
            found[machine.name] = machine if before is None else _also(before, machine, path)
    return list(found.values())


def _row(cells: Mapping[str, str], path: Path, line: int) -> list[Machine]:
    gres = "" if cells["GRES"] in ("(null)", "N/A") else cells["GRES"]
    names = hostlist.expand(cells[SINFO])
    gpus, gpu_type = _gpus_of(gres, names[0], path, line)
    partition = cells.get("PARTITION", "").rstrip("*")
    cpus, sockets, memory = (
        whole(cells[key].rstrip("+"), key, path, line) if key in cells else None
        for key in ("CPUS", "SOCKETS", "MEMORY")
    )
    partitions = (partition,) if partition else ()
    return [Machine(name, gpus, gpu_type, cpus, sockets, memory, partitions, line=line) for name in names]


def _also(before: Machine, now: Machine, path: Path) -> Machine:
    """One node, in one partition more."""
    if (before.gpus, before.gpu_type) != (now.gpus, now.gpu_type):
        cause = f"{now.name} has {now.gpus} GPUs here and {before.gpus} on line {before.line}"
        raise InputError(cause, path=path, line=now.line, fix="make the list anew")
    more = tuple(part for part in now.partitions if part not in before.partitions)
    return Machine(
        before.name, before.gpus, before.gpu_type, before.cpus, before.sockets, before.memory_mib,
        before.partitions + more, line=before.line,
    )  # fmt: skip


def _gpus_of(gres: str, name: str, path: Path, line: int | None) -> tuple[int, str]:
    """GPUs and their type of Slurm's generic resources: ``gpu:a100:8(S:0-1),shard:32``.

    Raises:
        InputError: there are two types, or what there is makes no sense.
    """
    found: dict[str, int] = {}
    for one in re.sub(r"\([^)]*\)", "", gres).split(","):
        kind, *rest = one.strip().split(":")
        if kind == "gpu" and rest:
            gpu_type = ":".join(rest[:-1])
            found[gpu_type] = found.get(gpu_type, 0) + whole(rest[-1], f"Gres of {name}", path, line, MAX_NODE_GPUS)
    if len(found) > 1:
        fix = "name it as two nodes in an inventory (CSV)"
        raise InputError(
            f"{name} has GPUs of {' and '.join(found)}; a node has one type", path=path, line=line, fix=fix
        )
    gpu_type, gpus = next(iter(found.items()), ("", 0))
    return gpus, gpu_type
