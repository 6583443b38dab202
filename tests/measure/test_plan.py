"""What is measured, in which order, and what becomes of it."""

import time
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import UsageError
from pointsman.measure.messages import Setting
from pointsman.measure.plan import Budget, Cells, Item, work_off
from pointsman.measure.process import JobFailed, TimeIsOver
from pointsman.measure.rows import Row, RowFile

ABOUT = {"versions": "torch 1"}
COLUMNS = ("model", "step_s", "spread", "reason", "versions", "measured_at")


def item(name: str, work: Callable[[], object] = lambda: None, rows: int = 1, runs: int = 1) -> Item:
    def measure() -> Sequence[Cells]:
        work()
        return [{"step_s": 1.0}] * rows

    return Item(name, [{"model": f"{name}{i}"} for i in range(rows)], measure, [Setting(name, 1)], lambda: runs)


def fail() -> None:
    raise JobFailed("crash: it")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def done(path: Path, items: Sequence[Item], budget_s: float = inf, **more: Callable[..., Any]):
    said: list[tuple[float, str]] = []
    budget = Budget(time.monotonic() + budget_s, 0.2)
    with RowFile(path, COLUMNS, force=False) as file:
        outcome = work_off(items, file, ABOUT, budget, lambda *at: said.append(at), **more)
    return outcome, said


def has_failed(row: Row) -> bool:
    return bool(row["reason"])


def test_each_item_is_measured_once(path: Path) -> None:
    measured: list[str] = []
    items = [item(name, lambda name=name: measured.append(name), 2) for name in "ab"]
    outcome, said = done(path, items)
    assert (outcome.measured, len(outcome.kept), measured) == (4, 0, ["a", "b"])
    assert said == [(0.0, "a"), (0.5, "b"), (1.0, "")]
    again, _ = done(path, [*items, item("c", lambda: measured.append("c"))])
    assert (again.measured, len(again.kept), measured) == (1, 4, ["a", "b", "c"])
    assert [row["model"] for row in again.rows] == ["a0", "a1", "b0", "b1", "c0"]


def test_a_failure_is_a_row_and_the_next_item_goes_on(path: Path) -> None:
    outcome, _ = done(path, [item("a", fail, 2), item("b")])
    assert [(row["model"], row["step_s"], row["reason"]) for row in outcome.rows] == [
        ("a0", "", "crash: it"),
        ("a1", "", "crash: it"),
        ("b0", "1", ""),
    ]
    assert (outcome.measured, outcome.failed, outcome.failures) == (1, 2, ["a: crash: it"])


def test_failures_are_kept_until_they_are_to_be_retried(path: Path) -> None:
    done(path, [item("a", fail)])
    kept, _ = done(path, [item("a")])
    assert (kept.measured, len(kept.kept)) == (0, 1)
    retried, _ = done(path, [item("a")], again=has_failed)
    assert (retried.measured, retried.rows[0]["reason"]) == (1, "")
    assert done(path, [item("a")], again=has_failed)[0].kept
    assert len(path.read_text().splitlines()) == 2


def test_a_row_that_is_measured_again_is_replaced_unless_that_fails(path: Path) -> None:
    done(path, [item("a"), item("b")])
    failed, _ = done(path, [item("a", fail), item("b")], again=lambda row: row["model"] == "a0")
    assert (failed.failures, [row["step_s"] for row in failed.rows]) == (["a: crash: it"], ["1", "1"])
    late, _ = done(path, [item("a"), item("b")], budget_s=0, again=lambda row: row["model"] == "a0")
    assert (list(late.left_out), [row["model"] for row in late.rows]) == (["a"], ["a0", "b0"])
    again, _ = done(path, [item("a"), item("b")], again=lambda row: row["model"] == "a0")
    assert (again.measured, len(again.kept)) == (1, 1)
    assert [line[:2] for line in path.read_text().splitlines()] == ["mo", "b0", "a0"]


def test_of_two_rows_the_steadier_is_kept(path: Path) -> None:
    for spread, kept in ((0.3, 0), (0.4, 1), (0.2, 0), ("edited", 1), (0.2, 0)):
        one = Item("a", [{"model": "a"}], lambda spread=spread: [{"spread": spread}])
        outcome, _ = done(path, [one], again=lambda row: True)
        assert (outcome.measured, len(outcome.kept)) == (1 - kept, kept), spread
    assert [row["spread"] for row in outcome.rows] == ["0.2"]


def test_what_would_end_too_late_is_left_out(path: Path) -> None:
    items = [item("a"), item("slow", lambda: time.sleep(0.5)), item("b"), item("c")]
    outcome, _ = done(path, items, budget_s=0.9)
    assert (outcome.measured, list(outcome.left_out)) == (2, ["b", "c"])
    assert sum(outcome.left_out.values()) == pytest.approx(1.0, rel=0.1)
    assert done(path, items, budget_s=0.0)[0].kept


def test_an_item_of_many_runs_is_expected_to_take_longer(path: Path) -> None:
    items = [item("a"), item("slow", lambda: time.sleep(0.2)), item("three", runs=3), item("b")]
    outcome, _ = done(path, items, budget_s=0.7)
    assert (outcome.measured, list(outcome.left_out)) == (3, ["three"])
    assert sum(outcome.left_out.values()) == pytest.approx(0.6, rel=0.1)


def test_what_is_not_over_in_time_is_left_out(path: Path) -> None:
    def wait() -> None:
        time.sleep(0.3)
        raise TimeIsOver

    outcome, _ = done(path, [item("a"), item("b", wait), item("c")], budget_s=0.3)
    assert (outcome.measured, list(outcome.left_out), outcome.failures) == (1, ["b", "c"], [])
    assert outcome.ended == {"b": pytest.approx(0.3, rel=0.1)}
    assert outcome.left_out == pytest.approx({"b": 2 * outcome.ended["b"], "c": outcome.ended["b"]}, rel=0.1)
    assert outcome.least_s() == pytest.approx(0.6, rel=0.1)


def test_what_has_failed_takes_as_long_as_expected_at_least(path: Path) -> None:
    def hang() -> None:
        time.sleep(0.4)
        fail()

    outcome, _ = done(path, [item("a"), item("b", fail), item("c", hang), item("d", hang), item("e")], budget_s=1.1)
    assert (len(outcome.failures), list(outcome.left_out)) == (3, ["e"])
    assert outcome.left_out["e"] == pytest.approx(0.4, rel=0.1)


def test_all_that_is_not_in_the_file_is_checked_before_anything_is_measured(path: Path) -> None:
    done(path, [item("a")])

    def refuse(settings: Sequence[Setting]) -> None:
        assert [setting.model for setting in settings] == ["b", "c"]
        raise UsageError("no")

    with pytest.raises(UsageError):
        done(path, [item("a"), item("b"), item("c")], check=refuse)
    assert len(path.read_text().splitlines()) == 2


def test_the_first_item_says_nothing_of_the_others(path: Path) -> None:
    """It starts processes."""
    outcome, _ = done(path, [item("slow", lambda: time.sleep(0.5)), *map(item, "abc")], budget_s=0.9)
    assert (outcome.measured, list(outcome.left_out)) == (4, [])


def test_without_any_time_nothing_is_begun(path: Path) -> None:
    outcome, _ = done(path, [item("a")], budget_s=-1)
    assert (outcome.rows, list(outcome.left_out)) == ([], ["a"])


def test_what_is_finished_stays_when_the_next_item_raises(path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        done(path, [item("a"), item("b", interrupt)])
    assert done(path, [item("a"), item("b")])[0].kept
