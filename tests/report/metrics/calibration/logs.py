"""Logs whose schedules are compared with runs of the same jobs."""

from typing import Any

import polars as pl

import pointsman
from pointsman.engine.run.logged import as_logged
from pointsman.report.metrics.calibration.fits import Calibration
from tests.free import simulate

SCHEMA: dict[str, Any] = {"submit_s": float, "gpus": int, "duration_s": float, "start_s": float, "end_s": float}


def log(*rows: tuple[float | None, ...], **columns: list[Any]) -> pointsman.Workload:
    """Jobs of (submit_s, gpus, duration_s, start_s, end_s), with more columns."""
    return pointsman.Workload.of(
        pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(**{k: pl.Series(v) for k, v in columns.items()})
    )


def calibrated(workload: pointsman.Workload, cluster: str, *policies: str, **options: Any) -> Calibration:
    """Of these policies against the log."""
    runs = [simulate(workload, cluster, policy, **options) for policy in policies or ("fifo",)]
    found = pointsman.compare([as_logged(workload, runs[0]), *runs]).calibration
    assert found is not None
    return found


def explained(workload: pointsman.Workload, cluster: str, **options: Any) -> str:
    """What may explain that `fifo` does otherwise."""
    return " ".join(calibrated(workload, cluster, **options).explanations)
