"""Safety of runs in which jobs share GPUs, checked from their plan logs alone."""

from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pointsman
from tests.free import simulate

from .shared_ledger import SharedLedger

CLUSTERS = {"1x1/gpu=v100": 1, "1x4/gpu=p100": 4}
SHARING = ("sjf-bsbf", "sjf-bsbf-consolidated", "sjf-ffs", "fifo-backfill")
FAST = settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LARGE = ("bert", "gpt2", "yolov3")
"""Models of which two hardly fit a GPU."""


@st.composite
def job_tables(draw: st.DrawFn, widest: int) -> pl.DataFrame:
    """Gangs are of models with batches that cannot be split, so that the ledger need not know of communication."""
    rows = []
    for _ in range(draw(st.integers(1, 15))):
        gpus = draw(st.integers(1, widest)) if draw(st.booleans()) else 1
        job: dict[str, Any] = {
            "submit_s": float(draw(st.integers(0, 60))),
            "gpus": gpus,
            "duration_s": float(draw(st.integers(0, 40))),
            "model": draw(st.sampled_from(["resnet18", "ncf", *LARGE, None])),
            "batch_size": gpus if gpus > 1 else draw(st.sampled_from([None, 1, 16, 64])),
            "fraction": None,
        }
        if gpus == 1 and draw(st.integers(0, 4)) == 0:
            job |= {"fraction": draw(st.sampled_from([0.1, 0.25, 0.5, 0.7])), "model": None, "batch_size": None}
        rows.append(job)
    schema = {"model": pl.String, "batch_size": pl.Int64, "fraction": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=schema).sort("submit_s")


@FAST
@given(data=st.data())
def test_no_run_breaks_the_shared_ledger(data: st.DataObject) -> None:
    cluster = data.draw(st.sampled_from(list(CLUSTERS)))
    jobs = data.draw(job_tables(CLUSTERS[cluster]))
    policy = data.draw(st.sampled_from(SHARING))
    limit = data.draw(st.integers(2, 4))
    slow_down = data.draw(st.sampled_from([1.0, 1.25, 1.5, 2.0]))
    workload = pointsman.Workload.of(jobs)
    result = simulate(workload, cluster, policy, gpu_sharing=limit, interference=str(slow_down), audit=True)
    SharedLedger(workload, result, cluster, limit, slow_down)
    assert (result.jobs["state"] == "COMPLETED").all(), "a job waits for ever"


@pytest.mark.parametrize("slow_down", [1.0, 1.4])
def test_the_ledger_sees_jobs_share(slow_down: float) -> None:
    """And finds what is wrong: less memory, fewer jobs, another slow-down."""
    rows = [{"submit_s": 0.0, "gpus": 1, "duration_s": 10.0 + i, "model": "resnet18"} for i in range(4)]
    options: dict[str, Any] = {"interference": str(slow_down)}
    workload = pointsman.Workload.of(pl.DataFrame(rows))
    result = simulate(workload, "1x1/gpu=v100", "sjf-bsbf", **options)
    assert len(SharedLedger(workload, result, "1x1/gpu=v100", 2, slow_down).shared) == 4
    with pytest.raises(AssertionError, match="too many jobs"):
        SharedLedger(workload, result, "1x1/gpu=v100", 1, slow_down)
    with pytest.raises(AssertionError, match="ms of work"):
        SharedLedger(workload, result, "1x1/gpu=v100", 2, slow_down + 0.1)


def test_with_no_slow_down_sharing_always_pays() -> None:
    """ξ = 1: nobody ever waits as long as a GPU with one job has the memory."""
    rows = [{"submit_s": float(i), "gpus": 1, "duration_s": 100.0 - i, "model": "ncf"} for i in range(4)]
    result = simulate(
        pointsman.Workload.of(pl.DataFrame(rows)), "1x2/gpu=v100", "sjf-bsbf", interference="1", audit=True
    )
    assert result.jobs["wait_s"].to_list() == [0.0] * 4


@pytest.mark.parametrize(("longer_s", "shares"), [(50.0, False), (49.0, True)])
def test_at_twice_the_time_only_a_shorter_newcomer_pays(longer_s: float, shares: bool) -> None:
    """ξ = 2: A has 100 s left. B joins only if it is so much shorter that A's loss is less than its wait: 2 · B - B / 2
    + A / 2 < A + B / 2, which is B < A / 2.
    """
    rows = [
        {"submit_s": 0.0, "gpus": 1, "duration_s": 101.0, "model": "ncf"},
        {"submit_s": 1.0, "gpus": 1, "duration_s": longer_s, "model": "ncf"},
    ]
    result = simulate(
        pointsman.Workload.of(pl.DataFrame(rows)), "1x1/gpu=v100", "sjf-bsbf", interference="2", audit=True
    )
    assert (result.jobs.sort("row")["wait_s"][1] == 0.0) == shares
