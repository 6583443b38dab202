"""What is free of an alternative, at the edges of a word."""

import numpy as np
import pytest

from pointsman.engine.jit.compile import exported
from pointsman.engine.placement.eligible import some_node_with
from pointsman.engine.state.state_pointer import open_state
from tests.engine.jit.compiled import compiled
from tests.oracle.model import Node

from .pickers.test_gpu_pickers import Cluster


@exported("int64(int64, int64)")
def has(address: int, k: int) -> int:
    S = open_state(address)
    return np.int64(some_node_with(S, S.alts[0], k))


@pytest.mark.parametrize(("gpus", "most"), [(64, 64), (63, 63), (4, 4)])
def test_no_node_has_more_than_the_largest(gpus: int, most: int) -> None:
    """A shift by 64 and more is that by 0 and more on some machines, and by 63 on others."""
    cluster = Cluster((Node(gpus), Node(1)))
    found = [k for k in range(1, 200) if compiled(has)(cluster.address, np.int64(k))]
    assert found == list(range(1, most + 1))
