"""A figure that cannot be drawn costs its place, and nothing else."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import FigureWarning
from pointsman.report.figures import catalogue, files
from pointsman.report.figures.catalogue import KINDS, draw_all
from pointsman.report.figures.drawing import failure
from pointsman.report.figures.files import save_figures
from pointsman.report.metrics.groups import group_runs
from pointsman.report.result import Result
from pointsman.report.run_reading import is_whole_run
from pointsman.report.rundir import write_comparison, write_run
from tests.report.small_results import Job, simulate

PARTS = ("paint", "size", "has_something", "of")
Fail = Callable[[str, str], None]


def broken(*_: Any) -> Any:
    raise IndexError("index 0 is out of bounds")


@pytest.fixture(scope="module")
def pair() -> list[Result]:
    """Jobs that are preempted, so that every figure has something to show."""
    rows = [(0, 2, 300, "a"), (5, 1, 20, "b"), (6, 2, 10, "a"), (30, 1, 40, "b")]
    jobs = [Job(k, submit, gpus, seconds, f"u{k}", queue) for k, (submit, gpus, seconds, queue) in enumerate(rows)]
    return [simulate([replace(job) for job in jobs], nodes=1, size=2, policy=name) for name in ("srtf", "fifo")]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Leaves one figure in the catalogue, of which one function raises, and one that is whole."""

    def only(name: str, part: str) -> None:
        (bad,) = [replace(kind, **{part: broken}) for kind in KINDS if kind.name == name]
        good = next(kind for kind in KINDS if kind.name != name)
        for module in (catalogue, files):
            monkeypatch.setattr(module, "KINDS", (bad, good))

    return only


def test_there_is_something_to_fail(pair: list[Result]) -> None:
    assert [drawing.name for drawing in draw_all(group_runs(pair))] == [kind.name for kind in KINDS]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        pytest.param(kind.name, part, marks=[] if kind is KINDS[0] or part == PARTS[0] else pytest.mark.slow)
        for kind in KINDS
        for part in PARTS
    ],
)
def test_the_page_and_the_tables_survive(name: str, part: str, pair: list[Result], fail: Fail, tmp_path: Path) -> None:
    fail(name, part)
    with pytest.warns(FigureWarning, match=f"figure {name} is missing"):
        write_comparison(tmp_path / "out", pair)
    out = tmp_path / "out"
    assert {row["policy"] for row in json.loads((out / "comparison.json").read_text())["rows"]} == {"srtf", "fifo"}
    assert is_whole_run(out / "runs/srtf_s0")
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 1
    said = "This figure could not be drawn (IndexError: index 0 is out of bounds). Tables and data are complete."
    assert page.count(said) == 1 and page.index(said) > page.index(f'id="figure-{name}"')
    assert said in (out / f"plots/{name}.txt").read_text()
    assert len(list((out / "plots").iterdir())) == 2


def test_tables_are_told_and_written_before_anything_is_drawn(
    pair: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even from a process that dies while it draws the table has been printed; the directory is whole or not there."""
    seen: list[str] = []

    def dies(*_: Any, **__: Any) -> Any:
        (partial,) = tmp_path.glob(".out.*.partial")
        seen.extend(sorted(path.name for path in partial.rglob("*.*")))
        raise KeyboardInterrupt

    monkeypatch.setattr("pointsman.report.rundir.make_page", dies)
    with pytest.raises(KeyboardInterrupt):
        write_comparison(tmp_path / "out", pair, tell=lambda made: seen.append(made.rows[0].policy))
    assert seen[0] == "srtf"
    assert {"comparison.csv", "comparison.json", "jobs.parquet", "summary.json"} <= {*seen}
    assert list(tmp_path.iterdir()) == []


def test_one_run_survives_as_well(pair: list[Result], fail: Fail, tmp_path: Path) -> None:
    fail("4-utilisation", "paint")
    with pytest.warns(FigureWarning):
        out = write_run(tmp_path / "out", pair[0])
    assert is_whole_run(out) and (out / "report.html").exists()


def test_files_for_papers_survive_and_none_is_half_written_or_old(
    pair: list[Result], fail: Fail, tmp_path: Path
) -> None:
    fail("1-jct-cdf", "paint")
    (tmp_path / "1-jct-cdf.svg").write_text("of other runs")
    with pytest.warns(FigureWarning):
        saved = save_figures(tmp_path, group_runs(pair), ["svg", "png"], 3.3)
    assert {path.name for path in saved} == {"1-jct-cdf.txt", "2-jct-bars.svg", "2-jct-bars.png"}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in saved}


@pytest.mark.parametrize(
    ("error", "said", "is_bug"),
    [
        (ValueError("x" * 500), f"(ValueError: {'x' * 188}…)", True),
        (MemoryError(), "(out of memory)", False),
        (OSError(28, "No space left on device"), "No space left", False),
    ],
)
def test_the_reason_is_a_short_sentence(error: Exception, said: str, is_bug: bool) -> None:
    with pytest.warns(FigureWarning):
        sentence = failure("1-jct-cdf", error)
    assert said in sentence and ("bug" in sentence) is is_bug
