"""The kinds of events, in the order in which those of one instant are applied."""

from pointsman.types import Event

FINISH, FAIL, CANCEL, STOPPED, NODE_DOWN, NODE_UP, STARTED, START_FAILED, RESIZED, LEVEL, TIMER, SUBMIT, _ = (
    int(e) for e in Event
)
STEP = -1
"""Not an event: something within an iteration is over. It goes before all events of its instant."""
