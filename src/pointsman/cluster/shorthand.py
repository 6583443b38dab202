"""A cluster in one word: ``800x8``, ``16x4/rack=4,gpu=v100``, ``10x8/gpu=a100+4x4/gpu=t4``."""

import re
from typing import Any, Final

from pydantic import ValidationError

from pointsman.cluster import quantities
from pointsman.cluster.cluster import Cluster
from pointsman.cluster.gpu_catalogue import DEFAULT_GPU_TYPE
from pointsman.cluster.hostlist import MAX_NAMES
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean

GRAMMAR: Final = "NODESxGPUS[/rack=N,pod=N,gpu=TYPE,nic=100Gbps,oversubscription=R,partition=NAME][+...]"
_SIZE: Final = re.compile(r"([0-9]{1,9})x([0-9]{1,9})", re.ASCII)
_OWN: Final = ("gpu", "nic", "partition", "rack")
_SHARED: Final = ("oversubscription", "pod")


def is_shorthand(text: str) -> bool:
    """Whether ``text`` begins like a shorthand, right or wrong."""
    return re.match(r"[0-9]+x", text) is not None


def parse_shorthand(text: str) -> Cluster:
    """The cluster that ``text`` stands for; parts joined by ``+`` stand side by side, in that order.

    ``rack`` is nodes per rack (the last may be short; without it a part is one rack, and parts that all lack it share
    one). ``pod`` (racks per pod) and ``oversubscription`` (between racks) hold for the whole cluster.

    Raises:
        UsageError: not a shorthand; the message says which word is wrong.
    """
    parts = [_part(part, text) for part in text.split("+")]
    spec: dict[str, Any] = {
        "node_types": {f"type{i}": _node_type(gpus, options, text) for i, (_, gpus, options) in enumerate(parts)}
    }
    groups = [_group(i, nodes, options) for i, (nodes, _, options) in enumerate(parts)]
    if len(parts) == 1 or not any("rack" in options for _, _, options in parts):
        spec["nodes"] = groups
        if "rack" in parts[0][2]:
            spec["nodes_per_rack"] = _whole(parts[0][2]["rack"], "rack", text)
    else:
        spec["racks"] = [rack for group, (*_, o) in zip(groups, parts, strict=True) for rack in _racks(group, o, text)]
    spec |= _shared(parts, text)
    source = f"shorthand; {DEFAULT_GPU_TYPE} unless gpu= says otherwise, networks are the defaults of cluster-yaml"
    try:
        return Cluster.model_validate({"metadata": {"name": text, "source": source}, "spec": spec})
    except ValidationError as error:
        raise _wrong(text, error.errors()[0]["msg"].removeprefix("Value error, ")) from None


_Part = tuple[int, int, dict[str, str]]


def _part(part: str, text: str) -> _Part:
    size, _, tail = part.strip().partition("/")
    match = _SIZE.fullmatch(size)
    if match is None:
        raise _wrong(text, f"{size!r} is not NODESxGPUS")
    options: dict[str, str] = {}
    for option in tail.split(",") if "/" in part else ():
        key, _, value = (word.strip() for word in option.partition("="))
        if key not in (*_OWN, *_SHARED):
            raise _wrong(text, f"unknown option {key!r} ({did_you_mean(key, (*_OWN, *_SHARED))})")
        if not value or key in options:
            raise _wrong(text, f"option {key!r} " + ("is given twice" if value else "has no value"))
        options[key] = value
    nodes, gpus = int(match[1]), int(match[2])
    if not 1 <= nodes <= MAX_NAMES:
        raise _wrong(text, f"{nodes} nodes; a cluster has 1 to {MAX_NAMES:,}")
    if not 1 <= gpus <= 64:
        raise _wrong(text, f"{gpus} GPUs a node; a node has 1 to 64")
    return nodes, gpus, options


def _node_type(gpus: int, options: dict[str, str], text: str) -> dict[str, Any]:
    node: dict[str, Any] = {"gpus": gpus, "gpu_type": options.get("gpu", DEFAULT_GPU_TYPE)}
    if "nic" in options:
        try:
            quantities.bandwidth_bytes_per_s(options["nic"])
        except ValueError as error:
            raise _wrong(text, str(error)) from None
        node["nic"] = {"bandwidth": options["nic"]}
    return node


def _group(i: int, nodes: int, options: dict[str, str]) -> dict[str, Any]:
    partitions = {"partitions": options["partition"].split("|")} if "partition" in options else {}
    return {"type": f"type{i}", "count": nodes, **partitions}


def _racks(group: dict[str, Any], options: dict[str, str], text: str) -> list[dict[str, Any]]:
    per_rack = _whole(options["rack"], "rack", text) if "rack" in options else group["count"]
    full, rest = divmod(group["count"], per_rack)
    racks = [{"count": full, "nodes": [{**group, "count": per_rack}]}] if full else []
    return racks + ([{"nodes": [{**group, "count": rest}]}] if rest else [])


def _shared(parts: list[_Part], text: str) -> dict[str, Any]:
    """What holds for the whole cluster, and may therefore be said in one part only."""
    said: dict[str, str] = {}
    for _, _, options in parts:
        for key in _SHARED:
            if key in options and said.setdefault(key, options[key]) != options[key]:
                raise _wrong(text, f"option {key!r} holds for the whole cluster; give it once")
    spec: dict[str, Any] = {}
    if "pod" in said:
        spec["racks_per_pod"] = _whole(said["pod"], "pod", text)
    if "oversubscription" in said:
        spec["network"] = {"pod": {"oversubscription": _ratio(said["oversubscription"], text)}}
    return spec


def _whole(value: str, key: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value) or not 1 <= int(value) <= MAX_NAMES:
        raise _wrong(text, f"{key}={value} is not a whole number from 1 to {MAX_NAMES:,}")
    return int(value)


def _ratio(value: str, text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,9})?", value) or float(value) < 1:
        raise _wrong(text, f"oversubscription={value} is not a number of at least 1")
    return float(value)


def _wrong(text: str, cause: str) -> UsageError:
    return UsageError(f"cluster {text!r:.200}: {cause} (the form is {GRAMMAR})")
