"""Taking over a state from another policy."""

from pointsman.engine.jit.compile import exported
from pointsman.engine.run.loop import takeover
from pointsman.engine.state.records import Int


@exported("void(int64)")
def adopt(address: Int) -> None:
    """Take over a state that another policy left."""
    takeover.adopt(address)


@exported("void(int64)")
def reschedule(address: Int) -> None:
    """Put the next event of every job into the heap anew."""
    takeover.reschedule(address)
