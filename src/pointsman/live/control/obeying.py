"""What users and operators want is done, within a turn of the loop."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, Protocol

from pointsman.live.control.orders import NodeOrder, Order, Verb
from pointsman.live.control.pauses import Pauses
from pointsman.live.control.promises import Promises
from pointsman.live.control.reconcile import Happened
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.types import Event, JobState, Told


class Loop(Protocol):
    """What of a control loop is needed here."""

    store: Store
    jobs: dict[int, Job]
    held: set[int]
    pauses: Pauses
    promises: Promises

    def attempt_of(self, job: int) -> Attempt | None: ...

    def tell(self, happened: Happened, now_ms: int) -> None: ...

    def withdraw(self, attempt: Attempt, cause: Cause, now_ms: int) -> None: ...

    def keep(self, attempt: Attempt) -> None: ...

    def end(self, job: int, state: JobState, now_ms: int) -> None: ...


def obey(loop: Loop, order: Order, now_ms: int) -> None:
    """An order that does not fit the state of its job changes nothing."""
    if isinstance(order, NodeOrder):
        loop.store.want_node(order.node, order.wanted, order.reason or None)
        loop.store.note_order(now_ms, order.uid, f"node {order.wanted.name}", order.node, order.reason)
    elif order.job in loop.jobs:
        _OBEYING[order.verb](loop, order.job, now_ms)
        loop.store.note_order(now_ms, order.uid, order.verb, str(order.job))


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
