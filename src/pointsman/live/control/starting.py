"""What follows from starts that succeed and starts that fail, within a turn of the loop."""

import json
from typing import Final, Protocol

from pointsman.live.control.alarms import Alarms
from pointsman.live.control.promises import Promises
from pointsman.live.control.reconcile import Happened
from pointsman.live.control.safety import NodeFaults, Pauses
from pointsman.live.records.book import Attempt
from pointsman.live.records.store import Store
from pointsman.types import NodeState, Told

_FAULTS: Final = "node_faults"
"""Under which name the store keeps when starts failed, by node."""
_WHY: Final = "starts on it fail"


class Loop(Protocol):
    """What of a control loop is needed here."""

    store: Store
    alarms: Alarms
    faults: NodeFaults
    pauses: Pauses
    promises: Promises
    held: set[int]

    def tell(self, happened: Happened, now_ms: int) -> None: ...


def note_start(loop: Loop, attempt: Attempt, now_ms: int) -> None:
    """It runs."""
    loop.pauses.forget(attempt.id.job)
    if attempt.id.attempt == 1:
        loop.promises.note_start(attempt.id.job, now_ms)
    if loop.faults.note_start(tuple(node for node, _ in attempt.parts)):
        _keep_faults(loop)


def pause(loop: Loop, attempt: Attempt, now_ms: int, *, blames: bool) -> None:
    """A start has failed: the job waits for a while, and its nodes may be to blame; not if it was refused."""
    job = attempt.id.job
    loop.pauses.begin(job, now_ms)
    loop.promises.withdraw(job)
    loop.tell(Happened(Told.HOLD, job), now_ms)
    if blames:
        for node in loop.faults.note_failure(tuple(node for node, _ in attempt.parts), now_ms):
            loop.alarms.sound(f"node {node} is drained: {_WHY}", now_ms)
            loop.store.want_node(node, NodeState.DRAIN, _WHY)
        _keep_faults(loop)


def release_due(loop: Loop, now_ms: int) -> None:
    """Jobs whose pauses are over are tried again, unless their users hold them."""
    for job in loop.pauses.ending(now_ms):
        loop.pauses.lift(job)
        if job not in loop.held:
            loop.tell(Happened(Told.RELEASE, job), now_ms)


def recall_faults(loop: Loop) -> None:
    """The starts that failed under the daemon before count."""
    loop.faults.recall(json.loads(loop.store.setting(_FAULTS) or "{}"))


def _keep_faults(loop: Loop) -> None:
    loop.store.keep_setting(_FAULTS, json.dumps(loop.faults.known()))
