"""What notebooks and shells show of results: a line, and a table."""

import json

import pytest

from pointsman import generate
from pointsman.cluster import load_cluster
from pointsman.report import compare, summarise
from pointsman.report.result import Result
from tests.free import simulate


@pytest.fixture(scope="module")
def runs() -> list[Result]:
    jobs = generate("philly", jobs=60, cluster_gpus=16, load=1.2, seed=3)
    return [simulate(jobs, "4x4", policy) for policy in ("fifo-backfill", "las")]


def test_a_workload_is_a_line_and_its_first_jobs() -> None:
    jobs = generate("philly", jobs=60, cluster_gpus=16, load=1.2, seed=3)
    assert len(jobs) == 60 and jobs["gpus"].equals(jobs.jobs["gpus"]) and jobs.head(2).height == 2
    assert repr(jobs).startswith("Workload(60 jobs of 1 to ") and len(repr(jobs)) < 200
    html = jobs._repr_html_()
    assert html.count("<table") == 1 and "Workload(60 jobs" in html and len(html) < 10_000
    none = jobs.with_jobs(jobs.head(0), reason="all")
    assert repr(none) == f"Workload(0 jobs, from {jobs.provenance.source})"


def test_a_cluster_is_a_line_and_its_file() -> None:
    cluster = load_cluster("4x4/gpu=v100")
    assert repr(cluster) == "Cluster(4x4/gpu=v100: 4 nodes, 16 GPUs (v100))" and "<pre>" in cluster._repr_html_()


def test_results_are_short(runs: list[Result]) -> None:
    result, comparison = runs[1], compare(runs)
    assert repr(result) == f"Result(las on {result.info['workload']['source']}, 60 jobs, seed 0)"
    assert result.summary == summarise(result) and json.loads(json.dumps(result.summary))["policy"] == "las"
    assert len(repr(result.summary)) < 3_000 and "by_user" not in repr(result.summary)
    assert repr(comparison).startswith("Comparison(fifo-backfill, las -")
    for shown in (result, result.summary, comparison):
        html = shown._repr_html_()
        assert html.count("<table>") == html.count("</table>") == 1 and len(html) < 10_000
    assert "job completion time, mean" in result._repr_html_()
