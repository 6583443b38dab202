"""A congested network: the bandwidth of levels beyond the node, divided by a factor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pointsman.cluster.layout import Layout
from pointsman.errors import UsageError
from pointsman.types import Locality

UNCONGESTED: Mapping[str, float] = MappingProxyType({})

NETWORK = "network"
"""Every level beyond the node."""

LEVELS = {"rack": Locality.RACK, "pod": Locality.POD, "cluster": Locality.CLUSTER}

SPANS = {
    "rack": "links within a rack",
    "pod": "links between the racks of a pod",
    "cluster": "links between pods",
    NETWORK: "all links beyond the node",
}
EMPTY = {
    "rack": "no rack has two nodes",
    "pod": "no pod has two racks",
    "cluster": "the cluster has one pod",
    NETWORK: "the cluster has one node",
}


def parse_congestion(texts: Sequence[str]) -> dict[str, str]:
    """Factors, yet to be checked, by level, of ``LEVEL=FACTOR`` texts.

    Raises:
        UsageError: one of them says no such thing.
    """
    pairs = [text.partition("=") for text in texts]
    for text, (level, _, factor) in zip(texts, pairs, strict=True):
        if not level or not factor:
            raise UsageError(f"--congestion takes LEVEL=FACTOR, like rack=4 or network=16, not {text!r:.60}")
    factors = {level.strip(): factor.strip() for level, _, factor in pairs}
    if len(factors) < len(pairs):
        raise UsageError(f"--congestion has two factors for one level; give each once: {', '.join(texts)}")
    return factors


def congested(layout: Layout, congestion: Mapping[str, float]) -> Layout:
    """The layout with the bandwidth of each level divided by its factor; a level's own goes before ``network``."""
    bandwidth = layout.bandwidth_bytes_per_s.copy()
    for name, level in LEVELS.items():
        bandwidth[:, level] /= congestion.get(name, congestion.get(NETWORK, 1.0))
    return replace(layout, bandwidth_bytes_per_s=bandwidth)


def describe_congestion(layout: Layout, congestion: Mapping[str, float], *, models: bool) -> list[str]:
    """What a run must say of it, whose jobs name `models` or do not: what was used, and what is of no effect."""
    said = {name: f"the congestion {name}={factor:g}" for name, factor in congestion.items()}
    if not models:
        return [f"{words} is of no effect: no job names a model" for words in said.values()]
    return [
        f"{words} is of no effect: {EMPTY[name]}"
        if _is_empty(layout, name)
        else f"{words} divides the bandwidth of {SPANS[name]}; durations were recorded without it"
        for name, words in said.items()
    ]


def _is_empty(layout: Layout, name: str) -> bool:
    """Whether the cluster has no links of this level."""
    nodes, racks, pods = len(layout.node_rack), int(layout.node_rack[-1]) + 1, int(layout.node_pod[-1]) + 1
    return {"rack": nodes == racks, "pod": racks == pods, "cluster": pods == 1, NETWORK: nodes == 1}[name]
