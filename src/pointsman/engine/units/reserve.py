"""The verb `reserve`, compiled once."""

from pointsman.engine.actions import reserving
from pointsman.engine.jit.compile import apart
from pointsman.engine.jit.services import body_of
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state

_reserve = body_of(reserving.reserve)


@apart("float64(int64, int64)")
def serve(address: Int, head: Int) -> float:
    """Reserve GPUs for waiting job `head`."""
    return _reserve(open_state(address), head)
