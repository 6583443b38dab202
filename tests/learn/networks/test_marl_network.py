"""MARL's network: the messages by hand, what it starts from, and that it does not matter how things are numbered."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

from pointsman.cluster import load_cluster  # noqa: E402
from pointsman.learn.networks.choices import COSTS, FORWARD, MAY_FORWARD, MAY_WAIT, SCATTERED  # noqa: E402
from pointsman.learn.networks.cluster_graphs import (  # noqa: E402
    CARD,
    GPU,
    NODE,
    PCIE,
    SCHEDULER,
    SOCKET,
    SOCKET_LINK,
    SWITCH,
    graphs_of,
)
from pointsman.learn.networks.marl import MarlConfig, MarlNetwork  # noqa: E402
from pointsman.learn.networks.message_passing import MessagePassing, both_ways  # noqa: E402

CLUSTER, OWNER = "4x4/rack=1,nic=10Gbps", np.array([0, 0, 1, 1])
SHAPES = {
    "job": (15,), "owner": (2,), "candidates": (32, 8), "touched": (32, 4), "gpus": (16, 6), "nodes": (4, 3),
    "schedulers": (2, 3),
}  # fmt: skip


def network(**config: object) -> MarlNetwork:
    torch.manual_seed(1)
    made = MarlNetwork(MarlConfig(**config), SHAPES, 34)
    made.graphs = graphs_of(load_cluster(CLUSTER), OWNER)
    return made


def seen(batch: int = 3) -> dict[str, torch.Tensor]:
    drawn = torch.Generator().manual_seed(2)
    found = {name: torch.rand(batch, *shape, generator=drawn) for name, shape in SHAPES.items()}
    found["owner"] = torch.eye(2)[torch.arange(batch) % 2]
    found["candidates"][..., SCATTERED] = 0.0
    return found


def linked(edges: "object") -> set[tuple[int, int]]:
    pairs = edges.average.indices().T.tolist()  # ty: ignore
    return {(min(pair), max(pair)) for pair in map(tuple, pairs)}


def test_a_layer_is_what_it_says() -> None:
    """0 - 1 - 2, and 3 without an edge."""
    links, told = np.array([[0, 1], [1, 2]]), np.array([[0.5], [0.25]])
    edges, layer = both_ways(links, told, 4), MessagePassing(2, 1, 3)
    h = torch.rand(2, 4, 2)
    heard = {0: [(1, 0.5)], 1: [(0, 0.5), (2, 0.25)], 2: [(1, 0.25)], 3: []}
    for b in range(2):
        for v, neighbours in heard.items():
            wanted = layer.own(h[b, v])
            for u, feature in neighbours:
                wanted = wanted + layer.heard(torch.cat([h[b, u], torch.tensor([feature])])) / len(neighbours)
            torch.testing.assert_close(layer(h, edges)[b, v], wanted.relu())


def test_the_graphs_of_two_nodes() -> None:
    r"""One node of two GPUs on two sockets in each of two racks, each rack with a scheduler of its own::

    GPU 0 - PCIe 4 - cores 5 \                      node 0 - rack 2
                              link 8 - card 9                     \  cluster 4 ...
    GPU 1 - PCIe 6 - cores 7 /                      node 1 - rack 3
    """
    graphs = graphs_of(load_cluster("2x2/rack=1,nic=10Gbps"), np.array([0, 1]))
    assert graphs.parts.tolist() == [GPU] * 4 + [PCIE, SOCKET, PCIE, SOCKET, SOCKET_LINK, CARD] * 2
    assert graphs.node_of.tolist() == [0, 0, 1, 1] + [0] * 6 + [1] * 6
    first = {(0, 4), (4, 5), (1, 6), (6, 7), (5, 8), (7, 8), (8, 9)}
    second = {(2, 10), (10, 11), (3, 12), (12, 13), (11, 14), (13, 14), (14, 15)}
    assert linked(graphs.inside) == first | second
    kinds = graphs.kinds.tolist()
    assert kinds[:2] == [NODE] * 2 and kinds[-2:] == [SCHEDULER] * 2 and set(kinds[2:-2]) == {SWITCH}
    last = len(kinds) - 1
    assert {(0, 2), (1, 3), (2, last - 1), (3, last), (last - 1, last)} <= linked(graphs.among)


def test_it_starts_as_the_scorer_with_its_patience() -> None:
    made, now = network(), seen()
    told = now["candidates"][..., :COSTS]
    costs = (told / (1 - told)) @ torch.tensor(MarlConfig().weights)

    def choices() -> list[int]:
        with torch.no_grad():
            chosen = made(now)[0].argmax(1)
        assert (chosen == made.usual(now)).all()
        return chosen.tolist()

    assert choices() == costs.argmin(1).tolist()
    now["candidates"][:, 1:, SCATTERED] = 1.0  # and the job is patient
    assert choices() == [0] * 3
    now["candidates"][:, 0, SCATTERED] = 1.0
    now["job"][:, MAY_FORWARD], now["job"][:, MAY_WAIT] = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([1.0, 1.0, 0.0])
    assert choices() == [32, 33, int(costs[2].argmin())]
    now["candidates"][:] = 0.0  # its scheduler has no place
    now["touched"][:] = 0.0
    assert choices()[:2] == [32, 33]


def test_another_choice_must_seem_better_by_more_than_the_caution() -> None:
    for caution, overruled in ((0.5, True), (2.0, False)):
        made, now = network(caution=caution), seen(1)
        usual = int(made.usual(now)[0])
        made.instead[-1].bias.data[:] = 1.0  # all but the candidates, by this much
        with torch.no_grad():
            chosen = int(made(now)[0].argmax(1)[0])
        assert (chosen >= 32) == overruled and (chosen == usual) != overruled


@pytest.mark.parametrize("graph", [True, False])
def test_the_order_of_candidates_and_of_nodes_is_nothing(graph: bool) -> None:
    made, now = network(graph=graph, caution=0.0), seen()
    for parameter in made.parameters():  # first weights say next to nothing
        parameter.data += 0.1 * torch.randn(parameter.shape)
    order = torch.randperm(32)
    shuffled = now | {name: now[name][:, order] for name in ("candidates", "touched")}
    with torch.no_grad():
        (logits, value), (other, same) = made(now), made(shuffled)
        torch.testing.assert_close(logits[:, :FORWARD][:, order], other[:, :FORWARD])
        torch.testing.assert_close((logits[:, FORWARD:], value), (other[:, FORWARD:], same))
        swap = torch.tensor([1, 0, 3, 2])  # nodes of the same scheduler
        gpus = (4 * swap[:, None] + torch.arange(4)).flatten()
        moved = now | {
            "touched": now["touched"][..., swap],
            "nodes": now["nodes"][:, swap],
            "gpus": now["gpus"][:, gpus],
        }
        torch.testing.assert_close(made(moved), (logits, value))
        flip = torch.tensor([3, 2, 1, 0])
        gpus = (4 * flip[:, None] + torch.arange(4)).flatten()
        moved = {name: part[:, [1, 0]] if name in ("owner", "schedulers") else part for name, part in now.items()}
        moved |= {"touched": now["touched"][..., flip], "nodes": now["nodes"][:, flip], "gpus": now["gpus"][:, gpus]}
        torch.testing.assert_close(made(moved), (logits, value))


def test_it_judges_by_messages_from_afar() -> None:
    """A job on a node changes what is said of another node in its rack, but not without messages."""
    for graph in (True, False):
        made, now = network(graph=graph), seen(1)
        torch.nn.init.normal_(made.candidate[-1].weight)  # which begins at 0
        now["touched"][:] = torch.eye(4)[torch.arange(32) % 4]
        other = now | {"gpus": now["gpus"].clone()}
        other["gpus"][:, 4:8] = 1.0
        with torch.no_grad():
            changed = (made(now)[0] - made(other)[0])[0, [0, 2, 3]]
        assert bool((changed != 0).any()) == graph


def test_weights_and_time_are_within_the_budget() -> None:
    assert 4 * sum(parameter.numel() for parameter in network().parameters()) < 1 << 20
