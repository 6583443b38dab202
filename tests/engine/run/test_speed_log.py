"""``--log-speeds``: a row for each change of a running job's speed, and nothing else of the run changes."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from tests.engine.rate_models.two_sockets import profile, run
from tests.free import simulate

CORES = {"busy": profile(cores=4, mb_per_s=0)}
COMES_LATER = [("busy", 24, ((0, 0),)), ("busy", 20, ((0, 3),))]
"""Two keep 8 of 6 cores busy from 6 to 30 s: see `test_node_interference`."""


def later(folder: Path, **options: Any) -> Any:
    return run(folder, COMES_LATER, CORES, submit_s=[0.0, 6.0], log_speeds=True, **options)


def test_each_change_has_a_row(tmp_path: Path) -> None:
    speeds = later(tmp_path).speeds
    assert speeds.columns == ["time_ms", "row", "rate", "slowdown", "computing_slowdown"]
    longer = round(4 / 3 * 2**30) / 2**30
    assert sorted(speeds.rows()) == [
        (0, 0, 1.0, 1.0, 1.0),
        (6_000, 0, 0.75, 1.0, longer),
        (6_000, 1, 0.75, 1.0, longer),
        (30_000, 1, 1.0, 1.0, 1.0),
    ]
    assert speeds["time_ms"].is_sorted()


def test_on_shared_gpus_it_tells_both_slow_downs(tmp_path: Path) -> None:
    """a and b on GPU 0, c on GPU 1: a feels 8 of 6 cores, c 12."""
    jobs = [("busy", 6, ((0, 0),)), ("busy", 6, ((0, 0),)), ("busy", 10, ((0, 1),))]
    speeds = run(tmp_path, jobs, CORES, gpu_sharing=2, interference="2", log_speeds=True).speeds
    longer = round(4 / 3 * 2**30) / 2**30
    first = sorted(speeds.filter(time_ms=0).select("row", "rate", "slowdown", "computing_slowdown").rows())
    assert first == [(0, 0.375, 2.0, longer), (1, 0.375, 2.0, longer), (2, 0.5, 1.0, 2.0)]


def test_chains_have_no_rate(tmp_path: Path) -> None:
    speeds = later(tmp_path, rate_model="iterations").speeds
    longer = round(4 / 3 * 2**30) / 2**30
    found = sorted(speeds.filter(pl.col("time_ms") <= 6_000).rows(), key=lambda row: row[:2])
    assert found == [(0, 0, None, 1.0, 1.0), (6_000, 0, None, 1.0, longer), (6_000, 1, None, 1.0, longer)]
    assert speeds.rows()[-1][4] == 1.0


def test_progress_is_what_the_rows_add_up_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there are more rows than the buffer holds."""
    monkeypatch.setattr("pointsman.engine.setup.build.LOG_ROWS", 1100)
    n = 1_000
    draws = pl.DataFrame({"k": range(n)})
    jobs = draws.select(
        submit_s=(pl.col("k") // 2).cast(pl.Float64), gpus=pl.col("k") % 3 + 1, duration_s=(pl.col("k") % 7 + 1) * 10.0,
        model=pl.when(pl.col("k") % 2 == 0).then(pl.lit("vgg16")).otherwise(pl.lit("inception_bn")),
    )  # fmt: skip
    workload = pointsman.Workload.of(jobs)
    result = simulate(workload, "20x4", "fifo", node_interference="table:kappa=13", log_speeds=True)
    speeds = result.speeds
    assert speeds is not None and len(speeds) > 1100 + 16 * 80
    ends = result.jobs.select(
        "row", end_ms=(pl.col("end_s") * 1000).round().cast(pl.Int64), work_ms=pl.col("duration_s") * 1000
    )
    stretches = speeds.join(ends, on="row", how="left", maintain_order="left").with_columns(
        until_ms=pl.col("time_ms").shift(-1).over("row").fill_null(pl.col("end_ms"))
    )
    done = stretches.group_by("row").agg(
        done_ms=(pl.col("rate") * (pl.col("until_ms") - pl.col("time_ms"))).sum(), work_ms=pl.col("work_ms").first()
    )
    assert len(done) == n
    assert ((done["done_ms"] - done["work_ms"]).abs() < 2.0).all()


@pytest.mark.parametrize("policy", ["srtf", "dally"])
def test_nothing_else_changes_and_it_is_written_and_read(policy: str, tmp_path: Path) -> None:
    workload = pointsman.generate("philly", jobs=60, cluster_gpus=16, load=1.0, seed=1)
    options = {"assign_models": 1, "node_interference": "table"}
    plain = simulate(workload, "4x4", policy, **options)
    logged = simulate(workload, "4x4", policy, log_speeds=True, **options)
    assert plain.speeds is None and logged.speeds is not None
    assert logged.jobs.equals(plain.jobs) and logged.series.equals(plain.series)
    assert plain.events is not None and plain.events.equals(logged.events)
    written = pointsman.write_run(tmp_path / "run", logged, figures=False)
    read = pointsman.read_run(written)
    assert read.speeds is not None and read.speeds.equals(logged.speeds)
    assert "job_id" in pl.read_parquet(written / "speeds.parquet").columns
    pointsman.write_run(tmp_path / "plain", plain, figures=False)
    assert not (tmp_path / "plain/speeds.parquet").exists() and pointsman.read_run(tmp_path / "plain").speeds is None
