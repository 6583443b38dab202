"""What became of attempts is kept in the book, the world hears of it, and jobs whose starts failed pause: within a turn
of the loop.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Protocol

from pointsman.live.backends.facts import AttemptId, Exit
from pointsman.live.backends.protocol import Backend
from pointsman.live.control.acting import Answer
from pointsman.live.control.alarms import Alarms
from pointsman.live.control.promises import Promises
from pointsman.live.control.reconcile import Change, Happened
from pointsman.live.control.safety import NodeFaults, Pauses
from pointsman.live.records.book import Attempt, Stage
from pointsman.live.records.store import Store
from pointsman.types import Event, JobState, NodeState, Told

_FAULTS: Final = "node_faults"
"""Under which name the store keeps when starts failed, by node."""
SOON_MS: Final = 60_000
"""An attempt that is lost so soon after it began lets its job pause, as a start that fails does."""
_WHY: Final = "starts on it fail"


class Loop(Protocol):
    """What of a control loop is needed here."""

    backend: Backend
    store: Store
    attempts: dict[AttemptId, Attempt]
    alarms: Alarms
    faults: NodeFaults
    pauses: Pauses
    promises: Promises
    held: set[int]

    def tell(self, happened: Happened, now_ms: int) -> None: ...

    def keep(self, attempt: Attempt) -> None: ...

    def end(self, job: int, state: JobState, now_ms: int) -> None: ...


def hear_answers(loop: Loop, answers: Iterable[Answer], now_ms: int) -> None:
    """What the backend said of requests after the last turn."""
    for answer in answers:
        attempt = loop.attempts.get(answer.id)
        if attempt is None:
            continue
        if answer.refused is not None:
            exit_ = Exit(ran=False, detail=answer.refused)
            ended = replace(attempt, stage=Stage.ENDED, exit=exit_, ended_ms=now_ms)
            carry_out(loop, Change(ended, (Happened(Event.START_FAILED, attempt.id.job),)), now_ms, blames=False)
        elif answer.stops:
            loop.keep(replace(attempt, stop_ms=now_ms))
        elif attempt.stage == Stage.INTENDED:
            loop.keep(replace(attempt, stage=Stage.SENT, sent_ms=now_ms))


def carry_out(loop: Loop, change: Change, now_ms: int, *, blames: bool = True) -> None:
    """What an observation says of one attempt; a failed start `blames` its nodes, unless it was refused."""
    attempt = change.attempt
    if attempt != loop.attempts.get(attempt.id):
        loop.keep(attempt)
    for happened in change.happened:
        is_first = len(change.happened) > 1 and happened.kind == Event.STARTED
        loop.tell(happened, now_ms - is_first)  # events of one instant are applied by their kinds, ends first
        if happened.kind == Event.START_FAILED:
            _pause(loop, attempt, now_ms, blames=blames and loop.backend.patience.blames)
        elif happened.kind == Event.FAIL and now_ms - (attempt.started_ms or 0) < SOON_MS:
            _pause(loop, attempt, now_ms, blames=False)
        elif happened.kind == Event.STARTED:
            _note_start(loop, attempt, now_ms)
        elif happened.kind in (Event.FINISH, Event.CANCEL):
            state = happened.state if happened.kind == Event.FINISH else JobState.CANCELLED
            loop.end(attempt.id.job, state, now_ms)


def _note_start(loop: Loop, attempt: Attempt, now_ms: int) -> None:
    """It runs."""
    loop.pauses.forget(attempt.id.job)
    if attempt.id.attempt == 1:
        loop.promises.note_start(attempt.id.job, now_ms)
    if loop.faults.note_start(tuple(node for node, _ in attempt.parts)):
        _keep_faults(loop)


def _pause(loop: Loop, attempt: Attempt, now_ms: int, *, blames: bool) -> None:
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
