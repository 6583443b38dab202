"""Any list of nodes, by what it holds."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pointsman.cluster.imports.assemble import Imported, cluster_of
from pointsman.cluster.imports.gpu_links import is_gpu_links, read_gpu_links, the_node, with_sockets
from pointsman.cluster.imports.inventory import REQUIRED, has_a_column, is_inventory, of_inventory
from pointsman.cluster.imports.kubernetes.nodes import NODE, of_kubectl
from pointsman.cluster.imports.machine import NodeList, OddNode, refuse
from pointsman.cluster.imports.slurm.nodes import NODES, of_json, of_nodes, of_sinfo_json
from pointsman.cluster.imports.slurm.sinfo import COLUMNS, is_header, is_row, of_sinfo
from pointsman.cluster.imports.slurm.topology import alone, is_topology, place_in_topology, read_topology
from pointsman.cluster.openb import HEADER, read_node_list
from pointsman.errors import InputError

KNOWN: Final = (
    f"give what 'scontrol show node', '{COLUMNS}' or 'kubectl get nodes -o json' prints, slurm.conf, an openb node "
    f"list, or a CSV that begins with {','.join(REQUIRED)}"
)
_YAML: Final = re.compile(r"^(---|apiVersion:|kind:|items:|metadata:)", re.MULTILINE)

_ALIAS = re.compile(r"[\s\[{,]\*[\w.-]")
"""What an alias of YAML looks like; kubectl writes none."""


def import_nodes(
    path: str | Path,
    gpu_types: Mapping[str, str] | None = None,
    topology: Path | None = None,
    gpu_topology: Path | None = None,
) -> Imported:
    """The cluster of a list of nodes; ``-`` is standard input.

    Args:
        path: the list.
        gpu_types: from a type as the list has it, or "" where it has none, to one that we know, or to one of its own.
        topology: Slurm's ``topology.conf`` or what ``scontrol show topo`` prints: racks and pods.
        gpu_topology: what ``nvidia-smi topo -m`` prints on a node: sockets.

    Raises:
        InputError: unreadable, no such list, or one that makes no sense.
    """
    path = Path(path)
    text = _text(path)
    if text.lstrip().startswith(",".join(HEADER)) and not (topology or gpu_topology):
        read = read_node_list(path)
        left_out = f"{read.without_gpu:,} of {read.rows:,} nodes have no GPU and were left out"
        return Imported(read.cluster, [left_out])
    nodes = _nodes(text, path)
    if topology is not None:
        nodes = place_in_topology(nodes, read_topology(_text(topology), topology))
    if gpu_topology is not None:
        nodes = with_sockets(nodes, read_gpu_links(_text(gpu_topology), gpu_topology))
    return cluster_of(nodes, path, gpu_types or {})


def made_by(path: str | Path) -> str:
    """What made the list of nodes that a file holds, such as ``sinfo``; empty if it is none that can be read."""
    try:
        return _nodes(_text(Path(path)), Path(path)).what
    except (InputError, OddNode):
        return ""


def _nodes(text: str, path: Path) -> NodeList:
    first = text.lstrip().split("\n", 1)[0]
    if first.startswith(("{", "[")):
        return _of_documents(_json(text, path), path)
    if is_gpu_links(text):
        return the_node(read_gpu_links(text, path), path)
    if NODES.search(text):
        return of_nodes(text)
    if is_topology(text):
        raise alone(path)
    if _YAML.search(text):
        return _of_documents(_yaml(text, path), path)
    return _of_table(text.lstrip(), first, path)


def _of_table(text: str, first: str, path: Path) -> NodeList:
    if is_inventory(first):
        return of_inventory(text, path)
    bare = text.replace('"', "")  # sinfo writes no quotes, but what turned its lines into CSV does
    row = bare.split("\n", 1)[0]
    if is_header(row) or is_row(row):
        try:
            return of_sinfo(bare)
        except OddNode as odd:
            raise refuse(odd.why, path, f"make it by {COLUMNS}", odd.line) from None
    if has_a_column(first):
        return of_inventory(text, path)
    raise refuse("no list of nodes that we know", path, KNOWN, 1)


def _json(text: str, path: Path) -> list[Any]:
    """All documents of the text, one behind the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    try:
        while at < len(text) and text[at:].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            document, at = decoder.raw_decode(text, at)
            found.append(document)
    except (ValueError, RecursionError):
        raise refuse("not valid JSON", path, "is it cut off?") from None
    return found


def _yaml(text: str, path: Path) -> list[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if _ALIAS.search(text) and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, loader)):
            raise refuse("YAML with aliases, which can stand for endlessly much", path, "write each value out", None)
        return [document for document in yaml.load_all(text, loader) if document is not None]
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        raise refuse("not valid YAML", path, "is it cut off?", None if line is None else line + 1) from None


def _of_documents(documents: list[Any], path: Path) -> NodeList:
    """Kubernetes' objects, in a list or each by itself, or one document of Slurm."""
    items: list[Any] = []
    for document in documents:
        if isinstance(document, dict) and isinstance(document.get("items"), list):
            items += document["items"]
        elif isinstance(document, dict) and isinstance(document.get("nodes"), list):
            return of_json(document["nodes"])
        elif isinstance(document, dict) and isinstance(document.get("sinfo"), list):
            return of_sinfo_json(document["sinfo"])
        elif isinstance(document, list):
            items += document
        elif isinstance(document, dict) and "metadata" in document and "kind" in document:
            items.append(document)
    if items and all(isinstance(item, dict) and "gres" in item for item in items):
        return of_json(items)
    kinds = {str(item.get("kind", NODE)) for item in items if isinstance(item, dict)}
    if not items or (kinds and NODE not in kinds):
        raise refuse("no list of nodes", path, KNOWN)
    return of_kubectl(items)


def _text(path: Path) -> str:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        fix = "check the path and your right to read it"
        raise refuse(f"cannot be read: {error.strerror}", path, fix) from None
    if b"\0" in data:
        raise refuse("binary data, no list of nodes", path, "decompress it first?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if not text.strip():
        raise refuse("the list is empty", path, KNOWN)
    return text
