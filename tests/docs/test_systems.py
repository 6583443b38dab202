"""The table of systems in the README says what their pages of results say."""

import re

import pytest

from .pages import ROOT

TABLE = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Systems")[2].partition("\n## ")[0]
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
