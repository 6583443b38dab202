"""A cluster in one word: ``800x8``, ``16x4/rack=4,gpu=v100``, ``10x8/gpu=a100+4x4/gpu=t4``."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from pointsman.cluster import quantities
from pointsman.cluster.cluster import Cluster
from pointsman.cluster.gpu_catalogue import DEFAULT_GPU_TYPE
from pointsman.cluster.hostlist import MAX_NAMES
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.types import MAX_NODE_GPUS

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
    return shorthand_cluster(text, _spec, GRAMMAR)


def shorthand_cluster(text: str, spec_of: Callable[[str], dict[str, Any]], form: str) -> Cluster:
    """The cluster called ``text`` with the spec that ``spec_of`` makes of it.

    Raises:
        UsageError: ``spec_of`` raises a `ValueError`, or there is no such cluster; the message ends with the ``form``.
    """
    source = f"shorthand; {DEFAULT_GPU_TYPE} unless gpu= says otherwise, networks are the defaults of cluster-yaml"
    try:
        return Cluster.model_validate({"metadata": {"name": text, "source": source}, "spec": spec_of(text)})
    except ValidationError as error:
        cause = error.errors()[0]["msg"].removeprefix("Value error, ")
    except ValueError as error:
        cause = str(error)
    raise UsageError(f"cluster {text!r:.200}: {cause} (the form is {form})")


def _spec(text: str) -> dict[str, Any]:
    parts = [_part(part) for part in text.split("+")]
    spec: dict[str, Any] = {
        "node_types": {f"type{i}": node_type(gpus, options) for i, (_, gpus, options) in enumerate(parts)}
    }
    groups = [node_group(f"type{i}", nodes, options) for i, (nodes, _, options) in enumerate(parts)]
    if len(parts) == 1 or not any("rack" in options for _, _, options in parts):
        spec["nodes"] = groups
        if "rack" in parts[0][2]:
            spec["nodes_per_rack"] = whole(parts[0][2]["rack"], "rack")
    else:
        spec["racks"] = [rack for group, (*_, o) in zip(groups, parts, strict=True) for rack in _racks(group, o)]
    return spec | _shared_options(parts)


_Part = tuple[int, int, dict[str, str]]


def _part(part: str) -> _Part:
    size, slash, tail = part.strip().partition("/")
    match = _SIZE.fullmatch(size)
    if match is None:
        raise ValueError(f"{size!r} is not NODESxGPUS")
    options = read_options(tail, (*_OWN, *_SHARED)) if slash else {}
    nodes, gpus = int(match[1]), int(match[2])
    if not 1 <= nodes <= MAX_NAMES:
        raise ValueError(f"{nodes} nodes; a cluster has 1 to {MAX_NAMES:,}")
    return nodes, gpus, options


def read_options(tail: str, known: Sequence[str]) -> dict[str, str]:
    """The ``key=value`` pairs of ``tail``, which stands behind the slash.

    Raises:
        ValueError: an unknown key, one given twice, or none or no value before or behind an equals sign.
    """
    options: dict[str, str] = {}
    for option in tail.split(","):
        key, _, value = (word.strip() for word in option.partition("="))
        if key not in known:
            raise ValueError(f"unknown option {key!r} ({did_you_mean(key, known)})")
        if not value or key in options:
            raise ValueError(f"option {key!r} " + ("is given twice" if value else "has no value"))
        options[key] = value
    return options


def node_type(gpus: int, options: dict[str, str]) -> dict[str, Any]:
    """Makes a node type with `gpus` GPUs, by the options ``gpu`` and ``nic``; ValueError: too many, or no bandwidth."""
    if not 1 <= gpus <= MAX_NODE_GPUS:
        raise ValueError(f"{gpus} GPUs a node; a node has 1 to {MAX_NODE_GPUS}")
    node: dict[str, Any] = {"gpus": gpus, "gpu_type": options.get("gpu", DEFAULT_GPU_TYPE)}
    if "nic" in options:
        quantities.bandwidth_bytes_per_s(options["nic"])
        node["nic"] = {"bandwidth": options["nic"]}
    return node


def node_group(name: str, nodes: int, options: dict[str, str]) -> dict[str, Any]:
    """So many nodes of the type ``name``, in the partitions of the option ``partition``."""
    partitions = {"partitions": options["partition"].split("|")} if "partition" in options else {}
    return {"type": name, "count": nodes, **partitions}


def _racks(group: dict[str, Any], options: dict[str, str]) -> list[dict[str, Any]]:
    per_rack = whole(options["rack"], "rack") if "rack" in options else group["count"]
    full, rest = divmod(group["count"], per_rack)
    racks = [{"count": full, "nodes": [{**group, "count": per_rack}]}] if full else []
    return racks + ([{"nodes": [{**group, "count": rest}]}] if rest else [])


def _shared_options(parts: list[_Part]) -> dict[str, Any]:
    """What holds for the whole cluster, and may therefore be said in one part only."""
    said: dict[str, str] = {}
    for _, _, options in parts:
        for key in _SHARED:
            if key in options and said.setdefault(key, options[key]) != options[key]:
                raise ValueError(f"option {key!r} holds for the whole cluster; give it once")
    spec: dict[str, Any] = {}
    if "pod" in said:
        spec["racks_per_pod"] = whole(said["pod"], "pod")
    if "oversubscription" in said:
        spec["network"] = {"pod": {"oversubscription": ratio(said["oversubscription"])}}
    return spec


def whole(value: str, key: str) -> int:
    """A whole number from 1 to the most nodes of a cluster; ValueError: something else."""
    if not re.fullmatch(r"[0-9]{1,9}", value) or not 1 <= int(value) <= MAX_NAMES:
        raise ValueError(f"{key}={value} is not a whole number from 1 to {MAX_NAMES:,}")
    return int(value)


def ratio(value: str) -> float:
    """A number of at least 1; ValueError: something else."""
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,9})?", value) or float(value) < 1:
        raise ValueError(f"oversubscription={value} is not a number of at least 1")
    return float(value)
