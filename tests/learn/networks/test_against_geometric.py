"""A layer of MARL's graph networks is SAGEConv of torch-geometric on [h_u, e_uv], where that is installed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
geometric = pytest.importorskip("torch_geometric.nn", reason="no torch-geometric (pip install torch_geometric)")

from pointsman.learn.networks.message_passing import MessagePassing, both_ways  # noqa: E402

VERTICES, WIDTH, FEATURES, OUT = 9, 5, 2, 7
LINKS = np.array([(0, 1), (0, 2), (1, 2), (3, 2), (4, 5), (5, 6), (6, 7), (7, 4), (1, 7)])
"""Vertex 8 has none."""


def test_messages_are_those_of_sage() -> None:
    """Each edge is a vertex of its own in the other graph, which tells the vertex at its end what it would hear."""
    torch.manual_seed(1)
    random = np.random.default_rng(2)
    told = random.random((len(LINKS), FEATURES))
    layer, h = MessagePassing(WIDTH, FEATURES, OUT), torch.rand(3, VERTICES, WIDTH)
    edges = both_ways(LINKS, told, VERTICES)
    ends = np.concatenate([LINKS, LINKS[:, ::-1]])
    heard = torch.cat([h[:, ends[:, 0]], torch.tensor(np.concatenate([told, told])).float().expand(3, -1, -1)], -1)
    into = torch.from_numpy(np.stack([np.arange(len(ends)), ends[:, 1]]))
    sage = geometric.SAGEConv((WIDTH + FEATURES, WIDTH), OUT, aggr="mean")
    with torch.inference_mode():
        sage.lin_l.weight.copy_(layer.heard.weight)
        sage.lin_l.bias.copy_(layer.own.bias)
        sage.lin_r.weight.copy_(layer.own.weight)
        for one in range(3):
            theirs = sage((heard[one], h[one]), into).relu()
            torch.testing.assert_close(layer(h, edges)[one], theirs, atol=1e-6, rtol=1e-5)
