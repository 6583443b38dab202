"""Another world goes on where one was: it knows more kinds of jobs, or its policy, cluster or version is another."""

from collections.abc import Mapping

from pointsman.live.control.loop import RELIEVED, ControlLoop
from pointsman.live.records.job import Job
from pointsman.live.world.growing import grow
from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.roster import Roster
from pointsman.live.world.seating import seats_of, take_seats
from pointsman.types import NodeState


def grow_in_place(loop: ControlLoop, roster: Roster) -> None:
    """The world knows all kinds of jobs of `roster` from now on.

    Raises:
        BackendError: that could not be kept, and this process must end. RunError: its policy keeps books on users.
    """
    with loop.store.turn():
        loop.store.keep_kinds(roster.numbers)
        loop.store.note(loop.world.now_ms, "grow", 0, len(roster.numbers))
        grow(loop.world, roster.prepared, roster.briefing, loop.store.kinds_of(loop.world.rows()))
        loop.keep_checkpoint()  # to grow again takes as long as many turns


def successor(before: LiveWorld, jobs: Mapping[int, Job], roster: Roster) -> LiveWorld:
    """A world of `roster` in which all jobs of the one before have their seats; `jobs` are these, by row.

    Raises:
        UsageError: its policy cannot run live.
    """
    world = roster.world()
    asks = {row: roster.asked_anew(job.ask, job.kind, job.limit_ms) for row, job in jobs.items()}
    take_seats(world, seats_of(before, asks), before.now_ms, before.rows_so_far)
    return world


def go_on_in(loop: ControlLoop, world: LiveWorld, roster: Roster, settings: Mapping[str, str], now_ms: int) -> None:
    """A world of `roster` in which all jobs have their seats goes on, and its policy looks at all that waits.
    `settings` are kept with it.

    Raises:
        BackendError: it could not be kept, and this process must end.
    """
    now_ms = max(now_ms, world.now_ms)
    loop.go_on_in(world)
    for name, state in loop.nodes.items():
        if state != NodeState.UP:
            world.tell_node(loop.node_names.index(name), state, world.now_ms)  # before its policy looks at anything
    with loop.store.turn():
        loop.store.keep_kinds(roster.numbers)
        for id_, job in loop.jobs.items():
            loop.store.renumber_kind(id_, roster.numbers[job.kind])
        for key, value in settings.items():
            loop.store.keep_setting(key, value)
        loop.store.forget_setting(RELIEVED)
        loop.decide(now_ms, since_ms=now_ms)  # the policy looks at the world as it was in the last turn
        loop.keep_checkpoint()
    loop.act()
