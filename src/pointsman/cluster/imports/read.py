"""Any list of nodes, by what it holds."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pointsman.cluster.imports.inventory import REQUIRED, of_inventory
from pointsman.cluster.imports.kubernetes import of_kubectl
from pointsman.cluster.imports.machine import Imported, Machine, cluster_of
from pointsman.cluster.imports.slurm import SCONTROL, SINFO, of_scontrol, of_scontrol_json, of_sinfo
from pointsman.cluster.openb import read_node_list
from pointsman.errors import InputError

KNOWN = (
    "give what 'scontrol show node', 'sinfo -N -o \"%N %P %G %c %X %m\"' or 'kubectl get nodes -o json' prints, an "
    f"openb node list, or a CSV that begins with {','.join(REQUIRED)}"
)


def import_nodes(path: str | Path, gpu_types: Mapping[str, str] | None = None) -> Imported:
    """The cluster of a list of nodes; ``-`` is standard input.

    Args:
        path: the list.
        gpu_types: from a type as the list has it, or "" where it has none, to one that we know.

    Raises:
        InputError: unreadable, no such list, or one that makes no sense.
    """
    path = Path(path)
    text = _text(path)
    first = text.lstrip().split("\n", 1)[0]
    if first.startswith("sn,"):
        read = read_node_list(path)
        left_out = f"{read.without_gpu:,} of {read.rows:,} nodes have no GPU and were left out"
        return Imported(read.cluster, [left_out])
    machines, what = _machines(text, first, path)
    return cluster_of(machines, path, what, gpu_types or {})


def _machines(text: str, first: str, path: Path) -> tuple[list[Machine], str]:
    if first.startswith(("{", "[")):
        return _of_json(text, path)
    if first.startswith(SCONTROL):
        return of_scontrol(text, path), "scontrol show node"
    if SINFO in first.split():
        return of_sinfo(text.lstrip(), path), "sinfo"
    if set(REQUIRED[:2]) <= set(first.split(",")):
        return of_inventory(text.lstrip(), path), "an inventory"
    raise InputError("no list of nodes that we know", path=path, line=1, fix=KNOWN)


def _of_json(text: str, path: Path) -> tuple[list[Machine], str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("not valid JSON", path=path, fix="is it cut off?") from None
    if isinstance(data, dict) and isinstance(data.get("items"), list):
        return of_kubectl(data["items"], path), "kubectl get nodes"
    if isinstance(data, dict) and isinstance(data.get("nodes"), list):
        return of_scontrol_json(data["nodes"], path), "scontrol show node"
    raise InputError("JSON, but no list of nodes", path=path, fix=KNOWN)


def _text(path: Path) -> str:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("binary data, no list of nodes", path=path, fix="decompress it first?") from None
    except OSError as error:
        fix = "check the path and your right to read it"
        raise InputError(f"cannot be read: {error.strerror}", path=path, fix=fix) from None
    if not text.strip():
        raise InputError("the list is empty", path=path, fix=KNOWN)
    return text
