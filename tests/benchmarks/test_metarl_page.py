"""The runs behind Meta-RL's page, and what the page says of them."""

from pathlib import Path

import pytest

from benchmarks.metarl.cells import BASE, CHANGED, SHORT, UNSEEN, Cell
from benchmarks.metarl.contestants import CEILING, FROZEN, ITSELF, NOTHING, UNTRAINED, contestants
from benchmarks.metarl.sentences import BASELINES, ITP, PHILLY, UNTAUGHT, WIDE
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


def test_variants_have_fewer_runs_than_the_policy_itself() -> None:
    def runs(cell: Cell, label: str) -> list[int]:
        return [sum(who.label.startswith(label) for who in contestants(cell, seed)) for seed in (2001, 2010)]

    assert [runs(cell, f"{ITSELF}, training") for cell in (*BASE, WIDE)] == [[5, 5], [2, 0]]
    assert [runs(cell, "Harmony-like") for cell in (*BASE, WIDE)] == [[2, 0], [2, 0]]
    assert [runs(cell, NOTHING.label) for cell in (*BASE, WIDE)] == [[1, 1], [1, 0]]
    assert [runs(cell, "metarl, adapting,")[0] for cell in (*BASE, *CHANGED, *SHORT[:1], WIDE)] == [2] * 6 + [0, 0]


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
    who = next(one for one in contestants(cell, seed) if one.label == FROZEN + ", training 2")
    kept = read(ROOT / DATA / "metarl.csv").runs({**vars(cell), "seed": seed}, who.label)
    found = run(who, page.setting(cell, seed, Path("nowhere")), seed)
    for figure in ("jct_mean_s", "duration_mean_s"):
        assert found[figure] == pytest.approx(kept[figure].item(), rel=1e-3)


def test_what_the_page_answers_holds(means: Means) -> None:
    """Its words, whose figures are filled in."""
    for cell in (*BASE, *CHANGED):
        assert means.below(cell, ITSELF).low > 22
        assert means.below(cell, "packed").percent > 0.5 * means.below(cell, ITSELF).percent
        assert means.above(cell, ITSELF, FROZEN).high < 0
        assert not means.above(cell, "metarl, adapting", ITSELF).is_sure
        assert not means.above(cell, "metarl, no exploration", ITSELF).low > 0
        assert means.above(cell, "metarl, no network", ITSELF).is_sure is (cell in BASE or cell.change == "rate × 2")
    assert not any(means.above(cell, ITSELF, FROZEN).is_sure for cell in (WIDE, ITP, PHILLY))
    assert [cell for cell in means.cells if means.above(cell, ITSELF, CEILING).low > 0] == [ITP]


def test_what_the_page_says_of_short_traces_holds(means: Means) -> None:
    """Near the true model at once; without meta-learning after 200 to 400 jobs."""
    for cell in SHORT:
        assert abs(means.above(cell, ITSELF, CEILING).percent) < 2
        assert (means.above(cell, UNTAUGHT, CEILING).percent < 3) is (cell.submitted >= 200)
