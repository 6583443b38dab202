"""Which GPUs each picker gives a gang: by hand, and on thousands of random states."""

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from pointsman.cluster.tree_cost import TreeCost
from pointsman.engine.index.free_gpus import give, set_node_state, take
from pointsman.engine.jit.compile import core, exported
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_state
from pointsman.policies.pickers.gpu_pickers import (
    ANCHOR,
    FIRST_AVAILABLE,
    GPU_PICKERS,
    LOAD_BALANCE,
    NEAREST,
    RANDOM,
    choose_gpus,
)
from pointsman.policies.pickers.pick_place import PickMemory
from pointsman.policies.sdk import view_of
from tests.against_oracle.replay import simulation_of
from tests.engine.jit.compiled import compiled
from tests.oracle.gpu_pickers import PICKERS, Edges, offer_of
from tests.oracle.instances import Instance
from tests.oracle.model import Job, Node

RACKS_OF_FOUR = tuple(Node(4, rack=n // 4) for n in range(8))
"""The authors' 2 × 4 × 4."""
WIDER = tuple(Node(4, rack=n // 4) for n in range(24))
MIXED = tuple(Node((8, 3, 1, 4)[n % 4], rack=n // 3, gpu_type="ab"[n % 2]) for n in range(15))

Places = list[tuple[int, int]]
memory = view_of(PickMemory)


@core
def _occupy(S: State, n: Int, mask: Int) -> None:
    N = S.nodes[n]
    back = ~N.free_mask & ((np.int64(1) << N.gpus) - 1)
    k = np.int64(0)
    for b in range(N.gpus):
        k += back >> b & 1
    if k > 0:
        give(S, n, back, k)
    k = np.int64(0)
    for b in range(N.gpus):
        k += mask >> b & 1
    if k > 0:
        take(S, n, mask, k)


@exported("void(int64, int64, int64, int64)")
def occupy(address: int, n: int, mask: int, state: int) -> None:
    """Of node `n`, in this state, these GPUs are taken and no others."""
    S = open_state(address)
    set_node_state(S, n, np.int64(0))
    _occupy(S, n, mask)
    set_node_state(S, n, state)


@exported("int64(int64, int64, int64)")
def choose(address: int, j: int, how: int) -> int:
    S = open_state(address)
    return np.int64(S.g[0].placed) if choose_gpus(S, j, how, memory(S).draws) else np.int64(-1)


class Cluster:
    """A cluster whose GPUs are taken by nobody in particular, and waiting jobs of 1 GPU and more."""

    def __init__(self, nodes: tuple[Node, ...], gpu_type: str = "") -> None:
        jobs = tuple(Job(0, gpus, 1000, gpu_type=gpu_type) for gpus in range(1, sum(n.gpus for n in nodes) + 1))
        instance = Instance(
            seed=0, nodes=nodes, jobs=jobs, policy="fifo", params={}, placement="spread", overheads={},
            queue_limits={}, script=(), rate_by_locality=(1.0,) * 5, round_ms=0,
        )  # fmt: skip
        self.nodes, self.simulation = nodes, simulation_of(instance)
        self.state = self.simulation.handle.state
        self.address = np.int64(self.simulation.handle.address)
        self.state.jobs["cls"][: len(jobs)] = np.arange(len(jobs))
        self.free: list[list[int]] = [list(range(node.gpus)) for node in nodes]

    def take(self, taken: list[set[int]], states: list[int] | None = None) -> None:
        """These GPUs of each node are taken, the others free."""
        self.free = [[g for g in range(node.gpus) if g not in t] for node, t in zip(self.nodes, taken, strict=True)]
        for n, gpus in enumerate(taken):
            state = states[n] if states else 0
            taken = np.int64(sum(1 << g for g in gpus))
            compiled(occupy)(self.address, np.int64(n), taken, np.int64(state))

    def scatter(self, draw: np.random.Generator, down: float = 0.0) -> int:
        """Any GPUs are taken, any nodes down; how many are free."""
        share = draw.uniform(0.02, 1.0)
        taken = [set(np.flatnonzero(draw.uniform(size=node.gpus) < share).tolist()) for node in self.nodes]
        states = [2 * int(draw.uniform() < down) for _ in self.nodes]
        self.take(taken, states)
        self.free = [[] if state else gpus for gpus, state in zip(self.free, states, strict=True)]
        return sum(map(len, self.free))

    def choose(self, gpus: int, how: int) -> Places | None:
        """The GPUs a gang gets, (node, GPU)."""
        placed = compiled(choose)(self.address, np.int64(gpus - 1), np.int64(how))
        if placed < 0:
            return None
        parts = [(int(p["node"]), int(p["mask"]), int(p["gpus"])) for p in self.state.place[:placed]]
        assert [node for node, _, _ in parts] == sorted({node for node, _, _ in parts})
        assert all(mask.bit_count() == k for _, mask, k in parts)
        return [(node, g) for node, mask, _ in parts for g in range(64) if mask >> g & 1]

    def cost(self, place: Places) -> float:
        nodes = {node for node, _ in place}
        return TreeCost().of(len({self.nodes[n].rack for n in nodes}), len(nodes), len(place))


def states(nodes: tuple[Node, ...], trials: int, widest: int, seed: int = 1) -> Iterator[tuple[Cluster, int]]:
    """Random states of a cluster, and for each a gang that it has GPUs for (by type: the first that has enough)."""
    draw, cluster = np.random.default_rng(seed), Cluster(nodes)
    for _ in range(trials):
        free = cluster.scatter(draw)
        gpus = int(draw.integers(1, min(max(free, 1), widest) + 1))
        if cluster.choose(gpus, NEAREST) is not None:
            yield cluster, gpus


@pytest.mark.parametrize("nodes", [RACKS_OF_FOUR, MIXED], ids=["alike", "mixed"])
@pytest.mark.parametrize("gpu_type", ["", "b"])
def test_a_gang_gets_as_many_free_gpus_as_it_asks_for_of_the_right_kind(nodes: tuple[Node, ...], gpu_type: str) -> None:
    if gpu_type and not nodes[0].gpu_type:
        pytest.skip("of one kind")
    draw, cluster = np.random.default_rng(2), Cluster(nodes, gpu_type)
    kinds = list(dict.fromkeys(node.gpu_type for node in nodes))
    for _ in range(150):
        cluster.scatter(draw, down=0.2)
        of_kind = {k: sum(len(f) for n, f in zip(nodes, cluster.free, strict=True) if n.gpu_type == k) for k in kinds}
        for gpus in (1, 2, 3, 7):
            for how in range(len(GPU_PICKERS)):
                place = cluster.choose(gpus, how)
                choices = [gpu_type] if gpu_type else kinds
                if all(of_kind[k] < gpus for k in choices):
                    assert place is None
                    continue
                assert place is not None and len(place) == gpus
                assert all(g in cluster.free[n] for n, g in place)
                used = {nodes[n].gpu_type for n, _ in place}
                assert used == {next(k for k in choices if of_kind[k] >= gpus)}


@pytest.mark.parametrize("nodes", [RACKS_OF_FOUR, WIDER, MIXED], ids=["alike", "six racks", "mixed"])
def test_the_oracle_chooses_the_same(nodes: tuple[Node, ...]) -> None:
    """Semantics.md §12, on more nodes and racks than its random instances have."""
    alternatives = [
        [n for n, node in enumerate(nodes) if node.gpu_type == kind]
        for kind in dict.fromkeys(n.gpu_type for n in nodes)
    ]
    for cluster, gpus in states(nodes, 400, 40, seed=5):
        free = {(n, g) for n, there in enumerate(cluster.free) for g in there}
        offers = [offer_of(nodes, eligible, free, Edges()) for eligible in alternatives]
        offer = next(offer for offer in offers if sum(map(len, offer.free.values())) >= gpus)
        for name, choose in PICKERS.items():
            found = cluster.choose(gpus, GPU_PICKERS.index(name))
            assert frozenset(found or ()) == choose(offer.afresh(), gpus).place(), (name, gpus, free)


# -- nearest ----------------------------------------------------------------------------------------------


def dearer_than_first(nodes: tuple[Node, ...], trials: int, widest: int) -> dict[str, int]:
    """How often each picker's place costs more than the first GPUs available."""
    found = dict.fromkeys(GPU_PICKERS, 0)
    for cluster, gpus in states(nodes, trials, widest):
        costs = [cluster.cost(cluster.choose(gpus, how) or []) for how in range(len(GPU_PICKERS))]
        for name, cost in zip(GPU_PICKERS, costs, strict=True):
            found[name] += cost > costs[FIRST_AVAILABLE] + 1e-9
    return found


@pytest.mark.slow
def test_the_nearest_never_cost_more_than_the_first_available_and_the_authors_sometimes_do() -> None:
    found = dearer_than_first(RACKS_OF_FOUR, 10_000, 16)
    assert found["nearest"] == 0
    assert 50 < found["anchor"] < 150  # 92
    assert found["random"] > 5000


@pytest.mark.parametrize("nodes", [WIDER, MIXED], ids=["six racks", "mixed"])
def test_nor_do_they_on_other_clusters(nodes: tuple[Node, ...]) -> None:
    assert dearer_than_first(nodes, 500, 40)["nearest"] == 0


def cheapest(cluster: Cluster, gpus: int) -> float:
    """The least cost of any place, over all sets of racks."""
    sizes = [len(free) for free in cluster.free]
    racks = sorted({node.rack for node in cluster.nodes})
    costs = []
    for chosen in itertools.chain.from_iterable(itertools.combinations(racks, k) for k in range(1, len(racks) + 1)):
        fullest = sorted((s for s, n in zip(sizes, cluster.nodes, strict=True) if n.rack in chosen), reverse=True)
        whole = np.cumsum(fullest)
        if whole[-1] >= gpus:
            costs.append(TreeCost().of(len(chosen), int(np.searchsorted(whole, gpus)) + 1, gpus))
    return min(costs)


def test_on_two_racks_the_nearest_are_the_cheapest_there_are() -> None:
    for cluster, gpus in states(RACKS_OF_FOUR, 1000, 32):
        assert cluster.cost(cluster.choose(gpus, NEAREST) or []) == pytest.approx(cheapest(cluster, gpus))


def test_on_six_racks_they_are_nearly() -> None:
    ratios = [
        cluster.cost(cluster.choose(gpus, NEAREST) or []) / cheapest(cluster, gpus)
        for cluster, gpus in states(WIDER, 300, 40)
    ]
    assert np.mean(ratios) < 1.03


def taken(*free: int) -> list[set[int]]:
    """GPUs of nodes of four that are taken where so many are free, those of highest index."""
    return [set(range(4 - k)) for k in free]


def test_a_gang_that_fits_a_node_goes_where_it_fits_best() -> None:
    cluster = Cluster(RACKS_OF_FOUR)
    cluster.take(taken(4, 3, 2, 4, 4, 4, 2, 4))
    assert cluster.choose(2, NEAREST) == [(2, 2), (2, 3)]
    assert cluster.choose(3, NEAREST) == [(1, 1), (1, 2), (1, 3)]


def test_a_wider_one_goes_to_the_fewest_nodes_of_one_rack_and_the_rest_where_it_fits_best() -> None:
    cluster = Cluster(RACKS_OF_FOUR)
    cluster.take(taken(3, 3, 3, 3, 1, 4, 2, 0))
    assert {n for n, _ in cluster.choose(6, NEAREST) or []} == {5, 6}  # 4 and 2, none left over
    assert {n for n, _ in cluster.choose(7, NEAREST) or []} == {4, 5, 6}  # 4, 2 and 1, none left over


def test_two_full_nodes_in_two_racks_may_be_closer_than_many_in_one() -> None:
    cluster = Cluster(tuple(Node(8, rack=n // 8) for n in range(24)))
    cluster.take([set(range(7))] * 8 + [set(range(4))] + [set(range(8))] * 7 + [set(range(4))] + [set(range(8))] * 7)
    place = cluster.choose(8, NEAREST) or []
    assert {n for n, _ in place} == {8, 16}  # 0.5·2 + 0.25·2 against 0.5 + 0.25·8


# -- the others -------------------------------------------------------------------------------------------


def distance(a: int, b: int, nodes: tuple[Node, ...]) -> float:
    return 1 / 40 if a == b else 1 / 4 if nodes[a].rack == nodes[b].rack else 1 / 2


def by_anchor(cluster: Cluster, gpus: int) -> Places:
    """docs/papers/topdrl.md §6 as it stands, less its bugs."""
    nodes, free = cluster.nodes, [len(f) for f in cluster.free]
    in_rack = {r: [n for n in range(len(nodes)) if nodes[n].rack == r] for r in {node.rack for node in nodes}}
    rack_free = {r: sum(free[n] for n in members) for r, members in in_rack.items()}
    most = max(rack_free, key=lambda r: rack_free[r])
    fewest = min((r for r in rack_free if rack_free[r]), key=lambda r: rack_free[r])
    fullest = {r: max(in_rack[r], key=lambda n: free[n]) for r in in_rack}
    if gpus > 4:
        anchor = fullest[most]
    elif gpus > 1:
        candidates = [n for n in in_rack[fewest] if free[n] >= gpus] or [n for n in in_rack[most] if free[n] >= gpus]
        anchor = min(candidates, key=lambda n: free[n]) if candidates else fullest[most]
    else:
        anchor = fullest[fewest]
    every = [(n, g) for n in range(len(nodes)) for g in cluster.free[n]]
    return sorted(sorted(every, key=lambda gpu: distance(anchor, gpu[0], nodes))[:gpus])


def by_load(cluster: Cluster, gpus: int) -> Places:
    """`LoadBalance` of the authors: down the tree to the child with most, then its GPUs in the same order."""
    free = {n: [(n, g) for g in gpus_free] for n, gpus_free in enumerate(cluster.free)}
    racks: dict[int, list[int]] = {}
    for n, node in enumerate(cluster.nodes):
        racks.setdefault(node.rack, []).append(n)
    order = sorted(racks.values(), key=lambda members: -sum(len(free[n]) for n in members))
    ranked = [n for members in order for n in sorted(members, key=lambda n: -len(free[n]))]
    return sorted([gpu for n in ranked for gpu in free[n]][:gpus])


def by_index(cluster: Cluster, gpus: int) -> Places:
    return [(n, g) for n, free in enumerate(cluster.free) for g in free][:gpus]


@pytest.mark.parametrize("how, rule", [(ANCHOR, by_anchor), (LOAD_BALANCE, by_load), (FIRST_AVAILABLE, by_index)])
@pytest.mark.parametrize("nodes", [RACKS_OF_FOUR, WIDER], ids=["two racks", "six racks"])
def test_the_gpus_are_those_of_the_rule(
    how: int, rule: Callable[[Cluster, int], Places], nodes: tuple[Node, ...]
) -> None:
    for cluster, gpus in states(nodes, 500, 20):
        assert cluster.choose(gpus, how) == rule(cluster, gpus)


def test_random_gpus_follow_from_the_seed_and_every_set_is_as_likely() -> None:
    cluster = Cluster(RACKS_OF_FOUR)
    cluster.take(taken(1, 0, 1, 1, 0, 0, 2, 0))
    drawn = []
    for _ in range(3000):
        drawn.append(tuple(cluster.choose(2, RANDOM) or []))
    sets = sorted(set(drawn))
    assert len(sets) == 10  # of 5 GPUs, 2
    assert all(230 < drawn.count(chosen) < 370 for chosen in sets)
    draws = PickMemory(cluster.state.memory).draws
    draws.count = 0
    assert [tuple(cluster.choose(2, RANDOM) or []) for _ in range(50)] == drawn[:50]
    draws.count, draws.seed = 0, 1
    assert [tuple(cluster.choose(2, RANDOM) or []) for _ in range(50)] != drawn[:50]
