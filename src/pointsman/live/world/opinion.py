"""What the policy of an observed world would decide, if it were asked."""

from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.plan import Action
from pointsman.types import Event, Outside, Verb


def opinion(world: LiveWorld, now_ms: int) -> list[Action]:
    """What the policy would decide at `now_ms`, between two turns, whatever rounds it has: whom it would preempt, and
    whom start, be it on GPUs that are free only then.

    Raises:
        UsageError: the policy is written in Python and has no ``copy``. RunError: it failed.
    """
    other = world.copy()
    at_ms = let_decide(other, now_ms)
    actions = other.advance(at_ms)
    stops = [action.row for action in actions if action.verb == Verb.PREEMPT]
    if not stops:
        return actions
    for row in stops:
        other.tell(Event.STOPPED, row, at_ms + 1)
    return [*actions, *other.advance(at_ms + 1)]


def let_decide(world: LiveWorld, now_ms: int) -> int:
    """The policy of an observed world decides from now on. It knows what it has learnt, and nothing of decisions that
    it has not taken. When it will be asked first, ms.
    """
    world.simulation.handle.state.g["outside"] = Outside.EVENTS
    policy, at_ms = world.simulation.policy, now_ms
    if not getattr(policy, "briefed", False):  # else it goes on with its books
        world.relieve(policy)
        at_ms += 1  # when jobs that have waited for longer than they should are called
    world.simulation.handle.state.g["wake"] = at_ms
    return at_ms
