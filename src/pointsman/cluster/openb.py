"""Import of the node list of Alibaba's openb traces (``docs/formats/openb-nodes.md``)."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from pointsman.cluster.cluster import Cluster
from pointsman.cluster.gpu_catalogue import GPU_MODELS, known_gpu
from pointsman.cluster.hostlist import compress
from pointsman.errors import InputError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.messages import counted, quoted, wording
from pointsman.types import MAX_NODE_GPUS

HEADER: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")

UNPUBLISHED_GPUS: Final[dict[str, tuple[str, str]]] = {"g2": ("24 GiB", "24 GB/s"), "g3": ("80 GiB", "48 GB/s")}
"""Memory and interconnect bandwidth assumed (ours) for the two GPU types whose identity openb withholds."""

_OTHERS: Final[tuple[tuple[frozenset[str], str], ...]] = tuple(
    (frozenset(columns.split()), what)
    for columns, what in (
        ("num_gpu gpu_milli gpu_spec", "an openb pod list, which is a workload"),
        ("submit_s gpus duration_s", "a job table, which is a workload"),
        ("job_id vc gpu_num", "a Helios job log, which is a workload"),
        ("job_id gpu_num gpu_time", "an Acme job log, which is a workload"),
        ("job_id submission_time num_gpu", "a Microsoft ITP job log, which is a workload"),
        ("num_gpus gpu_time", "the Philly job log of the Pollux artifact, which is a workload"),
        ("job_id num_gpu submit_time model_name", "a Tiresias job list, which is a workload"),
        ("machine gpu_type cap_gpu", "the Alibaba PAI 2020 machine table, which is not read; try 'alibaba-pai-2020'"),
        ("ip DSW PSW ASW", "the Alibaba Lingjun switch table, which does not say how many GPUs a host has"),
        ("num_switch num_node_p_switch num_gpu_p_node", "a Tiresias cluster table; write it as a shorthand"),
        ("date total", "a table of GPUs per day and virtual cluster, not of nodes"),
        ("id job_num", "a summary of clusters, not a list of nodes"),
    )
)


class UnknownTableError(InputError):
    """A table that is no openb node list, nor one of those that people mistake for it."""


@dataclass(frozen=True)
class NodeList:
    """What was read: the cluster, and how many rows have no GPU and were left out."""

    cluster: Cluster
    rows: int
    without_gpu: int


@dataclass(frozen=True)
class _Node:
    name: str
    cpus: int
    memory_mib: int
    gpus: int
    model: str

    @property
    def kind(self) -> tuple[str, int, int, int]:
        return self.model, self.gpus, self.cpus, self.memory_mib


def read_node_list(path: str | Path) -> NodeList:
    """The cluster of an openb node list, nodes in file order; it says nothing of racks, so there is one.

    Raises:
        InputError: unreadable, another kind of table, or a row that makes no sense.
    """
    path = Path(path)
    rows = _rows(path)
    _check_header(next(rows, (0, []))[1], path)
    nodes = [_node(row, path, line) for line, row in rows]
    if not nodes:
        raise InputError("the node list has a header and no nodes", path=path, fix="give at least one")
    with_gpu = [node for node in nodes if node.gpus]
    try:
        cluster = Cluster.model_validate(_document(with_gpu, path, len(nodes) - len(with_gpu)))
    except ValidationError as error:
        fix = "correct the node list"
        raise InputError(wording(error.errors()[0]["msg"]), path=path, fix=fix) from None
    return NodeList(cluster, len(nodes), len(nodes) - len(with_gpu))


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every row that is not blank."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        reader = csv.reader(text.splitlines(keepends=True), strict=True)
        yield from ((reader.line_num, row) for row in reader if row)
    except UnicodeDecodeError:
        raise InputError("binary data, not a CSV node list", path=path, fix="decompress it first?") from None
    except csv.Error as error:
        fix = "is a quote left open? one that belongs to a cell is doubled"
        raise InputError(f"not valid CSV: {error}", path=path, fix=fix) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        fix = "check the path and your right to read it"
        raise InputError(f"cannot be read: {reason}", path=path, fix=fix) from None


def _check_header(header: list[str], path: Path) -> None:
    if not header:
        raise InputError("the file is empty", path=path, fix=f"a node list begins with {','.join(HEADER)}")
    if tuple(header) == HEADER:
        return
    what = next((what for columns, what in _OTHERS if columns <= set(header)), None)
    fix = f"a node list begins with {','.join(HEADER)}"
    if what:
        raise InputError(f"this is {what}", path=path, line=1, fix=fix)
    raise UnknownTableError(f"no node list: its first line is {','.join(header)!r:.80}", path=path, line=1, fix=fix)


def _node(row: list[str], path: Path, line: int) -> _Node:
    if len(row) != len(HEADER):
        cause = f"{counted(len(row), 'cell')} instead of {len(HEADER)}"
        raise InputError(cause, path=path, line=line, fix="complete the row")
    name, cpu_milli, memory_mib, gpus, model = row
    if not name or any(c.isspace() or c in "[],|+" for c in name):
        raise InputError(
            f"{quoted(name)} is no node name", path=path, line=line, fix="a name has no spaces and no []|,+"
        )
    numbers = []
    for key, text, highest in (("cpu_milli", cpu_milli, 10**8), ("memory_mib", memory_mib, 10**9)):
        numbers.append(_whole(key, text, 1, highest, path, line))
    node = _Node(name, -(-numbers[0] // 1000), numbers[1], _whole("gpu", gpus, 0, MAX_NODE_GPUS, path, line), model)
    if node.gpus and known_gpu(model) is None and not _withheld(model):
        cause = f"{name} has {counted(node.gpus, 'GPU')} of an unknown model {model!r:.40}"
        raise InputError(cause, path=path, line=line, fix=did_you_mean(model, GPU_MODELS))
    return node


def _whole(key: str, text: str, low: int, high: int, path: Path, line: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12 and low <= int(text) <= high):
        cause = f"{key} is {quoted(text)}, not a whole number from {low} to {high}"
        raise InputError(cause, path=path, line=line, fix="correct the cell or leave the row out")
    return int(text)


def _document(nodes: list[_Node], path: Path, without_gpu: int) -> dict[str, Any]:
    kinds = {node.kind: node for node in nodes}
    names = {kind: f"{node.model}x{node.gpus}-{node.cpus}c-{node.memory_mib}m" for kind, node in kinds.items()}
    groups = [(kind, [node.name for node in run]) for kind, run in groupby(nodes, key=lambda node: node.kind)]
    return {
        "metadata": {
            "name": path.stem,
            "description": f"{counted(len(nodes), 'node')} with GPUs; {without_gpu:,} without were left out",
            "source": "openb node list; racks and networks are not in it, the defaults of cluster-yaml stand in; "
            "memory and interconnect of G2 and G3 are assumptions (ours)",
        },
        "spec": {
            "gpu_types": _gpu_types({node.model for node in nodes}),
            "node_types": {names[kind]: _node_type(node) for kind, node in kinds.items()},
            "nodes": [{"type": names[kind], "names": compress(of)} for kind, of in groups],
        },
    }


def _gpu_types(models: set[str]) -> dict[str, Any]:
    return {model: {"memory": UNPUBLISHED_GPUS[model.casefold()][0]} for model in sorted(models) if _withheld(model)}


def _node_type(node: _Node) -> dict[str, Any]:
    kind: dict[str, Any] = {"gpus": node.gpus, "gpu_type": node.model}
    if _withheld(node.model):
        kind["interconnect"] = {"kind": "pcie", "bandwidth": UNPUBLISHED_GPUS[node.model.casefold()][1]}
    return kind | {"cpus": node.cpus, "memory": f"{node.memory_mib} MiB"}


def _withheld(model: str) -> bool:
    return model.casefold() in UNPUBLISHED_GPUS
