"""Reports of runs in which jobs share GPUs, with figures worked by hand."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.report.comparison import compare
from pointsman.report.metrics.groups import group_runs
from pointsman.report.metrics.holdings import holdings
from pointsman.report.pages.page import facts
from pointsman.report.result import Result
from pointsman.report.tables.gpu_time import sharing_table
from pointsman.report.tables.tables import comparison_table, summary_table
from tests.free import simulate


def run(rows: list[dict[str, Any]], cluster: str, policy: str, **options: Any) -> Result:
    jobs = [{"submit_s": 0.0, "gpus": 1, "model": "resnet18"} | row for row in rows]
    return simulate(pointsman.Workload.of(pl.DataFrame(jobs)), cluster, policy, **options)


PAIR = [{"duration_s": 100.0}, {"duration_s": 60.0, "submit_s": 10.0}]


def pair(policy: str = "sjf-bsbf", **options: Any) -> Result:
    """Each takes 1.6 times as long beside the other::

        GPU  │ a .................... │
             │      b ......... │
             0     10        106   136

    b needs 60 · 1.6 = 75 s; a does 60 of its last 90 in them and ends 30 s later.
    """
    return run(PAIR, "1x1/gpu=v100", policy, **({"interference": "1.6"} | options))


def test_a_shared_gpu_is_held_in_halves() -> None:
    result = pair()
    assert result.jobs["end_s"].to_list() == [136.0, 106.0]
    held = holdings(result)
    assert held is not None
    assert held.sort("from_s", "row").select("row", "gpus", "beside", "from_s", "to_s").rows() == [
        (0, 1.0, 1, 0.0, 10.0),
        (0, 0.5, 2, 10.0, 106.0),
        (1, 0.5, 2, 10.0, 106.0),
        (0, 1.0, 1, 106.0, 136.0),
    ]


def test_figures_of_a_shared_gpu() -> None:
    summary = pointsman.summarise(pair())
    assert summary["gpu_allocated_ratio"] == pytest.approx(1.0)
    assert summary["window_allocated_ratio"] == pytest.approx(1.0)
    assert summary["gpu_productive_ratio"] == pytest.approx(160 / 136), "two jobs do more than one"
    assert summary["sharing"] == {
        "jobs_per_gpu": 2,
        "interference": "1.6",
        "jobs_shared_ratio": 1.0,
        "gpu_shared_ratio": pytest.approx(96 / 136),
        "accumulated_ratio": 0.0,
        "stretch_shared": pytest.approx((136 / 100 + 96 / 60) / 2),
        "slow_down_mean": pytest.approx((136 + 96) / 160),
    }


def test_bounds_allow_for_sharing() -> None:
    """One GPU with one job each would need 160 s for all; as two jobs share, 136 s are no wonder."""
    summary = pointsman.summarise(pair())
    assert summary["makespan_s"] == 136
    assert summary["makespan_lower_bound_s"] == 100
    assert summary["jct_lower_bound_s"] == 80
    assert pointsman.summarise(pair("sjf", interference=None))["makespan_lower_bound_s"] == 160


def test_who_shared_and_who_did_not() -> None:
    """c, on the second GPU, shares with nobody; ξ = 1 lets a and b end as if alone."""
    rows = [{"duration_s": 100.0}, {"duration_s": 100.0}, {"duration_s": 40.0, "submit_s": 1.0}]
    result = run(rows, "1x2/gpu=v100", "sjf-bsbf", interference="1")
    sharing = pointsman.summarise(result)["sharing"]
    assert sharing["jobs_shared_ratio"] == pytest.approx(2 / 3)
    assert sharing["gpu_shared_ratio"] == pytest.approx(40 / 200)
    assert sharing["stretch_shared"] == 1


def test_without_a_log_only_what_was_allowed_is_known() -> None:
    result = pair(log=False)
    assert holdings(result) is None
    summary = pointsman.summarise(result)
    assert summary["sharing"]["jobs_shared_ratio"] is None
    assert 0.5 < summary["gpu_allocated_ratio"] <= 1
    summary_table(summary)


def test_fractions_count_as_fractions() -> None:
    """0.5 and 0.3 of a GPU for 20 s: 16 GPU-seconds of work on a GPU that is in use all the time."""
    rows = [{"duration_s": 20.0, "fraction": f, "model": None} for f in (0.5, 0.3)]
    summary = pointsman.summarise(run(rows, "1x1", "fifo", gpu_sharing=4))
    assert summary["gpu_allocated_ratio"] == pytest.approx(1.0)
    assert summary["gpu_productive_ratio"] == pytest.approx(0.8)
    assert summary["makespan_lower_bound_s"] == 20
    assert sum(row["gpu_hours"] for row in summary["by_gpus"]) == pytest.approx(16 / 3600)
    alone = pointsman.summarise(run(rows, "1x1", "fifo"))
    assert alone["gpu_productive_ratio"] == 1.0, "without sharing each has all of the GPU"
    assert alone["sharing"] is None


def test_accumulation_is_counted() -> None:
    from pointsman.speed.profiles.catalogue import load_catalogue

    memory = load_catalogue().model("resnet50").memory
    batch = int((0.55 * 32 * 2**30 - memory.fixed_bytes) / memory.bytes_per_sample)
    rows = [{"duration_s": s, "model": "resnet50", "batch_size": batch} for s in (100.0, 10.0)]
    result = run([rows[0], rows[1] | {"submit_s": 1.0}], "1x1/gpu=v100", "sjf-bsbf", interference="1")
    assert pointsman.summarise(result)["sharing"]["accumulated_ratio"] == 0.5


def test_the_page_and_the_screen_say_what_was_assumed() -> None:
    groups = group_runs([pair(), pair("sjf")])
    assert dict(facts(groups))["GPU sharing"] == (
        "sjf-bsbf: up to 2 jobs a GPU, slowed by interference 1.6; sjf: a GPU has one job"
    )
    assert sharing_table(groups).rows == [("sjf-bsbf", "100.0 %", "70.6 %", "1.45", "1.48", "0.0 %")]
    shown = dict(summary_table(groups[0].first.summary).rows)  # ty: ignore
    assert shown["jobs that shared a GPU"] == "100.0 % (up to 2 a GPU, interference 1.6)"
    assert "jobs that shared a GPU" not in dict(summary_table(groups[1].first.summary).rows)  # ty: ignore


@pytest.mark.parametrize(
    ("others", "warned"),
    [
        ([("sjf", {})], ""),
        ([("sjf-ffs", {})], ""),
        ([("sjf", {"gpu_sharing": 2})], ""),
        ([("sjf", {"gpu_sharing": 4})], "(gpu sharing)"),
        ([("sjf-ffs", {"interference": "1.5"})], "(interference)"),
        ([("sjf", {"interference": "1.5"})], ""),
        ([("lwf", {})], "(rate model)"),
    ],
)
def test_only_what_is_really_unlike_is_warned_of(others: list[tuple[str, dict[str, Any]]], warned: str) -> None:
    note = comparison_table(compare([pair(), *(pair(name, **options) for name, options in others)])).note
    assert note.endswith(f"did not run under the same assumptions {warned}.") if warned else "Take care" not in note


def test_two_sources_of_the_slow_down_are_two_rows() -> None:
    labels = [group.label for group in group_runs([pair(), pair(interference="1.5")])]
    assert labels == ["sjf-bsbf (interference 1.6)", "sjf-bsbf (interference 1.5)"]


@pytest.mark.parametrize(
    ("policy", "options"),
    [("sjf-bsbf", {}), ("sjf-ffs", {}), ("fifo-backfill", {"gpu_sharing": 4}), ("lwf", {"estimate": "oracle"})],
)
def test_holdings_agree_with_who_is_on_which_gpu(policy: str, options: dict[str, Any]) -> None:
    draw = np.random.default_rng(5)
    gpus = draw.choice([1, 1, 2, 4, 6], 120)
    rows = {
        "submit_s": np.sort(draw.uniform(0, 600, 120)).round(3),
        "gpus": gpus,
        "duration_s": draw.uniform(5, 200, 120).round(3),
        "model": draw.choice(["resnet18", "resnet50"], 120),
        "fraction": np.where((gpus == 1) & (draw.uniform(size=120) < 0.5), 0.3, 1.0),
    }
    result = simulate(pointsman.Workload.of(pl.DataFrame(rows)), "3x4/gpu=v100", policy, **options)
    held = holdings(result)
    assert held is not None
    origin_s = result.jobs["submit_s"].min()
    spans = result.jobs.select("row", pl.col("start_s", "end_s") - origin_s)
    starts = result.events.filter(pl.col("kind") == "START").join(spans, on="row")  # nobody is preempted
    parts = [
        (start_s, end_s, row, {(node, bit) for bit in range(4) if mask >> bit & 1})
        for start_s, end_s, row, node, mask in starts.select("start_s", "end_s", "row", "node", "gpu_mask").rows()
    ]
    for at_s in draw.uniform(0, 800, 60):
        on = [(row, gpu) for start_s, end_s, row, gpus in parts if start_s <= at_s < end_s for gpu in gpus]
        crowd = Counter(gpu for _, gpu in on)
        now = held.filter(pl.col("from_s") <= at_s, pl.col("to_s") > at_s)
        shares = Counter()
        for row, gpu in on:
            shares[row] += 1 / crowd[gpu]
        assert dict(now.group_by("row").agg(pl.col("gpus").sum()).rows()) == pytest.approx(dict(shares))
        assert now["gpus"].sum() == pytest.approx(len(crowd))
    assert held["beside"].max() > 1
