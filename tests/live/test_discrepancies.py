"""What contradicts the book is in the audit table, once for as long as it lasts."""

from pathlib import Path

import pytest

from pointsman.live.backends.facts import AttemptFact, AttemptId, Exit, Observation, Phase
from pointsman.live.backends.shadow import Faults
from pointsman.live.control.discrepancies import Discrepancies, contradictions
from pointsman.live.control.reconcile import reconcile
from pointsman.live.records.book import Attempt, Cause, Stage
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.live.world.live_world import Ask

from .killing import case
from .stepped import Stepped
from .test_reconcile import LATE, NOW, PATIENCE, SOON, attempt, seen

AUDIT = "SELECT target, detail FROM audit WHERE verb = 'found' ORDER BY seq"


def found(one: Attempt, what: Observation, now_ms: int = SOON) -> list[str]:
    alive = {one.id: one}
    return [said for _, said in contradictions(alive, reconcile(alive, what, PATIENCE, now_ms))]


@pytest.mark.parametrize(
    ("book", "what", "now_ms", "said"),
    [
        (attempt(Stage.RUNNING), seen(Phase.ACCEPTED), SOON, "waits again"),
        (attempt(Stage.RUNNING), seen(Phase.ABSENT), SOON, "is not there any more"),
        (attempt(Stage.RUNNING, missing_ms=NOW), seen(Phase.RUNNING), SOON, "is there again"),
        (attempt(Stage.RUNNING, missing_ms=0), seen(Phase.ABSENT), LATE, "counts as lost"),
        (attempt(Stage.SENT), seen(Phase.ABSENT), SOON, "asked for again"),
    ],
)
def test_it_is_said_what_was_seen_and_what_is_done(book: Attempt, what: Observation, now_ms: int, said: str) -> None:
    (line,) = found(book, what, now_ms)
    assert said in line


@pytest.mark.parametrize(
    ("book", "what"),
    [
        (attempt(Stage.INTENDED), seen(Phase.ABSENT)),
        (attempt(Stage.SENT), seen(Phase.RUNNING)),
        (attempt(Stage.RUNNING), seen(Phase.RUNNING)),
        (attempt(Stage.RUNNING), seen(Phase.ENDED, Exit(0))),
        (attempt(Stage.STOPPING, Cause.PREEMPT), seen(Phase.ABSENT)),
        (attempt(Stage.STOPPING, Cause.PREEMPT), seen(Phase.ENDED, Exit(None, 15, asked=True))),
    ],
)
def test_what_was_expected_is_not_said(book: Attempt, what: Observation) -> None:
    assert found(book, what) == []


def test_it_is_said_once_for_as_long_as_it_lasts(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    noted, ghost = Discrepancies(store), AttemptFact(AttemptId(3, 1), Phase.RUNNING, (("n1", 1),))
    for k, seen_now in enumerate([(ghost,), (ghost,), (), (ghost,)]):
        with store.turn():
            noted.note({}, {}, reconcile({}, Observation(seen_now), PATIENCE, k), k)
    said = "attempt 1 is there (running on n1), although it had ended: it is stopped"
    assert [tuple(row) for row in store.connection.execute(AUDIT)] == [("3", said)] * 2


def test_a_job_that_has_ended_has_the_name_that_users_know(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with store.turn():
        store.add_job(1, Job(Ask(0, 0, 0, 0), shown="8123", request_key="8123@1700000000"), 0)
    with store.turn():
        ghost = AttemptFact(AttemptId(1, 1), Phase.RUNNING)
        Discrepancies(store).note({}, {}, reconcile({}, Observation((ghost,)), PATIENCE, 1), 1)
    assert [target for target, _ in store.connection.execute(AUDIT)] == ["8123"]


def test_a_job_that_comes_again_is_said(tmp_path: Path) -> None:
    """A killed controller of Slurm forgets ends."""
    store = Store(tmp_path / "store")
    with store.turn():
        store.add_job(1, Job(Ask(0, 0, 0, 0), shown="8123", request_key="8123@1700000000"), 0)
    noted = Discrepancies(store)
    noted.note_came_again(("8123", "8124", "812"), 5)
    said = "is listed again as waiting, although it had ended: it counts as another job"
    assert [tuple(row) for row in store.connection.execute(AUDIT)] == [("8123", said)]


def test_what_a_cluster_forgets_is_said(tmp_path: Path) -> None:
    """Each launch that was accepted and forgotten is asked for again, and nothing else is out of order."""
    stepped = Stepped(case(), tmp_path / "store", Faults(forgotten=0.3), seed=1)
    stepped.poll_ms = 100
    stepped.run()
    lines = [tuple(row) for row in stepped.loop.store.connection.execute(AUDIT)]
    assert lines
    assert all("was to start, and is not there: it is asked for again" in detail for _, detail in lines)
    calm = Stepped(case(), tmp_path / "calm")
    calm.poll_ms = 100
    calm.run()
    assert calm.loop.store.connection.execute(AUDIT).fetchall() == []
