"""The runs behind MARL's page, and what the page says of them."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.marl.cells import CLAIM, EIGHT, HARD, Cell
from benchmarks.marl.contestants import (
    ACTORS,
    ALONE,
    HISTORY,
    MARL,
    MARL_FIFO,
    SCORER,
    SCORER_FIFO,
    UNTRAINED,
    contestants,
)
from benchmarks.marl.trainings import know_less
from benchmarks.marl.variants import BLIND as UNKNOWN
from benchmarks.marl.variants import LEARNT, MEASURED
from benchmarks.placement.cell import BLIND
from benchmarks.placement.means import BOUND, Means, above, middle
from benchmarks.results.__main__ import read
from benchmarks.results.contestant import Contestant, run
from benchmarks.results.figures import Figures
from benchmarks.results.pages import marl as page
from benchmarks.results.trials import DATA
from pointsman.speed import load_catalogue
from pointsman.speed.interference.learned.combinations import combination_of
from pointsman.speed.interference.learned.file import read_learned

ROOT = Path(__file__).parents[2]
TRAINED = ROOT / "benchmarks" / "marl" / "trained"
SMALL = Cell(topology="fat-tree:4", load=1.2, submitted=30)


@pytest.fixture(scope="module")
def published() -> Figures:
    """The data of the page."""
    return read(ROOT / DATA / "marl.csv")


@pytest.fixture(scope="module")
def means(published: Figures) -> Means:
    """Its means."""
    return Means(published, Cell)


def _row(who: Contestant, cell: Cell, seed: int) -> dict:
    found = run(who, page.setting(cell, seed, Path("nowhere")), seed)
    return {**vars(cell), "seed": seed, "policy": who.label, **found}


def test_runs_become_means_over_trainings_and_seeds() -> None:
    trained = [Contestant(f"x, training {k + 1}", "scorer", {"patience": 2.0 * k}) for k in range(2)]
    who = [*UNTRAINED[: len(BLIND)], *trained]
    found = Means(Figures(pl.DataFrame([_row(one, SMALL, seed) for one in who for seed in (1, 2)])), Cell)
    of = found.of(SMALL, "x")
    assert of.shape == (2, 2) and (of[0] != of[1]).any()
    assert (found.of(SMALL, BOUND) < of).all()
    best = np.min([found.of(SMALL, name) for name in BLIND], axis=0)
    middle_two = np.sort(100 * (1 - of / best).ravel())[1:3]
    assert found.below(SMALL, "x").percent == pytest.approx(middle_two.mean())


def test_each_published_run_is_that_of_a_trial(published: Figures) -> None:
    trials = list(page.trials(Path("nowhere")))
    wanted = {(trial.cell, trial.seed, who.label) for trial in trials for who in trial.contestants}
    names = [*vars(SMALL), "seed", "policy"]
    found = [(Cell(*cell), seed, label) for *cell, seed, label in published.frame.select(names).iter_rows()]
    assert set(found) == wanted and len(found) == len(wanted)
    for who in trials[0].contestants:
        assert who.command in published.frame.filter(policy=who.label)["options"][0].split("; ")


def test_a_published_run_is_made_again(published: Figures) -> None:
    cell, seed = CLAIM[0], 1001
    who = next(one for one in contestants(cell) if one.label == f"{SCORER}, training 2")
    kept = published.runs({**vars(cell), "seed": seed}, who.label)
    found = _row(who, cell, seed)
    for figure in ("jct_mean_s", "jct_p99_s", "pending_max_s", "duration_mean_s"):
        assert found[figure] == pytest.approx(kept[figure].item(), rel=1e-3)


def test_trainings_are_compared_one_by_one_and_with_what_was_not_trained() -> None:
    mine, theirs, alone = np.array([[1.0, 4.0], [3.0, 8.0]]), np.array([[2.0, 4.0], [3.0, 4.0]]), np.array([[1.0, 2.0]])
    assert above(mine, theirs).tolist() == [[-50.0, 0.0], [0.0, 100.0]]
    assert above(mine, alone).tolist() == [[0.0, 100.0], [200.0, 300.0]]
    assert above(alone, theirs).tolist() == [[-50.0, -50.0], [pytest.approx(-200 / 3), -50.0]]
    assert above(np.vstack([mine, mine]), theirs[:, :1]).tolist() == [[-50.0], [0.0]]
    assert str(middle(np.full((2, 3), 7.0))) == "+7.0 [+7.0, +7.0]"
    assert str(middle(np.array([[7.0]]))) == "+7.0"


def test_all_that_is_trained_decides_by_what_was_learnt_on_such_servers() -> None:
    def of(label: str, cell: Cell) -> Contestant:
        return next(one for one in contestants(cell) if one.label == f"{label}, training 2")

    eight = of(MARL_FIFO, EIGHT[0])
    assert eight.policy == "marl:benchmarks/marl/trained/fifo-2"
    assert eight.params == {
        "schedulers": 8, "forward": True, "order": "fifo", "interference": "benchmarks/marl/trained/interference.yaml",
    }  # fmt: skip
    assert "order" not in of(MARL, Cell()).params and "order" not in of(SCORER, Cell()).params
    assert of(MARL, Cell()).policy.endswith("/marl-2") and of(ACTORS, Cell()).policy.endswith("/actors-2")
    assert of(SCORER, Cell(cpus=8)).params["interference"].endswith("/interference-8-cores.yaml")
    assert "interference" not in of(f"{SCORER_FIFO}, true interference", Cell()).params
    assert of(f"{SCORER_FIFO}, no waiting", Cell()).params["patience"] == 0.0
    assert not of(f"{ACTORS}, no forwarding", EIGHT[0]).params["forward"]
    assert of(ALONE, EIGHT[0]).params["schedulers"] == 1
    assert (of(MARL, HARD).estimate, of(MARL + HISTORY, HARD).estimate) == (None, "history")


def test_what_ablations_know_is_less(tmp_path: Path) -> None:
    """One what was measured, the other nothing: all else takes no longer than alone."""
    shutil.copy(TRAINED / LEARNT, tmp_path)
    know_less(tmp_path)
    whole, measured, blind = (
        read_learned(tmp_path / name, load_catalogue()).servers[0] for name in (LEARNT, MEASURED, UNKNOWN)
    )
    assert len(whole.slow_downs) > len(measured.slow_downs) == 1682 and not blind.slow_downs
    beside = combination_of("vgg16", "2 beside resnet50*2")
    assert whole.slow_downs[beside] == measured.slow_downs[beside] > 1.0
    assert [one.models["vgg16"].otherwise.slow_down(beside) for one in (measured, blind)] == [1.0, 1.0]


def test_what_the_page_answers_holds(means: Means) -> None:
    """Its words, whose figures are filled in."""
    for cell in CLAIM:
        assert min(means.below(cell, who).percent for who in (MARL, ACTORS)) > 20
        assert means.below(cell, "packed").percent > 0.5 * means.below(cell, MARL).percent
        if cell.load == 0.7:
            assert means.above(cell, MARL, SCORER).high < 0
        else:
            assert means.above(cell, SCORER, SCORER_FIFO).percent < -2
    assert means.longest.above(HARD, SCORER, SCORER_FIFO).low > 0


def test_cells_are_named_apart() -> None:
    assert replace(SMALL, sizes="1-16", load=0.9).name == "1–16 GPUs, load 0.9, fat-tree:4"
    cells = {trial.cell for trial in page.trials(Path("nowhere"))}
    assert len({cell.name for cell in cells}) == len(cells) == 17
