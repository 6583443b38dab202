"""The page of Pollux: what it says in words, and how a run is measured."""

import csv
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmarks.results.__main__ import read
from benchmarks.results.contestant import run
from benchmarks.results.pages import pollux

DATA = Path(__file__).parents[2] / "docs/results/data"
WORKLOAD = """name,time,application,num_replicas,batch_size
ncf-0,0,ncf,1,32768
ncf-1,10,ncf,1,32768
bert-2,20,bert,4,48
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, float]:
    """Two jobs of an application and one of another."""
    file = tmp_path_factory.mktemp("data") / pollux.FILE
    file.parent.mkdir(parents=True)
    file.write_text(WORKLOAD)
    return run(pollux.COMPARED[0], pollux.setting(pollux.MEASURED, 0, file.parents[2]), 0)


def test_a_run_is_measured_by_application(measured: Mapping[str, float]) -> None:
    assert (measured["jobs"], measured["jobs_ncf"], measured["jobs_bert"]) == (3, 2, 1)
    whole = 2 * measured["jct_ncf_s"] + measured["jct_bert_s"]
    assert whole == pytest.approx(3 * measured["jct_mean_s"], rel=1e-4)


def test_changes_of_gpus_are_counted(measured: Mapping[str, float]) -> None:
    """BERT alone is given more GPUs than it requests."""
    assert measured["resizes"] > 0


def test_the_data_name_every_contestant_with_its_options() -> None:
    with (DATA / "pollux-policies.csv").open(encoding="utf-8") as file:
        kept = {row["policy"]: row["options"] for row in csv.DictReader(file)}
    assert kept == {who.label: who.command for who in (*pollux.COMPARED, *pollux.AT_INTERVALS)}


def test_what_the_page_says_in_words_holds() -> None:
    """Both are early, Tiresias alike on both networks; errors have both signs; longer rounds are worse each time."""
    figures = read(DATA / "pollux.csv")
    mean_s = {
        (cell, who): figures.mean(vars(cell), who)
        for cell in (pollux.MEASURED, pollux.NOMINAL)
        for who in pollux.PUBLISHED_S
    }
    assert all(mean < pollux.PUBLISHED_S[who] for (_, who), mean in mean_s.items())
    assert mean_s[pollux.MEASURED, "tiresias"] == mean_s[pollux.NOMINAL, "tiresias"]
    assert mean_s[pollux.NOMINAL, "pollux"] < mean_s[pollux.MEASURED, "pollux"]
    row = figures.frame.filter(cluster="pollux-measured", policy="pollux").row(0, named=True)
    late = {name for name, published_s in pollux.PUBLISHED_OF_S.items() if row[f"jct_{name}_s"] > published_s}
    assert late == {"bert", "cifar10", "ncf"} and row["jobs_yolov3"] == 3
    by_interval = figures.frame.filter(pl.col("policy").str.starts_with("pollux,"))
    assert by_interval["jct_mean_s"].is_sorted() and by_interval["resizes"].is_sorted(descending=True)
