"""The verb `move`, compiled once."""

from pointsman.engine.actions import moving
from pointsman.engine.jit.compile import apart
from pointsman.engine.jit.services import body_of
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import open_state

_move = body_of(moving.move)


@apart("int64(int64, int64, int64)")
def serve(address: Int, v: Int, level: Int) -> Int:
    """Move running job `v` to a place at `level` or tighter."""
    return _move(open_state(address), v, level)
