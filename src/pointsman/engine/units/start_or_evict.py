"""The verb `start_or_evict`, compiled once."""

from pointsman.engine.actions import eviction
from pointsman.engine.jit.compile import apart
from pointsman.engine.jit.services import body_of
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state

_start_or_evict = body_of(eviction.start_or_evict)


@apart("int64(int64, int64, float64, int64)")
def serve(address: Int, j: Int, bar: float, running: Int) -> Int:
    """Start job `j`, evicting worse ones if that makes room."""
    return _start_or_evict(open_state(address), j, bar, running)
