"""What a gang's communication costs on the tree, against the tree itself, edge by edge."""

import numpy as np
import pytest

from pointsman.cluster import load_cluster
from pointsman.cluster.tree_cost import TreeCost, fewest, proximity

Gpu = tuple[int, int, int]
"""Rack, node in it, GPU on it."""


def edges_to_centre(gpu: Gpu) -> set[tuple]:
    """The edges of the tree from a GPU to the centre, each named by its lower end."""
    rack, node, _ = gpu
    return {("rack", rack), ("node", rack, node), ("gpu", *gpu)}


def path(a: Gpu, b: Gpu) -> set[tuple]:
    """The edges of the only way from one GPU to another."""
    return edges_to_centre(a) ^ edges_to_centre(b)


def cost_by_edges(gpus: list[Gpu]) -> float:
    """The sum of the weights of all edges on ways between any two of the GPUs and the centre."""
    used = set().union(*(edges_to_centre(gpu) for gpu in gpus), *(path(a, b) for a in gpus for b in gpus))
    return sum({"rack": 1 / 2, "node": 1 / 4, "gpu": 1 / 40}[edge[0]] for edge in used)


@pytest.mark.parametrize("racks, nodes, gpus", [(2, 4, 4), (3, 2, 8), (1, 5, 2)])
def test_the_closed_form_is_the_union_of_the_ways(racks: int, nodes: int, gpus: int) -> None:
    draw = np.random.default_rng(5)
    every = [(r, n, g) for r in range(racks) for n in range(nodes) for g in range(gpus)]
    for _ in range(500):
        picked = draw.choice(len(every), size=int(draw.integers(1, len(every) + 1)), replace=False)
        chosen = [every[i] for i in picked]
        spanned = len({gpu[0] for gpu in chosen}), len({gpu[:2] for gpu in chosen}), len(chosen)
        assert TreeCost().of(*spanned) == pytest.approx(cost_by_edges(chosen))


BEST = (0.775, 0.8, 0.825, 0.85, 1.125, 1.15, 1.175, 1.2)
WORST = (0.775, 1.55, 1.825, 2.1, 2.375, 2.65, 2.925, 3.2)


def test_the_ranges_are_those_of_the_authors() -> None:
    layout = load_cluster("topdrl").layout()
    shape = layout.node_gpus, layout.node_rack
    least = [TreeCost().least(*shape, n) for n in range(1, 9)]
    most = [TreeCost().most(*shape, n) for n in range(1, 9)]
    assert least == pytest.approx(BEST)
    assert most == pytest.approx(WORST)
    assert proximity(least[3], least[3], most[3]) == 1
    assert proximity(most[3], least[3], most[3]) == 0
    assert proximity(0.775, least[0], most[0]) == 0  # of one GPU, as in their code


def test_groups_of_unequal_size_are_filled_the_largest_first() -> None:
    assert [fewest(np.array([2, 8, 0, 4]), n) for n in (1, 8, 9, 12, 13, 14, 99)] == [1, 1, 2, 2, 3, 3, 3]
