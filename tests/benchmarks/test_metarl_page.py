"""The runs behind Meta-RL's page, and what the page says of them."""

from pathlib import Path

import pytest

from benchmarks.metarl.cells import BASE, CHANGED, LOGGED, SHORT, UNSEEN, Cell
from benchmarks.metarl.contestants import (
    ADAPTING,
    ALWAYS,
    CEILING,
    FROZEN,
    HARMONY,
    ITSELF,
    NETWORK,
    NOTHING,
    UNEXPLORED,
    UNTRAINED,
    contestants,
)
from benchmarks.metarl.noise import figures_of
from benchmarks.metarl.sentences import BASELINES, ITP, UNTAUGHT, WIDE
from benchmarks.placement.means import Means
from benchmarks.results.__main__ import read
from benchmarks.results.contestant import run
from benchmarks.results.pages import metarl as page
from benchmarks.results.trials import DATA

ROOT = Path(__file__).parents[2]


def test_jobs_after_a_change_are_counted() -> None:
    """And no other, in all figures of a run."""
    cell = Cell(submitted=40, change=UNSEEN)
    setting = page.setting(cell, 2001, Path("nowhere"))
    jobs = setting.jobs.jobs
    found = run(UNTRAINED[0], setting, 2001)
    assert found["jobs"] == 20
    assert found["duration_mean_s"] == pytest.approx(jobs.tail(20)["duration_s"].mean(), rel=1e-3)
    assert run(UNTRAINED[0], page.setting(Cell(submitted=40), 2001, Path("nowhere")), 2001)["jobs"] == 40


def test_parts_are_measured_where_jobs_change_and_on_logs() -> None:
    def runs(label: str) -> list[int]:
        cells = BASE[0], CHANGED[0], LOGGED[0], WIDE
        return [sum(who.label.startswith(f"{label}, training") for who in contestants(cell)) for cell in cells]

    assert (runs(ITSELF), runs(HARMONY), runs(ADAPTING)) == ([5, 5, 5, 5], [1, 1, 1, 0], [2, 0, 2, 0])
    wrong = contestants(Cell(estimate="lognormal:1"))
    assert {who.estimate for who in wrong} == {"lognormal:1"} and NOTHING.label in {who.label for who in wrong}


@pytest.fixture(scope="module")
def means() -> Means:
    """Those of the page."""
    return Means(read(ROOT / DATA / "metarl.csv"), Cell, BASELINES)


def test_each_published_run_is_that_of_a_trial() -> None:
    frame = read(ROOT / DATA / "metarl.csv").frame
    trials = list(page.trials(Path("nowhere")))
    wanted = {(trial.cell, trial.seed, who.label) for trial in trials for who in trial.contestants}
    rows = frame.select(*vars(BASE[0]), "seed", "policy").iter_rows()
    found = [(Cell(*cell), seed, label) for *cell, seed, label in rows]
    assert set(found) == wanted and len(found) == len(wanted)
    for who in trials[0].contestants:
        assert who.command in frame.filter(policy=who.label)["options"][0].split("; ")


def test_a_published_run_is_made_again() -> None:
    """After a change, where only a part of the jobs counts, and with an unseen model."""
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    cell, seed = CHANGED[-1], 2003
    who = next(one for one in contestants(cell) if one.label == FROZEN + ", training 2")
    kept = read(ROOT / DATA / "metarl.csv").runs({**vars(cell), "seed": seed}, who.label)
    found = run(who, page.setting(cell, seed, Path("nowhere")), seed)
    for figure in ("jct_mean_s", "jct_p99_s", "pending_max_s", "duration_mean_s"):
        assert found[figure] == pytest.approx(kept[figure].item(), rel=1e-3)


@pytest.mark.slow
def test_without_noise_a_misreading_policy_is_itself() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    rows = read(ROOT / DATA / "metarl.csv").runs({**vars(Cell()), "seed": 2001}, f"{ITSELF}, training 1")
    kept = rows.select("jct_mean_s", "jct_p99_s", "pending_max_s").row(0)
    assert figures_of(0.0, 1, 2001) == pytest.approx(kept, rel=1e-3)
    assert figures_of(0.4, 1, 2001)[0] != pytest.approx(kept[0], rel=1e-3)


def test_what_the_page_answers_holds(means: Means) -> None:
    """Its words, whose figures are filled in."""
    for cell in (*BASE, *CHANGED):
        assert means.below(cell, ITSELF).low > 22
        assert means.below(cell, "packed").percent > 0.5 * means.below(cell, ITSELF).percent
        assert means.above(cell, ITSELF, FROZEN).high < 0
    for cell in (*BASE, *CHANGED, *LOGGED):
        assert not means.above(cell, UNEXPLORED, ITSELF).is_sure
    assert not means.above(ITP, NETWORK, ITSELF).low > 0 and means.longest.above(ITP, ALWAYS, ITSELF).low > 0


def test_what_the_page_says_of_short_traces_holds(means: Means) -> None:
    """Near the true model at once; without meta-learning after 100 jobs or more."""
    for cell in SHORT:
        assert abs(means.above(cell, ITSELF, CEILING).percent) < 2
        assert (means.above(cell, UNTAUGHT, CEILING).percent < 3) is (cell.submitted >= 100)
