"""What the policy of an observed world would decide, if it were asked."""

from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.plan import Action
from pointsman.types import Event, Outside, Verb


def opinion(world: LiveWorld, now_ms: int) -> list[Action]:
    """What the policy would decide at `now_ms`, between two turns, whatever rounds it has: whom it would preempt, and
    whom start, be it on GPUs that are free only then. It knows what it has learnt, and nothing of decisions that it has
    not taken.

    Raises:
        UsageError: the policy is written in Python and has no ``copy``. RunError: it failed.
    """
    other = world.copy()
    other.simulation.handle.state.g["outside"] = Outside.EVENTS
    policy, at_ms = other.simulation.policy, now_ms
    if not getattr(policy, "briefed", False):  # else it goes on with its books
        other.relieve(policy)
        at_ms += 1  # when jobs that have waited for longer than they should are called
    other.simulation.handle.state.g["wake"] = at_ms
    actions = other.advance(at_ms)
    stops = [action.row for action in actions if action.verb == Verb.PREEMPT]
    if not stops:
        return actions
    for row in stops:
        other.tell(Event.STOPPED, row, at_ms + 1)
    return [*actions, *other.advance(at_ms + 1)]
