"""Waits are bounded in this family, whatever the policy ranks jobs by, and beside timers for levels."""

from pointsman.policies.dally.declared import DelayScheduling
from pointsman.policies.dally.delay import loosens_at, settle_for_less, wait
from pointsman.policies.parts.preemption.bounded_waiting import goes_first, watch_wait
from pointsman.policies.parts.preemption.turns import be_called as be_called_for_turn
from pointsman.policies.parts.preemption.turns import bounds_waits, take_turn
from pointsman.policies.sdk import Int, State, core, dequeue, set_alarm, view_of

params = view_of(DelayScheduling)


@core
def bound_wait_anew(S: State, j: Int, dearness: float) -> None:
    """The limit of waiting job `j` may have changed since it was counted."""
    if bounds_waits(S) and not goes_first(S, j):
        set_alarm(S, j, loosens_at(S, j))
        watch_wait(S, j, dearness)


@core
def begin_to_wait(S: State, j: Int, dearness: float) -> None:
    """Job `j`, which is ranked, waits: its timers start."""
    wait(S, j)
    take_turn(S, j, params(S).quantum_ms, dearness)


@core
def be_called(S: State, j: Int, dearness: float) -> None:
    """A timer of waiting job `j` has passed."""
    dequeue(S, j)
    be_called_for_turn(S, j, dearness)
    settle_for_less(S, j)
    take_turn(S, j, params(S).quantum_ms, dearness)
