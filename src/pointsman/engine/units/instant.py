"""What happens at an instant but the decision, compiled once for all loops."""

from pointsman.engine.jit.compile import apart
from pointsman.engine.jit.services import body_of
from pointsman.engine.run.loop import instants
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state

_instant = body_of(instants.instant)


@apart("int64(int64, int64, int64)")
def serve(address: Int, what: Int, t: Int) -> Int:
    """See `instants.instant`."""
    return _instant(open_state(address), what, t)
