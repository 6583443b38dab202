"""The speed page and its data: medians and ranges of runs of one version."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks import speed_page
from benchmarks.blocks import fill
from benchmarks.measures import Budget, Measure, interleaved


@pytest.mark.parametrize(
    ("page", "blocks"), [(speed_page.PAGE, speed_page.blocks), (speed_page.EXPLAINED, speed_page.explained)]
)
def test_a_page_says_what_its_data_say(
    page: Path, blocks: Callable[[pl.DataFrame], Mapping[str, str]], tmp_path: Path
) -> None:
    text = page.read_text(encoding="utf-8")
    again = tmp_path / "page.md"
    again.write_text(text, encoding="utf-8")
    fill(again, blocks(speed_page.read()))
    assert again.read_text(encoding="utf-8") == text
    assert len(text.split()) <= 1500


def test_all_figures_of_one_benchmark_are_of_one_version_and_machine() -> None:
    rows = speed_page.read()
    benchmark = pl.col("figure").str.split("/").list.first()
    assert (rows.group_by(benchmark).agg(pl.struct("version", "machine").n_unique())["version"] == 1).all()
    assert not rows["version"].str.contains("dirty").any()
    assert rows.filter((pl.col("least") > pl.col("median")) | (pl.col("median") > pl.col("greatest"))).is_empty()


def test_a_figure_recorded_again_replaces_the_former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_page, "DATA", tmp_path / "speed.csv")
    speed_page.record([Measure("b", [1.0, 2.0, 9.0], "s"), Measure("a", 5.0)])
    speed_page.record([Measure("b", [3.0, 4.0, 5.0], "s")])
    rows = speed_page.read().select("figure", "median", "least", "greatest", "runs").rows()
    assert rows == [("a", 5.0, 5.0, 5.0, 1), ("b", 4.0, 3.0, 5.0, 3)]


def test_programs_take_turns_so_that_a_slow_spell_hits_all_alike() -> None:
    order: list[str] = []
    ticks = iter(range(1, 7))

    def program(name: str) -> float:
        order.append(name)
        return float(next(ticks))

    seconds = interleaved({"a": lambda: program("a"), "b": lambda: program("b")}, rounds=3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert np.array_equal(seconds["b"] / seconds["a"], [2 / 1, 3 / 4, 6 / 5])


@pytest.mark.parametrize(
    ("budget", "value", "holds"),
    [
        (Budget(margin=0.1, at_least=10), 10.0, True),
        (Budget(margin=0.1, at_least=10), 9.9, False),
        (Budget(margin=0.1, at_least=10, known=9.0), 8.2, True),
        (Budget(margin=0.1, at_least=10, known=9.0), 8.0, False),
        (Budget(margin=0.1, at_most=2, known=3.0), 3.2, True),
        (Budget(margin=0.1, at_most=2, known=3.0), 3.4, False),
        (Budget(margin=0.1, known=3.0), 2.6, False),
    ],
)
def test_a_budget_holds_if_its_goal_is_met_or_nothing_got_worse(budget: Budget, value: float, holds: bool) -> None:
    assert budget.holds(value) == holds
