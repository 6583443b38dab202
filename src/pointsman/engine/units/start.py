"""The verb `start`, compiled once."""

from pointsman.engine.actions import verbs
from pointsman.engine.jit.compile import apart
from pointsman.engine.jit.services import body_of
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state

_start = body_of(verbs.start)


@apart("int64(int64, int64, int64)")
def serve(address: Int, j: Int, reason: Int) -> Int:
    """Start job `j`."""
    return _start(open_state(address), j, reason)
