"""A topology in one word: ``fat-tree:8``, ``vl2:8x8/rack=8,gpus=4``, ``leaf-spine:16x4/rack=8,nic=10Gbps``."""

from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from pointsman.cluster.cluster import Cluster
from pointsman.cluster.parts import FAULT
from pointsman.cluster.shorthand import node_group, node_type, ratio, read_options, shorthand_cluster, whole
from pointsman.cluster.topologies.contract import TopologyKind
from pointsman.cluster.topologies.topology import KINDS
from pointsman.inputs.messages import wording

GPUS: Final = 4
"""GPUs of a node, where the shorthand does not say (ours)."""
OPTIONS: Final = ("gpus", "gpu", "nic", "partition")
OWN: Final = {"rack": "nodes_per_rack", "oversubscription": "oversubscription"}
"""Options that are parameters of some topologies, by what they are called there."""


def is_topology(text: str) -> bool:
    """Whether ``text`` begins like the shorthand of a topology, right or wrong."""
    return text.partition(":")[0] in KINDS


def parse_topology(text: str) -> Cluster:
    """The cluster that ``text`` stands for, with the same number of GPUs on every node.

    Raises:
        UsageError: not a shorthand of a topology, or there is none with these parameters; the message says why.
    """
    name = text.partition(":")[0]
    kind = KINDS[name]
    return shorthand_cluster(text, partial(_spec, name, kind), f"{kind.FORM}[/OPTIONS], such as {kind.EXAMPLE}")


def _own(kind: type[TopologyKind]) -> dict[str, str]:
    return {word: field for word, field in OWN.items() if field in kind.model_fields}


def _spec(name: str, kind: type[TopologyKind], text: str) -> dict[str, Any]:
    head, slash, tail = text.partition("/")
    options = read_options(tail, (*OPTIONS, *_own(kind))) if slash else {}
    parameters = _sizes(kind, head.removeprefix(name).removeprefix(":").strip())
    if "rack" in options:
        parameters[OWN["rack"]] = whole(options["rack"], "rack")
    if "oversubscription" in options:
        parameters["oversubscription"] = ratio(options["oversubscription"])
    try:
        made = kind.model_validate(parameters)
    except ValidationError as error:
        raise ValueError(_describe_fault(error)) from None
    gpus = whole(options["gpus"], "gpus") if "gpus" in options else GPUS
    return {
        "node_types": {"server": node_type(gpus, options)},
        "nodes": [node_group("server", made.shape.nodes, options)],
        "topology": {name: made},
    }


def _sizes(kind: type[TopologyKind], text: str) -> dict[str, Any]:
    sizes = text.split("x")
    if len(sizes) != len(kind.SIZES) or not all(sizes):
        raise ValueError(f"{text!r} is not {kind.FORM.partition(':')[2]}")
    return {key: whole(size, key) for key, size in zip(kind.SIZES, sizes, strict=True)}


def _describe_fault(error: ValidationError) -> str:
    """What is wrong with the parameters, by the words of the shorthand."""
    fault = error.errors()[0]
    at = str(fault["loc"][-1]) if fault["loc"] else ""
    at = next((f"option {word!r}" for word, field in OWN.items() if field == at), at)
    if fault["type"] == "missing":
        return f"{at} is missing"
    if fault["type"] == FAULT:  # a sentence of ours
        return fault["msg"]
    return f"{at} {wording(fault['msg'])}, not {fault['input']!r:.60}"
