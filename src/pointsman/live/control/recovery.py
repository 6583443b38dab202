"""A daemon goes on where the one before it died: from a checkpoint and what the journal says since."""

from collections.abc import Sequence
from typing import Final

from pointsman.live.backends.protocol import Backend
from pointsman.live.control.loop import RELIEVED, ControlLoop
from pointsman.live.records.store import Store
from pointsman.live.world.checkpoint import OTHER_WORLD, NotAlike, identity, restore
from pointsman.live.world.growing import grow
from pointsman.live.world.live_world import Ask, LiveWorld
from pointsman.live.world.roster import Roster
from pointsman.live.world.seating import ask_for, preempt_there, start_there
from pointsman.policies.registry import get_policy
from pointsman.types import Event, NodeState, Told

_FIRST: Final = "first_world"
"""Under which name the store keeps the digest of the world in which its journal begins."""


def recovered(
    world: LiveWorld,
    store: Store,
    backend: Backend,
    node_names: Sequence[str],
    roster: Roster | None = None,
    kind: type[ControlLoop] = ControlLoop,
) -> ControlLoop:
    """The loop goes on where the one before it died: with `world`, which has not begun, by the store.

    `roster`: all kinds of jobs that have come, where the world was made for those of the last checkpoint.

    Raises:
        NotAlike: the world is not like the one before, and nothing has happened yet to either.
    """
    if (name := store.setting(RELIEVED)) is not None:
        world.relieve(get_policy(name).make())
    _replay(world, store, roster)
    return going_on(world, store, backend, node_names, kind)


def going_on(
    world: LiveWorld,
    store: Store,
    backend: Backend,
    node_names: Sequence[str],
    kind: type[ControlLoop] = ControlLoop,
) -> ControlLoop:
    """A loop for a world that is as the store says."""
    loop = kind(world, store, backend, node_names, jobs=store.alive_jobs(), held=store.held_jobs())
    loop.jobs_of.update(job.uid for job in loop.jobs.values())
    loop.nodes = {name: state for name, state in store.nodes().items() if name in node_names}
    for attempt in store.alive_attempts():
        loop.know(attempt.as_promised(loop.jobs[attempt.id.job]))
    return loop


def _check_first(world: LiveWorld, store: Store) -> None:
    """That the journal, which begins with the first world, is of one like this.

    Raises:
        NotAlike: it is of another.
    """
    mine = identity(world)
    kept = store.setting(_FIRST)
    if kept is None:
        with store.turn():
            store.keep_setting(_FIRST, mine)
    elif kept != mine:
        raise NotAlike(OTHER_WORLD)


def _replay(world: LiveWorld, store: Store, roster: Roster | None) -> None:
    """From its checkpoint, by the journal: the same that was told before leads to the same."""
    seq = 0
    if (kept := store.last_checkpoint()) is not None:
        seq, data = kept
        restore(world, data)
    else:
        _check_first(world, store)
    for told in store.told_since(seq):
        if told.what == "submit":
            world.submit(Ask(*told.args), told.at_ms)
        elif told.what == "tell":
            kind, state = told.args
            world.tell(
                Event(kind) if kind in {int(e) for e in Event} else Told(kind), told.row, told.at_ms, state=state
            )
        elif told.what == "ask":
            ask_for(world, told.row, Ask(*told.args))
        elif told.what == "start":
            start_there(world, told.row, told.args)
        elif told.what == "preempt":
            preempt_there(world, told.row)
        elif told.what == "node":
            world.tell_node(told.row, NodeState(told.args), told.at_ms)
        elif told.what == "grow" and roster is not None:
            known = roster.first(told.args)
            grow(world, known.prepared, known.briefing, store.kinds_of(world.rows()))
        else:
            world.advance(told.at_ms)
