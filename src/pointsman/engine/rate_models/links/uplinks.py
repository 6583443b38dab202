"""The links that jobs may share: the uplinks of nodes, racks and pods, or the two cards of the nodes of a BCube."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout, uplink_bandwidths
from pointsman.engine.state.records import UPLINK
from pointsman.errors import UsageError
from pointsman.types import CONTENTION_NAMES, Contention, Locality

MEASURED_PENALTY = 0.235 / 0.856
"""η/b of ``a + k·b·M + (k-1)·η·M`` on 10 Gb Ethernet (Wang et al., arXiv 2002.10105, their simulator)."""

FAIR = (Contention.MAX_MIN, Contention.DUTY_CYCLE)


@dataclass(frozen=True)
class LinkSharing:
    """How jobs share links."""

    contention: Contention = Contention.NONE
    penalty: float = 0.0
    """For NODE_LINK: η/b, what a further ring costs a node's link, as a share of its own bytes' time."""


SEPARATE_LINKS = LinkSharing()
"""No jobs share a link."""


def parse_link_sharing(text: str) -> LinkSharing:
    """``none``, ``level``, ``max-min``, ``duty-cycle``, ``node-link`` or ``node-link:PENALTY``.

    Raises:
        UsageError: something else.
    """
    name, colon, number = text.partition(":")
    if name not in CONTENTION_NAMES or (colon and name != "node-link"):
        raise UsageError(f"unknown contention {text!r:.60} (there are {', '.join(CONTENTION_NAMES)}[:PENALTY])")
    contention = CONTENTION_NAMES[name]
    try:
        penalty = float(number) if colon else MEASURED_PENALTY
    except ValueError:
        penalty = float("nan")
    if not 0 <= penalty < 1e6:
        raise UsageError(f"contention {text!r}: the penalty is a number from 0, as in node-link:0.27")
    return LinkSharing(contention, penalty if contention == Contention.NODE_LINK else 0.0)


def uplinks(layout: Layout, contention: Contention) -> NDArray[np.void]:
    """UPLINK of all levels of `capacities`, one level after another; none where jobs share no links."""
    if contention == Contention.NONE:
        return np.zeros(0, UPLINK)
    capacity = np.concatenate(capacities(layout, contention))
    links = np.zeros(len(capacity), UPLINK)
    links["capacity"] = capacity
    return links


def capacities(layout: Layout, contention: Contention) -> list[NDArray[np.float64]]:
    """Whole bytes/s of the uplinks of nodes, of racks and of pods; or of the first cards of nodes and of the second,
    where they have two. Under LEVEL, of each of these together.

    They are as `uplink_bandwidths` says, but of a node alone in its rack what lies beyond the rack.
    """
    nodes, racks, pods = uplink_bandwidths(layout)
    if layout.cards_apart:
        levels = [nodes, layout.bandwidth_bytes_per_s[layout.node_type, Locality.POD] * layout.node_gpus]
    else:
        alone = np.bincount(layout.node_rack)[layout.node_rack] == 1
        levels = [np.where(alone, racks[layout.node_rack], nodes), racks, pods]
    if contention == Contention.LEVEL:
        levels = [level.sum(keepdims=True) for level in levels]
    return [np.maximum(np.floor(level), 1.0) for level in levels]


def as_wide_as_cards(layout: Layout) -> Layout:
    """Widens all levels beyond the rack, so that none holds a lone ring back: the uplinks do, if rings share them."""
    bandwidth, sharers = layout.bandwidth_bytes_per_s.copy(), layout.sharers.copy()
    for level in (Locality.POD, Locality.CLUSTER):
        narrow = bandwidth[:, level] < bandwidth[:, Locality.RACK]
        for rows in (bandwidth, sharers):
            rows[narrow, level] = rows[narrow, Locality.RACK]
    return replace(layout, bandwidth_bytes_per_s=bandwidth, sharers=sharers)
