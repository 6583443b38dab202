"""LWF-κ alone: its placement, while transfers begin as soon as they are ready, however many share a node."""

from pointsman.policies.lwf.declared import Lwf
from pointsman.policies.lwf.placement import place_waiting, wait
from pointsman.policies.sdk import Int, State, core

__all__ = ["Lwf", "decide", "on_event", "on_run"]


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins the line."""
    if j >= 0:
        wait(S, j)


@core
def on_run(S: State, j: Int) -> None:
    """Nothing to know about running jobs."""


@core
def decide(S: State) -> None:
    """Place who waits."""
    place_waiting(S)
