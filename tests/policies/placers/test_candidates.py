"""Which places a gang may choose among: whole, free, few, in a fixed order."""

import numpy as np
import pytest

from pointsman.engine.jit.compile import exported
from pointsman.engine.state.state_pointer import open_state
from pointsman.policies.placers.candidates.places import list_candidates, note_candidate
from pointsman.policies.placers.declared import MOST_CANDIDATES
from pointsman.policies.placers.placer import alternative_of
from tests.engine.jit.compiled import compiled
from tests.oracle.model import Node

from ..pickers.test_gpu_pickers import Cluster

ALIKE = tuple(Node(4, rack=n // 3) for n in range(64))
MIXED = tuple(Node((8, 3, 1, 4)[n % 4], rack=n // 3) for n in range(15))
Place = tuple[tuple[int, int], ...]
"""(node, mask) each."""


@exported("int64(int64, int64)")
def many(address: int, j: int) -> int:
    S = open_state(address)
    return list_candidates(S, j, alternative_of(S, j))


@exported("int64(int64, int64, int64)")
def note(address: int, j: int, i: int) -> int:
    S = open_state(address)
    note_candidate(S, j, alternative_of(S, j), i)
    return np.int64(S.g[0].placed)


def places(cluster: Cluster, gpus: int) -> list[Place]:
    cluster.state.jobs["part"] = -1  # they wait, and hold nothing
    address, j = cluster.address, np.int64(gpus - 1)
    found = []
    for i in range(compiled(many)(address, j)):
        parts = cluster.state.place[: int(compiled(note)(address, j, np.int64(i)))]
        found.append(tuple((int(p["node"]), int(p["mask"])) for p in parts))
    return found


def drawn(*racks: str) -> Cluster:
    """``"..## ####"`` is a rack of two nodes."""
    nodes = [(r, node) for r, rack in enumerate(racks) for node in rack.split()]
    cluster = Cluster(tuple(Node(len(node), rack=r) for r, node in nodes))
    cluster.take([{g for g, c in enumerate(node) if c == "#"} for _, node in nodes])
    return cluster


def test_each_node_with_room_the_fullest_first_and_one_idle_node() -> None:
    cluster = drawn(".... #...", "##.. .... ###.")
    assert places(cluster, 1) == [((4, 8),), ((2, 4),), ((1, 2),), ((0, 1),)]


def test_then_where_lb_and_lif_would() -> None:
    """A node has room for a gang of three; LB and, without interference, LIF spread it."""
    cluster = drawn("..## #...", "..##")
    spread = ((0, 1), (1, 12))
    assert places(cluster, 3) == [((1, 14),), spread, spread]


def test_else_packed_and_the_racks_the_fullest_first_in_two_orders() -> None:
    cluster = drawn("##.. ##.. ..##", "##.. #... ####")
    found = places(cluster, 4)
    packed, first_rack = ((3, 4), (4, 14)), ((0, 12), (1, 12))
    assert found[:5] == [packed, packed, packed, first_rack, first_rack]
    assert len(found) == 7


def test_a_gang_wider_than_any_rack_has_room_for() -> None:
    cluster = drawn("##.. ####", "#... ####")
    assert len(places(cluster, 4)) == 3, "packed, LB and LIF"


@pytest.mark.parametrize("nodes", [ALIKE, MIXED], ids=["alike", "mixed"])
def test_random_states(nodes: tuple[Node, ...]) -> None:
    """Whole gangs of free GPUs, at most 32 of them; on several nodes in the order of their index."""
    draw, cluster = np.random.default_rng(4), Cluster(nodes)
    most = 0
    for _ in range(12):
        free = cluster.scatter(draw, down=0.1)
        masks = [sum(1 << g for g in gpus) for gpus in cluster.free]
        for gpus in (1, 2, 5, 16):
            found = places(cluster, gpus) if gpus <= free else []
            assert found == (places(cluster, gpus) if gpus <= free else [])
            most = max(most, len(found))
            for place in found:
                assert [n for n, _ in place] == sorted({n for n, _ in place})
                assert sum(mask.bit_count() for _, mask in place) == gpus
                assert all(mask & ~masks[n] == 0 for n, mask in place)
    assert most <= MOST_CANDIDATES
    assert most == MOST_CANDIDATES or nodes is MIXED
