"""What users and operators want is done, within a turn of the loop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from pointsman.inputs.durations import duration
from pointsman.live.control.orders import Changed, NodeOrder, Order, UserOrder, Verb
from pointsman.live.control.promises import Promises
from pointsman.live.control.reconcile import Happened
from pointsman.live.control.safety import Pauses
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.seating import ask_for
from pointsman.types import Event, JobState, Told

_CHANGE: Final = "change"
"""In the audit table."""


class Loop(Protocol):
    """What of a control loop is needed here."""

    world: LiveWorld
    store: Store
    jobs: dict[int, Job]
    held: set[int]
    pauses: Pauses
    promises: Promises

    def attempt_of(self, job: int) -> Attempt | None: ...

    def tell(self, happened: Happened, now_ms: int) -> None: ...

    def withdraw(self, attempt: Attempt, cause: Cause, now_ms: int) -> None: ...

    def keep(self, attempt: Attempt) -> None: ...

    def know(self, attempt: Attempt) -> None: ...

    def decide(self, now_ms: int) -> None: ...

    def end(self, job: int, state: JobState, now_ms: int) -> None: ...


def obey(loop: Loop, orders: Sequence[Order], now_ms: int) -> None:
    """An order that does not fit the state of its job changes nothing."""
    change(loop, [order for order in orders if isinstance(order, Changed)], now_ms)
    for order in orders:
        if not isinstance(order, Changed):
            _obey(loop, order, now_ms)


def _obey(loop: Loop, order: UserOrder, now_ms: int) -> None:
    if isinstance(order, NodeOrder):
        loop.store.want_node(order.node, order.wanted, order.reason or None)
        loop.store.note_order(now_ms, order.uid, f"node {order.wanted.name}", order.node, order.reason)
    elif order.job in loop.jobs:
        target = loop.jobs[order.job].shown or str(order.job)
        _OBEYING[order.verb](loop, order.job, now_ms)
        loop.store.note_order(now_ms, order.uid, order.verb, target)


def change(loop: Loop, changes: Sequence[Changed], now_ms: int) -> None:
    """Jobs that wait are taken from the queue, and put back into it with what they ask for now: they keep their
    numbers, their times of submission and all that has happened to them. Of one that has GPUs only the time limit is
    another.
    """
    waiting = [one for one in changes if loop.attempt_of(one.job) is None]
    in_queue = {one.job for one in waiting if one.job not in loop.held and loop.pauses.of(one.job) is None}
    for job in in_queue:
        loop.tell(Happened(Told.HOLD, job), now_ms)
    if waiting:
        loop.decide(now_ms)  # until then they are in the queue
    for one in changes:
        attempt, before = loop.attempt_of(one.job), loop.jobs[one.job]
        if attempt is None:
            loop.store.note(now_ms, "ask", one.job, one.asked.ask)
            ask_for(loop.world, one.job, one.asked.ask)
            loop.promises.withdraw(one.job)
            _keep(loop, one.job, one.asked, now_ms)
        elif before.limit_ms != one.asked.limit_ms:
            _keep(loop, one.job, replace(before, limit_ms=one.asked.limit_ms), now_ms)
            loop.know(attempt)
    for job in in_queue:
        loop.tell(Happened(Told.RELEASE, job), now_ms)


def _keep(loop: Loop, id_: int, job: Job, now_ms: int) -> None:
    said = ", ".join(_differences(loop.jobs[id_], job))
    loop.store.note_order(now_ms, -1, _CHANGE, job.shown or str(id_), said)
    loop.jobs[id_] = job
    loop.store.change_job(id_, job)


def _differences(before: Job, now: Job) -> Iterator[str]:
    """What is another, a phrase each."""
    for name, (was, is_) in _describe(before, now).items():
        if was != is_:
            yield f"{name} {was} to {is_}"


def _describe(before: Job, now: Job) -> Mapping[str, tuple[str, str]]:
    """What a job asked for before and asks for now, in words."""
    then = now.kind._asdict()
    kinds = {name: (str(was), str(then[name])) for name, was in before.kind._asdict().items()}
    limits = tuple("none" if job.limit_ms is None else duration(job.limit_ms / 1000) for job in (before, now))
    requeues = str(before.requeues), str(now.requeues)
    return kinds | {"time limit": (limits[0], limits[1]), "requeues": requeues, "name": (before.name, now.name)}


def hold(loop: Loop, job: int, now_ms: int) -> None:
    """A job that waits waits on."""
    if loop.attempt_of(job) is None and job not in loop.held:
        loop.held.add(job)
        loop.store.hold_job(job, held=True)
        loop.promises.withdraw(job)
        loop.tell(Happened(Told.HOLD, job), now_ms)


def release(loop: Loop, job: int, now_ms: int) -> None:
    """A job waits no longer, neither for its user nor because its starts have failed."""
    paused = loop.pauses.of(job) is not None
    if job not in loop.held and not paused:
        return
    loop.held.discard(job)
    loop.store.hold_job(job, held=False)
    if paused:
        loop.pauses.lift(job)
    loop.tell(Happened(Told.RELEASE, job), now_ms)


def _requeue(loop: Loop, job: int, now_ms: int) -> None:
    attempt = loop.attempt_of(job)
    if attempt is not None and attempt.stage != Stage.STOPPING:
        loop.withdraw(attempt, Cause.REQUEUE, now_ms)


def _cancel(loop: Loop, job: int, now_ms: int) -> None:
    """A job that runs is stopped, and one that waits has ended."""
    attempt = loop.attempt_of(job)
    if attempt is None:
        loop.tell(Happened(Event.CANCEL, job), now_ms)
        loop.end(job, JobState.CANCELLED, now_ms)
    elif attempt.stage != Stage.STOPPING:
        loop.withdraw(attempt, Cause.CANCEL, now_ms)
    else:
        loop.keep(replace(attempt, cause=Cause.CANCEL))


_OBEYING: Final[Mapping[Verb, Callable[[Loop, int, int], None]]] = {
    Verb.CANCEL: _cancel,
    Verb.HOLD: hold,
    Verb.RELEASE: release,
    Verb.REQUEUE: _requeue,
}
