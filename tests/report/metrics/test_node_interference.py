"""Reports of runs in which jobs slow each other on nodes, with figures worked by hand."""

from pathlib import Path

import pytest

from pointsman.report.metrics.groups import group_runs
from pointsman.report.pages.page import facts
from pointsman.report.result import Result
from pointsman.report.summary import summarise
from pointsman.report.tables.tables import summary_table
from tests.engine.rate_models.two_sockets import profile, run


def result_of(folder: Path, source: str = "table") -> Result:
    """12 of 6 cores are busy until a and b end at 60 s; c has done 30 of 90 s then, and d suffers nothing."""
    jobs = [("busy", 30, ((0, 0),)), ("busy", 30, ((0, 1),)), ("busy", 90, ((0, 2),)), (None, 60, ((0, 3),))]
    return run(folder, jobs, {"busy": profile(cores=4, mb_per_s=0)}, node_interference=source)


def test_the_figures(tmp_path: Path) -> None:
    assert summarise(result_of(tmp_path))["node_interference"] == {
        "source": "table",
        "jobs_slowed_ratio": 3 / 4,
        "gpu_hours_of_slowed_ratio": pytest.approx(240 / 300),
        "gpu_hours_lost_ratio": pytest.approx(90 / 300),
        "slow_down_mean": pytest.approx(300 / 210),
    }
    assert "node_interference" not in summarise(result_of(tmp_path, "none"))


def test_the_lines_and_the_fact(tmp_path: Path) -> None:
    result = result_of(tmp_path)
    lines = summary_table(summarise(result))
    assert "75.0 % (by table)" in str(lines) and "30.0 %" in str(lines)
    said = dict(facts(group_runs([result])))["Node interference"]
    assert said == "jobs slow each other on nodes, by table"
    assert dict(facts(group_runs([result_of(tmp_path, "none")])))["Node interference"] == "none"
