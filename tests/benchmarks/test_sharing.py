"""The page on sharing GPUs: its figures are those of its data, and its jobs are what it says."""

from pathlib import Path

import polars as pl
import pytest

from benchmarks.pair_page import ORACLE
from benchmarks.pair_page import read as pairs
from benchmarks.results.__main__ import blocks, read, write
from benchmarks.results.pages.sharing import setting, slowdown, trials
from benchmarks.results.trials import complete, take_as_done
from benchmarks.sharing.blocks import ALONE, FFS, WHOLE_FFS, change, crossing, crossing_interval
from benchmarks.sharing.cells import (
    BELIEVED,
    BY_OTHER_TABLE,
    EQUAL,
    LOGS,
    LOGS_OTHER,
    MAIN,
    OTHER,
    OTHER_PAIRS,
    PAPER,
    SWEPT,
    Cell,
)
from benchmarks.sharing.pollux_mix import published
from pointsman.speed import load_catalogue
from pointsman.speed.interference.slow_downs import load_interference

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/results/sharing.md"
SHARED = ROOT.parent / "shared" / "data"
DATA = ROOT / "docs/results/data/sharing.csv"
FIGURES = read(DATA)


@pytest.mark.parametrize(("name", "text"), blocks("sharing", FIGURES)["sharing"].items())
def test_the_page_says_what_the_data_say(name: str, text: str) -> None:
    assert f"<!-- table {name} -->\n\n{text}\n<!-- end -->" in PAGE.read_text(encoding="utf-8")


def test_every_trial_is_in_the_data() -> None:
    wanted = {
        (*vars(trial.cell).values(), trial.seed, who.label) for trial in trials(SHARED) for who in trial.contestants
    }
    columns = ("workload", "submitted", "gpu", "slowdown", "seed", "policy")
    frame = FIGURES.frame.with_columns(FIGURES.frame["slowdown"].cast(str))
    assert set(frame.select(columns).rows()) == wanted
    assert FIGURES.frame["jct_mean_s"].is_finite().all()


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 1500


def test_pairs_on_the_papers_gpu_slow_each_other_as_on_a_p100_or_as_on_a_v100() -> None:
    catalogue = load_catalogue()
    for cell in (BELIEVED[0], OTHER_PAIRS[0]):
        used = load_interference(slowdown(cell, SHARED), catalogue).slow_down(cell.gpu, "resnet50", "bert")
        assert used == load_interference("table", catalogue).slow_down(cell.slowdown.lower(), "resnet50", "bert")


@pytest.mark.skipif(not (SHARED / "profiles").is_dir(), reason="no measured pairs")
@pytest.mark.parametrize("cell", [BY_OTHER_TABLE[0], LOGS_OTHER[0]])
def test_by_the_other_table_pairs_slow_each_other_as_the_page_on_pairs_says(cell: Cell) -> None:
    used = load_interference(slowdown(cell, SHARED), load_catalogue()).slow_down(cell.gpu, "resnet50", "bert")
    where = {"table": ORACLE, "gpu_type": cell.slowdown.removesuffix(OTHER).lower()}
    said = pairs()["pairs-xi"].filter(**where, model="resnet50", beside="transformer")["xi"].item()
    assert used == pytest.approx(said, rel=1e-3)


def test_the_table_of_pairs_is_nothing_to_policies_that_share_nothing() -> None:
    for cell, other in zip(MAIN, BY_OTHER_TABLE, strict=True):
        for policy in (ALONE, "srtf", "tiresias", "gittins"):
            assert (FIGURES.values(cell.where, policy) == FIGURES.values(other.where, policy)).all()
        assert (FIGURES.values(cell.where, FFS) != FIGURES.values(other.where, FFS)).any()


def test_what_the_page_answers_holds_by_both_tables() -> None:
    for cell in (*LOGS, *LOGS_OTHER):
        assert change(FIGURES, cell, ALONE).low > 0 and change(FIGURES, cell, "gittins").low > 0
    for cell in set((*MAIN, *BY_OTHER_TABLE)) - {*LOGS, *LOGS_OTHER}:
        assert change(FIGURES, cell, ALONE, WHOLE_FFS).percent < 0


def test_published_runs_are_taken_as_done(tmp_path: Path) -> None:
    """None is run again, and the data file stays as it is."""
    kept, again = tmp_path / "sharing.jsonl", tmp_path / DATA.name
    take_as_done("sharing", SHARED, FIGURES.frame, kept)
    write(complete("sharing", SHARED, 1, kept), again)
    assert again.read_bytes() == DATA.read_bytes()


@pytest.mark.parametrize("cell", SWEPT)
def test_where_sharing_ceases_is_between_two_slowdowns_that_were_run(cell: object) -> None:
    found = crossing(FIGURES, cell)  # ty: ignore
    assert found is None or 1.0 < found < 2.5
    low, high = crossing_interval(FIGURES, cell)  # ty: ignore
    assert found is None or low <= found <= high


@pytest.mark.skipif(not (SHARED / "samples").is_dir(), reason="no jobs")
def test_the_jobs_are_so_many_and_so_much_work() -> None:
    made = setting(PAPER[1], 0, SHARED)
    assert (made.jobs.jobs.height, made.cluster.gpus) == (240, 64)
    without = setting(EQUAL, 0, SHARED)
    assert "imagenet" not in set(without.jobs.jobs["model"])
    demands = published(SHARED).jobs.select("model", pl.col("batch_size") // pl.col("gpus")).rows()
    catalogue = load_catalogue()
    assert sum(catalogue.model(model).memory_bytes(samples) > 11 * 2**30 for model, samples in demands) == 14
    assert {setting(cell, 0, SHARED).cluster.gpus for cell in (*MAIN[:1], *LOGS)} == {16, 256}
