"""The book against what was seen: what became of attempts, and what is to be done. Pure: no clock, no disk, no network.

| book      | ABSENT                    | ACCEPTED                 | RUNNING             | ENDED                      |
|-----------|---------------------------|--------------------------|---------------------|----------------------------|
| INTENDED  | launch                    | SENT                     | STARTED             | STARTED, and its end       |
| SENT      | launch; START_FAILED late | stop late                | STARTED             | START_FAILED if it never   |
|           |                           |                          |                     | ran; else STARTED, its end |
| RUNNING   | FAIL after `lost_ms`      | withdrawn, stop: it was  | –                   | its end                    |
|           |                           | forgotten                |                     |                            |
| STOPPING  | its end by its cause once | stop again after a while | stop again, harder  | its end by its cause       |
|           | a stop was heard          |                          |                     |                            |

Absence counts in complete observations only. An end that nobody saw is still an end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pointsman.live.backends.facts import AttemptFact, AttemptId, Exit, Observation, Phase
from pointsman.live.backends.protocol import Patience
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.types import Event, JobState, NodeState, Told


class Happened(NamedTuple):
    """What the world is to be told of a job."""

    kind: Event | Told
    job: int
    state: JobState = JobState.COMPLETED
    """In which it ends by FINISH."""


@dataclass(frozen=True)
class Change:
    """What an observation says of one attempt."""

    attempt: Attempt
    """As it is now."""
    happened: tuple[Happened, ...] = ()
    launch: bool = False
    """It is to be launched, again if need be."""
    stop: bool = False
    """It is to be stopped, again if need be."""

    def is_new(self, alive: Mapping[AttemptId, Attempt]) -> bool:
        """Whether the book does not say so already."""
        return bool(self.happened or self.launch or self.stop) or self.attempt != alive[self.attempt.id]


@dataclass(frozen=True)
class News:
    """What an observation says that the book does not."""

    changes: Sequence[Change] = ()
    """Changes of the attempts in the book."""
    ghosts: Sequence[AttemptFact] = ()
    """Attempts that run although the book does not know of them, or says that they have ended: they are to be stopped,
    and their nodes take no jobs until they are gone.
    """
    ended: Sequence[AttemptId] = ()
    """Whose ends are in the book, once the changes are."""
    nodes: Mapping[str, NodeState] = field(default_factory=dict)
    """Those that are in another state than before."""

    def __bool__(self) -> bool:
        return bool(self.changes or self.ghosts or self.nodes)


def reconcile(alive: Mapping[AttemptId, Attempt], seen: Observation, patience: Patience, now_ms: int) -> News:
    """What is new of attempts, where `alive` are those in the book that have not ENDED."""
    known, unknown = _to_look_at(alive, seen)
    down = frozenset(node.name for node in seen.nodes if node.state == NodeState.DOWN) if known else frozenset()
    changes = [_change(_date(attempt, fact, seen, now_ms), fact, down, patience, now_ms) for attempt, fact in known]
    ended = [fact.id for _, fact in known if fact.phase == Phase.ENDED]
    return News(
        [change for change in changes if change.is_new(alive)],
        [fact for fact in unknown if fact.phase != Phase.ENDED],
        [*ended, *(fact.id for fact in unknown if fact.phase == Phase.ENDED)],
    )


def _to_look_at(
    alive: Mapping[AttemptId, Attempt], seen: Observation
) -> tuple[list[tuple[Attempt, AttemptFact]], list[AttemptFact]]:
    """Attempts in the book, but for those that ran and run, which are most, most of the time; of those that were not
    seen, if none can have been overlooked, with a fact that says so. And the facts of which the book knows nothing.
    """
    known: list[tuple[Attempt, AttemptFact]] = []
    unknown: list[AttemptFact] = []
    get, runs, ran = alive.get, Phase.RUNNING, Stage.RUNNING
    for fact in seen.attempts:
        attempt = get(fact.id)
        if attempt is None:
            unknown.append(fact)
        elif fact.phase is not runs or attempt.stage is not ran or attempt.missing_ms is not None:
            known.append((attempt, fact))
    if seen.complete and len(seen.attempts) - len(unknown) < len(alive):
        there = {fact.id for fact in seen.attempts}
        known += [(one, AttemptFact(id_, Phase.ABSENT)) for id_, one in alive.items() if id_ not in there]
    return known, unknown


def _date(attempt: Attempt, fact: AttemptFact, seen: Observation, now_ms: int) -> Attempt:
    """With when it really began and ended, by how long ago that was when it was seen: clocks may be set later."""

    def then_ms(unix_ms: int) -> int:
        ago_ms = (seen.unix_ms or unix_ms) - unix_ms
        return max(attempt.intended_ms, now_ms - max(0, ago_ms))

    if fact.began_unix_ms is not None and attempt.real_start_ms is None:
        attempt = replace(attempt, real_start_ms=then_ms(fact.began_unix_ms))
    if fact.ended_unix_ms is not None:
        end_ms = max(attempt.real_start_ms or 0, then_ms(fact.ended_unix_ms))
        attempt = replace(attempt, real_end_ms=end_ms)
        if attempt.started_ms is None and attempt.real_start_ms is None:  # nobody saw it run
            attempt = replace(attempt, real_start_ms=end_ms)
    return attempt


def _change(attempt: Attempt, fact: AttemptFact, down: frozenset[str], patience: Patience, now_ms: int) -> Change:
    if fact.phase != Phase.ABSENT and attempt.missing_ms is not None:
        attempt = replace(attempt, missing_ms=None)
    if fact.phase == Phase.ENDED:
        return _change_of_ended(attempt, fact.exit or Exit(), now_ms)
    if attempt.stage == Stage.STOPPING:
        return _stopping(attempt, fact.phase, patience, now_ms)
    if attempt.stage == Stage.RUNNING:
        return _running(attempt, fact.phase, down, patience, now_ms)
    return _starting(attempt, fact.phase, patience, now_ms)


def _starting(attempt: Attempt, phase: Phase, patience: Patience, now_ms: int) -> Change:
    """Returns the change of an attempt that is INTENDED or SENT."""
    if phase == Phase.RUNNING:
        running = replace(attempt, stage=Stage.RUNNING, started_ms=now_ms)
        return Change(running, (Happened(Event.STARTED, attempt.id.job),))
    late = attempt.sent_ms is not None and now_ms - attempt.sent_ms >= patience.start_ms
    if phase == Phase.ACCEPTED:
        if late:
            return _stop(attempt, Cause.START_TIMEOUT)
        return Change(attempt if attempt.stage == Stage.SENT else replace(attempt, stage=Stage.SENT, sent_ms=now_ms))
    if late and attempt.stage == Stage.SENT:
        return _end(attempt, Exit(ran=False), (Happened(Event.START_FAILED, attempt.id.job),), now_ms)
    return Change(attempt, launch=True)


def _running(attempt: Attempt, phase: Phase, down: frozenset[str], patience: Patience, now_ms: int) -> Change:
    if phase == Phase.RUNNING:
        return Change(attempt)
    if phase == Phase.ACCEPTED:  # whoever ran it has forgotten that, and may run it again
        return _stop(attempt, Cause.LOST)
    if attempt.missing_ms is None:
        return Change(replace(attempt, missing_ms=now_ms))
    if now_ms - attempt.missing_ms < patience.lost_ms:
        return Change(attempt)
    return _end(attempt, Exit(), (_event_of_lost(attempt, down),), now_ms)


def _stopping(attempt: Attempt, phase: Phase, patience: Patience, now_ms: int) -> Change:
    if phase == Phase.ABSENT and attempt.stop_ms is not None:  # who was asked to stop it will not begin it any more
        return _change_of_ended(attempt, Exit(asked=True), now_ms)
    heard = attempt.stop_ms is not None and now_ms - attempt.stop_ms < patience.stop_ms
    return Change(attempt, stop=not heard)


def _change_of_ended(attempt: Attempt, exit_: Exit, now_ms: int) -> Change:
    """Returns the change of an attempt whose processes are gone."""
    job = attempt.id.job
    if attempt.stage in (Stage.INTENDED, Stage.SENT) and not exit_.ran:
        return _end(attempt, exit_, (Happened(Event.START_FAILED, job),), now_ms)
    began = () if attempt.stage in (Stage.RUNNING, Stage.STOPPING) else (Happened(Event.STARTED, job),)
    if began:  # and ended before it was looked at
        attempt = replace(attempt, started_ms=now_ms)
    return _end(attempt, exit_, (*began, _outcome(attempt, exit_)), now_ms)


def _outcome(attempt: Attempt, exit_: Exit) -> Happened:
    """What the end of an attempt is to its job."""
    job, cause = attempt.id.job, attempt.cause if attempt.stage == Stage.STOPPING else None
    if exit_.state is not None and cause is None:
        return Happened(Event.CANCEL if exit_.state == JobState.CANCELLED else Event.FINISH, job, exit_.state)
    if cause == Cause.CANCEL:
        return Happened(Event.CANCEL, job)
    if exit_.succeeded and (attempt.zero_is_done or not exit_.asked):
        return Happened(Event.FINISH, job)
    if cause in (Cause.PREEMPT, Cause.REQUEUE):
        return Happened(Event.STOPPED, job)
    if cause == Cause.START_TIMEOUT:
        return Happened(Event.START_FAILED, job)
    if cause == Cause.TIME_LIMIT:
        return Happened(Event.FINISH, job, JobState.TIMEOUT)
    told_by_others = exit_.asked and cause is None  # as when the machine is shut down
    if cause == Cause.LOST or told_by_others or (exit_.code is None and exit_.signal is None):
        return _event_of_lost(attempt, frozenset())
    return Happened(Event.FINISH, job, JobState.COMPLETED if exit_.succeeded else JobState.FAILED)


def _event_of_lost(attempt: Attempt, down: frozenset[str]) -> Happened:
    """What it is to a job that its attempt has vanished."""
    if attempt.requeues:
        return Happened(Event.FAIL, attempt.id.job)
    by_node = any(node in down for node, _ in attempt.parts)
    return Happened(Event.FINISH, attempt.id.job, JobState.NODE_FAIL if by_node else JobState.FAILED)


def _stop(attempt: Attempt, cause: Cause) -> Change:
    stopping = replace(attempt, stage=Stage.STOPPING, cause=cause)
    return Change(stopping, (Happened(Told.WITHDRAW, attempt.id.job),), stop=True)


def _end(attempt: Attempt, exit_: Exit, happened: tuple[Happened, ...], now_ms: int) -> Change:
    return Change(replace(attempt, stage=Stage.ENDED, exit=exit_, ended_ms=now_ms), happened)


def node_changes(
    known: Mapping[str, NodeState], seen: Observation, wanted: Mapping[str, NodeState]
) -> dict[str, NodeState]:
    """The nodes whose state is another now than the `known` one: what was seen, or what an operator wants if that is
    worse.
    """
    states = {fact.name: max(fact.state, wanted.get(fact.name, NodeState.UP)) for fact in seen.nodes}
    return {name: state for name, state in states.items() if known.get(name, NodeState.UP) != state}
