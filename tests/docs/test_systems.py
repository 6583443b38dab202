"""The README says what the pages of results say, and is short."""

import re

import pytest

from benchmarks.results.__main__ import read
from benchmarks.results.pages import index

from .pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLE = README.partition("## Systems")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| \[[^\]]*\]\((\S+)\)[^|]*\|[^|]*\|[^|]*\|([^|]*)\|$", TABLE, re.M)


def test_there_are_seven_systems() -> None:
    assert len(ROWS) == 7


@pytest.mark.parametrize(("page", "found"), ROWS)
def test_each_figure_stands_on_the_page(page: str, found: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    figures = re.findall(r"[+−]?\d+(?:\.\d+)?", found)
    assert figures, found
    missing = [figure for figure in figures if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.]*\d)", text)]
    assert missing == []


def test_the_gain_of_the_default_is_that_of_the_data() -> None:
    gains = index.gains(read(ROOT / "docs/results/data/index.csv"))
    said = re.search(r"mean completion time \(JCT\) is ([\d.]+) to ([\d.]+) % below that of `fifo-backfill`", README)
    assert said is not None
    assert said.groups() == (f"{min(gains):.1f}", f"{max(gains):.1f}")
    assert "On [six workloads]" in README and len(gains) == 6


def test_it_is_short() -> None:
    assert len(README.split()) <= 700
