"""The GPUs that jobs ask for and hold, and those of nodes, as Slurm lists generic resources."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from pointsman.cluster import hostlist
from pointsman.inputs.gpu_cells import GpuEntry, gpu_entries
from pointsman.live.backends.slurm.answers.cells import optional
from pointsman.live.backends.slurm.records import GpuDemand, NodeGpus

_INDEXES: Final = re.compile(r"(?:^|,)(?:gres[/:])?gpu[^,(]*\(IDX:([^)]*)\)", re.IGNORECASE)
_NONE: Final = ("", "N/A", "(null)")


class Asked(NamedTuple):
    """What a job asks for, each as Slurm prints it."""

    tres: str = ""
    """All that it is allocated, or asks for."""
    per_job: str = ""
    per_node: str = ""
    per_task: str = ""
    per_socket: str = ""
    nodes: int = 1
    tasks: int = 1


def whole_gpus(cell: str) -> list[GpuEntry]:
    """The GPUs, or slices of GPUs, of a list of resources; no shares such as shards.

    Raises:
        ValueError: it cannot be read.
    """
    found = gpu_entries(optional(cell)) if optional(cell) else []
    if found is None:
        raise ValueError(f"{cell!r:.60} is no list of resources")
    return [entry for entry in found if entry.milli is not None]


@lru_cache(maxsize=4096)
def demand(asked: Asked) -> GpuDemand:
    """How many GPUs a job asks for: TRES that count GPUs say it, and otherwise its options."""
    tres, job, node, task = (whole_gpus(cell) for cell in (asked.tres, asked.per_job, asked.per_node, asked.per_task))
    kinds = {entry.gpu_type for entry in (*node, *job, *task, *tres) if entry.gpu_type}
    per_node = _count(node) if node else None
    options = ((tres, 1), (job, 1), (node, asked.nodes), (task, asked.tasks))
    total = next((_count(entries) * times for entries, times in options if entries), None)
    if total is None:
        return GpuDemand(None, None) if whole_gpus(asked.per_socket) else GpuDemand()
    if per_node is None and asked.nodes == 1:
        per_node = total
    return GpuDemand(total, per_node, next(iter(kinds)) if len(kinds) == 1 else "")


def _count(entries: Sequence[GpuEntry]) -> int:
    return sum(entry.count for entry in entries)


def by_type(cell: str) -> tuple[tuple[str, int], ...]:
    """The GPUs of a node by type, as they are listed.

    Raises:
        ValueError: it cannot be read.
    """
    counts: dict[str, int] = {}
    for entry in whole_gpus(cell):
        counts[entry.gpu_type] = counts.get(entry.gpu_type, 0) + entry.count
    return tuple(counts.items())


def indexes(cell: str) -> tuple[int, ...] | None:
    """The indexes in ``gpu:a100:3(IDX:0-1,5)``; None: it names none.

    Raises:
        ValueError: they cannot be read.
    """
    listed = _INDEXES.findall(cell)
    if not listed:
        return None
    return tuple(sorted({int(index) for one in listed if one not in _NONE for index in hostlist.expand(f"[{one}]")}))


def node_gpus(node: str, cell: str) -> NodeGpus:
    """What a job holds of a node: ``gpu:a100:3(IDX:0-2)``, or ``gpu(IDX:0-2)`` of older versions."""
    known = indexes(cell)
    counted = _count(whole_gpus(cell))
    bare = known is not None and re.search(r"gpu(?::[A-Za-z][^:,(]*)?\(IDX", cell) is not None
    return NodeGpus(node, len(known or ()) if bare else counted, known or (() if counted == 0 else None))


def share_out(nodes: Sequence[str], gpus: GpuDemand) -> Iterator[NodeGpus]:
    """What a job that runs on these nodes holds of each, as far as what it asks for tells."""
    for node in nodes:
        yield NodeGpus(node, gpus.per_node if len(nodes) > 1 or gpus.total is None else gpus.total)
