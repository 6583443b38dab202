"""Ranges of starts are as wide as earlier promises show that they must be."""

import math
import random
from itertools import starmap
from pathlib import Path

import pytest

from pointsman.live.control.promises import Promises
from pointsman.live.forecast.calibration import AT_FIRST, COUNTED, Calibration, Promised, Start, start_of
from pointsman.live.forecast.record import Record
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import Ask
from pointsman.types import JobState

S = 1000.0
START = Start(50 * S, 60 * S, 70 * S, 10 * S)


def by(*promises: tuple[float, bool]) -> Calibration:
    """Each off by so many scales of 10 s."""
    return Calibration.by(Promised(off * 10 * S, came, 10 * S) for off, came in promises)


def test_without_promises_a_range_is_that_of_the_futures() -> None:
    assert by().widen(START) == START
    assert start_of([40 * S, 60 * S, 60 * S]) == Start(40 * S, 60 * S, 60 * S, 20 * S + 6 * S + 1 * S)


def test_a_range_is_no_narrower_than_the_futures_show() -> None:
    assert by(*[(0.1, True)] * 200).widen(START) == START


def test_errors_widen_the_side_on_which_they_are() -> None:
    """Of 95 promises, ten came two scales later than likely: that is more than one in twenty."""
    later = by(*[(0.0, True)] * 85, *[(2.0, True)] * 10)
    assert later == Calibration(0.0, 2.0)
    assert later.widen(START).times_ms == (50 * S, 60 * S, 80 * S)
    assert by(*[(0.0, True)] * 85, *[(-3.0, True)] * 10).widen(START).times_ms == (30 * S, 60 * S, 70 * S)
    assert by(*[(-9.0, True)] * 9).widen(START).early_ms == 0.0


def test_four_in_a_hundred_change_nothing() -> None:
    assert by(*[(0.0, True)] * 91, *[(50.0, True)] * 4) == Calibration(0.0, 0.0)


def test_jobs_that_are_late_and_still_wait_count() -> None:
    """None of 100 has come, and each is already four scales late."""
    assert by(*[(4.0, False)] * 100).later == 4.0


def test_jobs_that_may_still_come_in_time_count_only_for_as_long_as_they_wait() -> None:
    """By hand (Kaplan and Meier): 5 + 4 at 0 of 19 leave 10/19; of the ten that waited until 1 none came; one of the
    five left came at 2, and one of four at 3: 10/19 · 4/5 · 3/4 is more than 1/20, so the largest holds.
    """
    assert AT_FIRST == 5
    errors = [*[(0.0, True)] * 4, *[(1.0, False)] * 5, (2.0, True), (3.0, True), *[(4.0, False)] * 3]
    assert by(*errors).later == 4.0
    assert by(*errors[:-3], *[(3.0, True)] * 30).later == 3.0


def test_what_never_starts_in_a_week_is_left_so() -> None:
    never = start_of([math.inf] * 20)
    assert by(*[(2.0, True)] * 10).widen(never) == never


@pytest.mark.parametrize("too_narrow", [1.0, 3.0, 10.0])
def test_nine_of_ten_promises_are_kept_however_wrong_the_futures_are(too_narrow: float) -> None:
    """The futures show a spread which is so many times too small, and a third of it too early."""
    draw, past, kept = random.Random(1), [], 0
    for _ in range(4 * COUNTED):
        drawn_s = sorted(draw.gauss(0.0, 30.0) for _ in range(20))
        start = start_of([1000 * S + one * S for one in drawn_s])
        came_ms = 1000 * S + draw.gauss(10.0, 30.0) * too_narrow * S
        range_ = Calibration.by(starmap(Promised, past[-COUNTED:])).widen(start)
        kept += range_.early_ms <= came_ms <= range_.late_ms
        past.append((came_ms - start.likely_ms, True, start.scale_ms))
    assert 0.87 < kept / len(past) < 0.96


def test_what_came_of_promises_is_read_of_the_store(tmp_path: Path) -> None:
    """All at 60 s: one came 30 s later, one was cancelled 20 s later, and three wait, of which one has no scale.

    At 130 s these are off by 3, 2 or more, 7 or more and 7 or more scales of 10 s.
    """
    store = Store(tmp_path / "store")
    with store.turn():
        for id_ in (1, 2, 3, 4, 5):
            store.add_job(id_, Job(Ask(0, 0, 0, 0), Kind(gpus=1), request_key=str(id_)), 0)
        starts_ms = {id_: (50 * S, 60 * S, 70 * S, 10 * S) for id_ in (1, 2, 3, 4)} | {5: (0.0, *[math.inf] * 3)}
        Promises(store).make(10_000, starts_ms)
        store.end_job(2, JobState.CANCELLED, 80_000)
        store.connection.execute(
            "INSERT INTO attempts (job, attempt, stage, parts, reason, intended_ms, started_ms)"
            "VALUES (1, 1, 'RUNNING', '[]', '', 80000, 90000)"
        )
    record = Record()
    record.read_on(store.path)
    store.close()
    assert record.calibration(130_000) == by((3.0, True), (2.0, False), (7.0, False), (7.0, False))
    assert record.calibration(130_000).later == 7.0
