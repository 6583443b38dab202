"""What is measured, in which order, and what becomes of it."""

import time
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path

import pytest

from pointsman.measure.plan import Budget, Cells, Item, work_off
from pointsman.measure.process import JobFailed
from pointsman.measure.rows import SAME, RowFile

ABOUT = {**dict.fromkeys(SAME, "x"), "versions": "torch 1"}
COLUMNS = ("model", "step_s", "reason", *SAME, "measured_at")


def item(name: str, work: Callable[[], object] = lambda: None, rows: int = 1) -> Item:
    def measure() -> Sequence[Cells]:
        work()
        return [{"step_s": 1.0}] * rows

    return Item(name, [{"model": f"{name}{i}"} for i in range(rows)], measure)


def fail() -> None:
    raise JobFailed("crash: it")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def done(path: Path, items: Sequence[Item], budget_s: float = inf, *, retry: bool = False, **about: str):
    said: list[tuple[float, str]] = []
    with RowFile(path, COLUMNS, force=False) as file:
        outcome = work_off(
            items, file, ABOUT | about, Budget(budget_s, 0.2), lambda *at: said.append(at), retry_failed=retry
        )
    return outcome, said


def test_each_item_is_measured_once(path: Path) -> None:
    measured: list[str] = []
    items = [item(name, lambda name=name: measured.append(name), 2) for name in "ab"]
    outcome, said = done(path, items)
    assert (outcome.measured, outcome.kept, measured) == (4, 0, ["a", "b"])
    assert said == [(0.0, "a"), (0.5, "b"), (1.0, "")]
    again, _ = done(path, [*items, item("c", lambda: measured.append("c"))])
    assert (again.measured, again.kept, measured) == (1, 4, ["a", "b", "c"])
    assert [row["model"] for row in again.rows] == ["a0", "a1", "b0", "b1", "c0"]


@pytest.mark.parametrize("column", SAME)
def test_what_was_measured_elsewhere_is_measured_again(path: Path, column: str) -> None:
    done(path, [item("a")])
    assert done(path, [item("a")], **{column: "another"})[0].measured == 1


def test_a_failure_is_a_row_and_the_next_item_goes_on(path: Path) -> None:
    outcome, _ = done(path, [item("a", fail, 2), item("b")])
    assert [(row["model"], row["step_s"], row["reason"]) for row in outcome.rows] == [
        ("a0", "", "crash: it"),
        ("a1", "", "crash: it"),
        ("b0", "1", ""),
    ]
    assert (outcome.measured, outcome.failed) == (1, ["a: crash: it"])


def test_failures_are_kept_until_they_are_to_be_retried(path: Path) -> None:
    done(path, [item("a", fail)])
    kept, _ = done(path, [item("a")])
    assert (kept.measured, kept.kept) == (0, 1)
    retried, _ = done(path, [item("a")], retry=True)
    assert (retried.measured, retried.rows[0]["reason"]) == (1, "")
    assert done(path, [item("a")], retry=True)[0].kept == 1


def test_what_would_end_too_late_is_left_out(path: Path) -> None:
    items = [item("a"), item("slow", lambda: time.sleep(0.5)), item("b"), item("c")]
    outcome, _ = done(path, items, budget_s=0.9)
    assert (outcome.measured, outcome.left_out) == (2, ["b", "c"])
    assert done(path, items, budget_s=0.0)[0].kept == 2


def test_the_first_item_says_nothing_of_the_others(path: Path) -> None:
    """It starts processes."""
    outcome, _ = done(path, [item("slow", lambda: time.sleep(0.5)), *map(item, "abc")], budget_s=0.9)
    assert (outcome.measured, outcome.left_out) == (4, [])


def test_without_any_time_nothing_is_begun(path: Path) -> None:
    outcome, _ = done(path, [item("a")], budget_s=-1)
    assert (outcome.rows, outcome.left_out) == ([], ["a"])


def test_what_is_finished_stays_when_the_next_item_raises(path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        done(path, [item("a"), item("b", interrupt)])
    assert done(path, [item("a"), item("b")])[0].kept == 1
