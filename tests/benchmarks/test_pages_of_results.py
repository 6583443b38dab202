"""Pages whose figures are filled in from data files: they say what the data say, and are short."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from benchmarks import pair_page, profile_page
from benchmarks.blocks import fill
from benchmarks.results.__main__ import read
from benchmarks.results.contestant import run
from benchmarks.results.pages import topdrl
from benchmarks.results.trials import DATA
from benchmarks.topdrl import comparisons
from benchmarks.topdrl.contestants import AT_ANY_SITE, OF_THE_PAPER, PROXIMITY, TRAINED

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "src/pointsman/learn/policies/shipped/topdrl"
WORDS, ROWS = 1500, 10
PAGES = {"pairs": pair_page, "profiles": profile_page}


def _filled_in(name: str) -> Mapping[str, str]:
    frames = PAGES[name].read()
    return {block: make(frames) for block, make in PAGES[name].BLOCKS.items()}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_its_data_say(name: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "results" / f"{name}.md").read_text(encoding="utf-8")
    again = tmp_path / "page.md"
    again.write_text(page, encoding="utf-8")
    fill(again, _filled_in(name))
    assert again.read_text(encoding="utf-8") == page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_short(name: str) -> None:
    page = (ROOT / "docs" / "results" / f"{name}.md").read_text(encoding="utf-8")
    assert len(page.split()) <= WORDS
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len(table.splitlines()) - 2 <= ROWS


def test_throughput_is_measured_until_the_horizon() -> None:
    """All jobs are there from the start, and some are cut off."""
    cell = topdrl.Cell("throughput", topdrl.OWN, 32, 60, None, 0.6)
    setting = topdrl.setting(cell, 0, Path("nowhere"))
    assert setting.options["until_s"] > 0
    found = run(OF_THE_PAPER[0], setting, 0)
    assert found["unfinished"] > 0
    assert 0.0 < found["throughput"] < 1.3
    assert (found["durations"], found["profiles"], found["progress"]) == ("none", "none", "none")


def test_completion_is_measured_until_all_have_ended() -> None:
    cell = topdrl.Cell("completion", topdrl.OWN, 32, 40, 1.0)
    found = run(AT_ANY_SITE[0], topdrl.setting(cell, 1, Path("nowhere")), 1)
    assert (found["jobs"], found["unfinished"]) == (40, 0)
    assert found["jct_mean_s"] > 0


@pytest.mark.parametrize(
    ("agent", "seeds"), [("topdrl", range(1, 5)), ("deeprm", range(1, 6)), ("proximity-drl", range(1, 6))]
)
def test_trainings_are_alike(agent: str, seeds: range) -> None:
    """TopDRL's fifth is the shipped one."""
    cards = [yaml.safe_load((ROOT / TRAINED / f"{agent}-{k}" / "policy.yaml").read_text()) for k in seeds]
    assert [card["seed"] for card in cards] == list(seeds)
    if agent == "topdrl":
        cards.append(yaml.safe_load((SHIPPED / "policy.yaml").read_text()))
    assert all(3_000_000 <= card["steps"] < 3_010_000 for card in cards)
    for card in cards:
        assert card["algorithm"] == cards[0]["algorithm"] and card["network"] == cards[0]["network"]
        assert cards[-1]["environment"].items() <= card["environment"].items()


def test_what_topdrls_page_answers_holds() -> None:
    """Its words, whose figures are filled in."""
    figures = comparisons.pooled(read(ROOT / DATA / "topdrl.csv"))
    home, *logs = comparisons.cells(figures, "throughput")
    assert comparisons.ahead(figures, home, comparisons.SITE).low > 0
    for where in (home, *logs):
        assert comparisons.ahead(figures, where, comparisons.PAPER).low > 0
    for where in logs:
        paper, near, site = (
            comparisons.ahead(figures, where, by).percent
            for by in (comparisons.PAPER, comparisons.NEAR, comparisons.SITE)
        )
        assert site < 0 and near < paper / 2
        chosen, first = (figures.mean(where, who, "throughput") for who in (PROXIMITY, "FCFS + first"))
        assert chosen < 1.001 * first
    for where in comparisons.cells(figures, "completion"):
        assert comparisons.later(figures, where, comparisons.SITE).percent > 0
        assert figures.mean(where, "gittins") < figures.mean(where, "topdrl")
