"""The example that preempts and sets alarms: by hand, and whole runs under the audit."""

from pathlib import Path

import polars as pl
import pytest

import pointsman
from tests.free import simulate

POLICY = f"{Path(__file__).parents[2] / 'examples' / 'my_patient_policy.py'}:PatientSrtf"


@pytest.mark.parametrize(
    ("patience_s", "ends_s", "preemptions"),
    [
        # Of one GPU: A 0-1, B -11, C -20, D -21, C -42, A -141.
        (1000.0, [141, 11, 42, 21], [1, 0, 1, 0]),
        # A, which waits from 1 on, preempts C at 16 and is not preempted by D: A 0-1, B -11, C -16, A -115, C -140, D.
        (15.0, [115, 11, 140, 141], [1, 0, 1, 0]),
    ],
)
def test_a_job_that_has_waited_long_goes_first(patience_s: float, ends_s: list[float], preemptions: list[int]) -> None:
    rows = {"submit_s": [0.0, 1, 5, 20], "gpus": [1] * 4, "duration_s": [100.0, 10, 30, 1]}
    jobs = pointsman.Workload.of(pl.DataFrame(rows))
    result = simulate(jobs, "1x1", POLICY, params={"patience_s": patience_s}, audit=True)
    assert result.jobs["end_s"].to_list() == ends_s
    assert result.jobs["preemptions"].to_list() == preemptions


def test_whole_runs_keep_every_invariant() -> None:
    jobs = pointsman.generate("philly", jobs=300, cluster_gpus=16, load=1.1, seed=1)
    fails = [(9000.0, 0, "DOWN"), (20_000.0, 0, "UP")]
    result = pointsman.simulate(jobs, "2x8", POLICY, params={"patience_s": 3600.0}, audit=True, node_events=fails)
    assert set(result.jobs["state"]) == {"COMPLETED"}
    assert result.jobs["preemptions"].sum() > 0
