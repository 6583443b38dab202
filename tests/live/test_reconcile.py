"""Every cell of the table of `reconcile`, and what follows from sequences of observations."""

from dataclasses import replace

import pytest

from pointsman.live.backends.facts import AttemptFact, AttemptId, Exit, NodeFact, Observation, Phase
from pointsman.live.backends.protocol import Patience
from pointsman.live.control.reconcile import Change, Happened, node_changes, reconcile
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.types import Event, JobState, NodeState, Told

ID = AttemptId(7, 2)
NOW, SOON, LATE = 100_000, 100_010, 170_000
PATIENCE = Patience(start_ms=60_000, lost_ms=30_000, stop_ms=60_000)


def attempt(stage: Stage, cause: Cause | None = None, **other: object) -> Attempt:
    began = (
        {"started_ms": NOW}
        if stage == Stage.RUNNING
        else {"stop_ms": NOW}
        if stage == Stage.STOPPING
        else {"sent_ms": NOW}
        if stage == Stage.SENT
        else {}
    )
    plain = Attempt(ID, (("n0", 3),), stage, intended_ms=NOW, cause=cause, **began)  # type: ignore[arg-type]
    return replace(plain, **other)  # type: ignore[arg-type]


def seen(phase: Phase, exit_: Exit | None = None, *, complete: bool = True) -> Observation:
    facts = () if phase == Phase.ABSENT else (AttemptFact(ID, phase, exit=exit_),)
    return Observation(facts, complete=complete)


def change(one: Attempt, what: Observation, now_ms: int = SOON, down: frozenset[str] = frozenset()) -> Change:
    nodes = tuple(NodeFact(name, NodeState.DOWN) for name in down)
    changes = reconcile({one.id: one}, replace(what, nodes=nodes), PATIENCE, now_ms).changes
    return changes[0] if changes else Change(one)


def told(one: Attempt, what: Observation, now_ms: int = SOON, down: frozenset[str] = frozenset()) -> list[tuple]:
    return [(h.kind, h.state) for h in change(one, what, now_ms, down).happened]


DONE, FAILED, KILLED, NEVER = Exit(0), Exit(1), Exit(None, 9, asked=True), Exit(127, ran=False)
COMPLETED = JobState.COMPLETED
STARTED, START_FAILED = (Event.STARTED, COMPLETED), (Event.START_FAILED, COMPLETED)


@pytest.mark.parametrize("stage", [Stage.INTENDED, Stage.SENT])
def test_what_starts(stage: Stage) -> None:
    one = attempt(stage)
    assert change(one, seen(Phase.ABSENT)) == Change(one, launch=True)
    assert change(one, seen(Phase.ACCEPTED)).attempt.stage == Stage.SENT
    assert told(one, seen(Phase.ACCEPTED)) == []
    assert told(one, seen(Phase.RUNNING)) == [STARTED]
    assert change(one, seen(Phase.RUNNING)).attempt.stage == Stage.RUNNING
    assert told(one, seen(Phase.ENDED, DONE)) == [STARTED, (Event.FINISH, COMPLETED)]
    assert told(one, seen(Phase.ENDED, NEVER)) == [START_FAILED]
    assert change(one, seen(Phase.ENDED, NEVER)).attempt.stage == Stage.ENDED


def test_when_it_really_began_and_ended_is_known_by_how_long_ago_that_was() -> None:
    """Its backend's clock showed 5,000 when it was seen, at `SOON`, and began to run it 7 ms before; what it says of
    times before the attempt was meant, or to come, cannot be.
    """
    fact = AttemptFact(ID, Phase.ENDED, exit=DONE, began_unix_ms=4_993, ended_unix_ms=4_998)
    ended = change(attempt(Stage.SENT), Observation((fact,), unix_ms=5_000)).attempt
    assert (ended.real_start_ms, ended.real_end_ms) == (SOON - 7, SOON - 2)
    wrong = replace(fact, began_unix_ms=1_000, ended_unix_ms=9_000)
    ended = change(attempt(Stage.SENT), Observation((wrong,), unix_ms=5_000)).attempt
    assert (ended.real_start_ms, ended.real_end_ms) == (NOW, SOON)
    again = change(attempt(Stage.SENT, real_start_ms=NOW + 1), Observation((fact,), unix_ms=5_000)).attempt
    assert again.real_start_ms == NOW + 1


def test_a_start_that_takes_too_long_is_stopped_and_has_failed_when_it_is_gone() -> None:
    late = change(attempt(Stage.SENT), seen(Phase.ACCEPTED), LATE)
    assert (late.attempt.stage, late.attempt.cause, late.stop) == (Stage.STOPPING, Cause.START_TIMEOUT, True)
    assert [h.kind for h in late.happened] == [Told.WITHDRAW]
    assert told(late.attempt, seen(Phase.ENDED, Exit(None, 15, asked=True)), LATE + 1) == [START_FAILED]
    assert told(attempt(Stage.SENT), seen(Phase.ABSENT), LATE) == [START_FAILED]


def test_a_start_is_late_from_when_it_was_heard_of_not_from_when_it_was_decided() -> None:
    """A daemon may have been dead between the two."""
    one = attempt(Stage.SENT, sent_ms=LATE - 1)
    assert told(one, seen(Phase.ABSENT), LATE) == []
    assert change(one, seen(Phase.ABSENT), LATE).launch
    assert told(one, seen(Phase.ACCEPTED), LATE) == []


def test_what_runs() -> None:
    one = attempt(Stage.RUNNING)
    assert change(one, seen(Phase.RUNNING)) == Change(one)
    assert told(one, seen(Phase.ENDED, DONE)) == [(Event.FINISH, COMPLETED)]
    assert told(one, seen(Phase.ENDED, FAILED)) == [(Event.FINISH, JobState.FAILED)]
    assert told(one, seen(Phase.ENDED, Exit(None, 11))) == [(Event.FINISH, JobState.FAILED)]
    assert told(one, seen(Phase.ENDED)) == [(Event.FAIL, COMPLETED)]


def test_what_is_missed_for_long_is_lost() -> None:
    first = change(attempt(Stage.RUNNING), seen(Phase.ABSENT))
    assert (first.attempt.missing_ms, first.happened) == (SOON, ())
    assert told(first.attempt, seen(Phase.ABSENT), SOON + 29_000) == []
    assert told(first.attempt, seen(Phase.ABSENT), SOON + 30_000) == [(Event.FAIL, COMPLETED)]
    final = replace(first.attempt, requeues=False)
    assert told(final, seen(Phase.ABSENT), SOON + 30_000) == [(Event.FINISH, JobState.FAILED)]
    by_node = told(final, seen(Phase.ABSENT), SOON + 30_000, frozenset({"n0"}))
    assert by_node == [(Event.FINISH, JobState.NODE_FAIL)]
    assert change(first.attempt, seen(Phase.RUNNING)).attempt.missing_ms is None


@pytest.mark.parametrize("stage", Stage)
def test_nothing_follows_from_what_an_incomplete_observation_lacks(stage: Stage) -> None:
    one = attempt(stage)
    assert change(one, seen(Phase.ABSENT, complete=False), LATE) == Change(one)


def test_what_its_backend_has_forgotten_is_stopped_and_waits_again_when_it_is_gone() -> None:
    forgotten = change(attempt(Stage.RUNNING), seen(Phase.ACCEPTED))
    assert (forgotten.attempt.stage, forgotten.attempt.cause, forgotten.stop) == (Stage.STOPPING, Cause.LOST, True)
    assert [h.kind for h in forgotten.happened] == [Told.WITHDRAW]
    assert told(replace(forgotten.attempt, stop_ms=NOW), seen(Phase.ABSENT)) == [(Event.FAIL, COMPLETED)]


def test_what_is_absent_may_still_begin_until_a_stop_was_heard() -> None:
    """A launch may be under way: its GPUs are not free before its backend was asked to stop it, and answered."""
    one = replace(attempt(Stage.STOPPING, Cause.CANCEL), stop_ms=None)
    assert change(one, seen(Phase.ABSENT)) == Change(one, stop=True)
    assert told(replace(one, stop_ms=NOW), seen(Phase.ABSENT)) == [(Event.CANCEL, COMPLETED)]


ENDS = {
    Cause.PREEMPT: (Event.STOPPED, COMPLETED),
    Cause.REQUEUE: (Event.STOPPED, COMPLETED),
    Cause.CANCEL: (Event.CANCEL, COMPLETED),
    Cause.TIME_LIMIT: (Event.FINISH, JobState.TIMEOUT),
    Cause.START_TIMEOUT: START_FAILED,
    Cause.LOST: (Event.FAIL, COMPLETED),
}


@pytest.mark.parametrize(("cause", "end"), ENDS.items())
def test_what_stops_ends_by_its_cause(cause: Cause, end: tuple[Event, JobState]) -> None:
    one = attempt(Stage.STOPPING, cause)
    assert told(one, seen(Phase.ABSENT)) == [end]
    assert told(one, seen(Phase.ENDED, KILLED)) == [end]
    assert told(one, seen(Phase.ENDED, Exit(0, asked=True))) == [end]


@pytest.mark.parametrize("cause", [Cause.PREEMPT, Cause.REQUEUE, Cause.TIME_LIMIT, Cause.LOST])
def test_what_was_done_before_it_was_asked_to_stop_has_finished(cause: Cause) -> None:
    assert told(attempt(Stage.STOPPING, cause), seen(Phase.ENDED, DONE)) == [(Event.FINISH, COMPLETED)]


def test_a_job_that_promises_it_has_finished_when_it_exits_with_0() -> None:
    one = attempt(Stage.STOPPING, Cause.PREEMPT, zero_is_done=True)
    assert told(one, seen(Phase.ENDED, Exit(0, asked=True))) == [(Event.FINISH, COMPLETED)]
    assert told(one, seen(Phase.ENDED, Exit(1, asked=True))) == [(Event.STOPPED, COMPLETED)]


def test_what_does_not_stop_is_stopped_again() -> None:
    one = attempt(Stage.STOPPING, Cause.PREEMPT)
    assert change(one, seen(Phase.RUNNING)) == Change(one)
    again = change(one, seen(Phase.RUNNING), LATE)
    assert again == Change(one, stop=True)
    unheard = replace(one, stop_ms=None)
    assert change(unheard, seen(Phase.RUNNING)) == Change(unheard, stop=True)


def test_what_others_have_stopped_waits_again_if_it_may() -> None:
    """As when the machine is shut down."""
    ended = seen(Phase.ENDED, Exit(None, 15, asked=True))
    assert told(attempt(Stage.RUNNING), ended) == [(Event.FAIL, COMPLETED)]
    assert told(attempt(Stage.RUNNING, requeues=False), ended) == [(Event.FINISH, JobState.FAILED)]


def test_an_observation_that_is_repeated_changes_nothing_more() -> None:
    for stage in (Stage.INTENDED, Stage.SENT, Stage.RUNNING):
        for phase in (Phase.ACCEPTED, Phase.RUNNING):
            once = change(attempt(stage), seen(phase)).attempt
            assert not change(once, seen(phase)).happened


def test_what_the_book_does_not_know_is_a_ghost() -> None:
    observed = Observation((AttemptFact(ID, Phase.RUNNING), AttemptFact(AttemptId(8, 1), Phase.ENDED)))
    news = reconcile({}, observed, PATIENCE, NOW)
    assert [fact.id for fact in news.ghosts] == [ID]
    assert news.ended == [AttemptId(8, 1)]
    assert not reconcile({ID: attempt(Stage.RUNNING)}, observed, PATIENCE, NOW)


def test_an_end_that_comes_into_the_book_needs_no_record_any_more() -> None:
    news = reconcile({ID: attempt(Stage.RUNNING)}, seen(Phase.ENDED, DONE), PATIENCE, NOW)
    assert [one.attempt.stage for one in news.changes] == [Stage.ENDED]
    assert news.ended == [ID]
    lost = reconcile({ID: attempt(Stage.RUNNING, missing_ms=0)}, seen(Phase.ABSENT), PATIENCE, LATE)
    assert [one.attempt.stage for one in lost.changes] == [Stage.ENDED]
    assert lost.ended == []


def test_nodes_are_as_seen_or_as_wanted_whichever_is_worse() -> None:
    observed = Observation(nodes=(NodeFact("n0", NodeState.UP), NodeFact("n1", NodeState.DOWN)))
    known = {"n0": NodeState.UP, "n1": NodeState.UP}
    assert node_changes(known, observed, {}) == {"n1": NodeState.DOWN}
    assert node_changes(known, observed, {"n0": NodeState.DRAIN, "n1": NodeState.DRAIN}) == {
        "n0": NodeState.DRAIN,
        "n1": NodeState.DOWN,
    }


def test_happened_names_the_job() -> None:
    assert change(attempt(Stage.SENT), seen(Phase.RUNNING)).happened == (Happened(Event.STARTED, 7),)
