"""The page on sharing GPUs: its figures are those of its data, and its jobs are what it says."""

from pathlib import Path

import polars as pl
import pytest

from benchmarks.results.__main__ import blocks, read
from benchmarks.results.pages.sharing import setting, slowdown, trials
from benchmarks.sharing.blocks import crossing
from benchmarks.sharing.cells import BELIEVED, EQUAL, LOGS, MAIN, OTHER_PAIRS, PAPER, SWEPT
from benchmarks.sharing.pollux_mix import published
from pointsman.speed import load_catalogue
from pointsman.speed.interference.slow_downs import load_interference

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/results/sharing.md"
SHARED = ROOT.parent / "shared" / "data"
FIGURES = read(ROOT / "docs/results/data/sharing.csv")


@pytest.mark.parametrize(("name", "text"), blocks("sharing", FIGURES).items())
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
        told = load_interference(slowdown(cell), catalogue).slow_down(cell.gpu, "resnet50", "bert")
        assert told == load_interference("table", catalogue).slow_down(cell.slowdown.lower(), "resnet50", "bert")


@pytest.mark.parametrize("cell", SWEPT)
def test_where_sharing_ceases_is_between_two_slowdowns_that_were_run(cell: object) -> None:
    found = crossing(FIGURES, cell)  # ty: ignore
    assert found is None or 1.0 < found < 2.5


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
