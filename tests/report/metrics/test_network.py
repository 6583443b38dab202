"""What a result says of communication, and of what it was assumed under."""

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.report.comparison import compare
from pointsman.report.pages.page import facts
from pointsman.report.tables.tables import comparison_table, summary_table
from tests.free import simulate

CLUSTER = "4x4/gpu=v100,nic=10Gbps"


def workload() -> pointsman.Workload:
    draw = np.random.default_rng(1)
    return pointsman.Workload.of(
        pl.DataFrame(
            {
                "submit_s": np.sort(draw.uniform(0, 60, 40)).round(3),
                "gpus": draw.choice([1, 2, 4, 6, 8], 40),
                "duration_s": draw.uniform(5, 30, 40).round(3),
                "model": draw.choice(["vgg16", "resnet50"], 40),
            }
        )
    )


def test_communication_and_queueing_are_told() -> None:
    result = simulate(workload(), CLUSTER, "fifo", placement="spread")
    summary = pointsman.summarise(result)
    assert 0 < summary["comm_mean_s"] == pytest.approx(result.jobs["comm_s"].mean())
    assert summary["comm_ratio"] == pytest.approx(result.jobs["comm_s"].sum() / result.jobs["run_s"].sum())
    assert summary["pending_mean_s"] == pytest.approx((result.jobs["jct_s"] - result.jobs["run_s"]).mean())
    shown = dict(summary_table(summary).rows)  # ty: ignore
    assert shown["waiting for the network, mean"].endswith("of running")


def test_a_gpu_that_jobs_share_is_in_use_once() -> None:
    result = simulate(workload(), CLUSTER, "lwf", estimate="oracle")
    assert result.jobs["held_gpu_s"].sum() > 16 * result.jobs["end_s"].max()  # more than there are
    summary = pointsman.summarise(result)
    assert 0.5 < summary["gpu_allocated_ratio"] <= 1
    assert 0.5 < summary["window_allocated_ratio"] <= 1


def test_runs_under_other_assumptions_are_compared_with_a_warning() -> None:
    runs = [simulate(workload(), CLUSTER, "fifo", placement="spread", contention="max-min")]
    runs.append(simulate(workload(), CLUSTER, "srtf", placement="spread"))
    comparison = compare(runs)
    assert comparison_table(comparison).note.endswith("did not run under the same assumptions (contention).")
    said = dict(facts(comparison.groups))
    assert said["Network"] == "fifo: links are shared (max-min); srtf: links are not shared"
    alike = compare([runs[1], simulate(workload(), CLUSTER, "sjf", placement="spread")])
    assert "Take care" not in comparison_table(alike).note
    assert "for the network" in comparison_table(alike).columns
