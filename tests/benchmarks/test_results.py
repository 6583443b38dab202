"""Pages of results: what they say is what their data say, and they are short."""

import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from benchmarks.blocks import fill
from benchmarks.results.__main__ import blocks, read
from benchmarks.results.contestant import Contestant
from benchmarks.results.figures import Figures
from benchmarks.results.sample import differs, is_quick

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
PAGES = sorted(path.stem for path in (ROOT / "benchmarks/results/pages").glob("[!_]*.py"))
MOST_WORDS, MOST_ROWS = 1500, 10


def page_of(name: str) -> Path:
    """The file of a page, which must be written."""
    page = RESULTS / f"{name}.md"
    if not page.exists():
        pytest.skip(f"{name} has runs, and no page yet")
    return page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_its_data_say(name: str, tmp_path: Path) -> None:
    """All figures that are filled in, in tables and in sentences, are those of the data file beside the page."""
    page_of(name)
    for beside, tables in blocks(name, read(RESULTS / "data" / f"{name}.csv")).items():
        again = Path(shutil.copy(page_of(beside), tmp_path))
        fill(again, tables)
        assert again.read_text(encoding="utf-8") == page_of(beside).read_text(encoding="utf-8"), (
            f"python -m benchmarks.results {name} --page-only"
        )


@pytest.mark.parametrize("name", [*PAGES, *(f"{name}-parts" for name in PAGES)])
def test_a_page_is_short(name: str) -> None:
    page = page_of(name).read_text(encoding="utf-8")
    assert len(page.split()) <= MOST_WORDS
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len(table.splitlines()) - 2 <= MOST_ROWS


def test_differences_are_paired_on_seeds() -> None:
    """In cell b, x takes half as long as y does in cell a, on each of three seeds that differ tenfold."""
    rows = [
        {"cell": cell, "policy": policy, "seed": seed, "jct_mean_s": factor * 10.0**seed}
        for cell, policy, factor in (("a", "y", 2.0), ("b", "x", 1.0))
        for seed in range(3)
    ]
    found = Figures(pl.DataFrame(rows)).change({"cell": "b"}, "x", "y", base_where={"cell": "a"})
    assert (found.percent, found.low, found.high) == pytest.approx((-50.0, -50.0, -50.0))
    assert found.is_sure and str(found) == "−50.0 [−50.0, −50.0]"


def test_a_sampled_run_is_compared_by_the_digits_that_are_kept() -> None:
    """And by the words that some run of its policy has."""
    assert not differs(12345.678, 12350.0) and differs(12345.678, 12370.0)
    assert not differs("oracle; estimate lognormal:1", "oracle") and differs("oracle; estimate lognormal:1", "none")
    assert differs(None, 3.0) and not differs(None, None)


def test_only_quick_runs_are_sampled() -> None:
    """On the page of metarl all but those that adapt; on the others none of a learned policy."""
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    adapting, itself = (Contestant("x", "metarl:none", params) for params in ({"steps": 3}, {}))
    assert [is_quick(page, itself) for page in ("metarl", "index")] == [True, False]
    assert not is_quick("metarl", adapting)
    assert is_quick("index", Contestant("x", "gittins"))
