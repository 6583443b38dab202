"""Jobs that may not be preempted. On one GPU, a (100 s) comes at 0 and b (10 s) at 50; `srtf` would preempt a for b.

may be preempted      a runs 0-50 and 60-110, b 50-60
protected             a runs 0-100, b 100-110
"""

from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.cluster.yaml_file import parse_cluster
from tests.free import simulate

JOBS = pl.DataFrame({"job_id": ["a", "b"], "submit_s": [0.0, 50.0], "gpus": [1, 1], "duration_s": [100.0, 10.0]})
ENDS, ENDS_PROTECTED = [110.0, 60.0], [100.0, 110.0]
CLUSTER = """
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: two partitions on one GPU}
spec:
  node_types:
    one: {gpus: 1, gpu_type: v100}
  nodes:
    - {type: one, partitions: [batch, debug]}
  partitions:
    debug: {preemptible: false}
"""


def ends(jobs: pl.DataFrame, cluster: str = "") -> list[float]:
    where = parse_cluster(cluster, origin="here") if cluster else "1x1"
    return simulate(pointsman.Workload.of(jobs), where, "srtf").jobs["end_s"].to_list()


@pytest.mark.parametrize(
    ("told", "expected"), [(None, ENDS), (True, ENDS), (False, ENDS_PROTECTED)], ids=["silent", "may be", "protected"]
)
def test_a_job_says_so_itself(told: bool | None, expected: list[float]) -> None:
    jobs = JOBS.with_columns(preemptible=pl.Series([told, None], dtype=pl.Boolean))
    assert ends(jobs) == expected


@pytest.mark.parametrize(
    ("partition", "expected"),
    [(None, ENDS), ("batch", ENDS), ("debug", ENDS_PROTECTED), ("batch, debug", ENDS_PROTECTED)],
)
def test_its_partition_says_so(partition: str | None, expected: list[float]) -> None:
    jobs = JOBS.with_columns(partition=pl.Series([partition, None], dtype=pl.String))
    assert ends(jobs, CLUSTER) == expected


def test_the_run_says_which_jobs_and_how_many() -> None:
    jobs = JOBS.with_columns(preemptible=pl.Series([False, None]))
    result = simulate(pointsman.Workload.of(jobs), "1x1", "srtf")
    assert result.jobs["preemptible"].to_list() == [False, True]
    assert "1 job is never preempted, as the log or the cluster says" in result.info["assumptions"]
    assert "preemptible" not in simulate(pointsman.Workload.of(JOBS), "1x1", "srtf").jobs.columns


def test_a_node_that_fails_stops_it_all_the_same() -> None:
    jobs = JOBS.with_columns(preemptible=False)
    changes = [(10.0, "0", "DOWN"), (20.0, "0", "UP")]
    result = simulate(pointsman.Workload.of(jobs), "1x1", "srtf", node_events=changes)
    assert result.jobs["pending_s"].to_list() == [10.0, 60.0]  # a from 10 to 20; b until a ends at 110
    assert result.jobs["end_s"].to_list() == [110.0, 120.0]


@pytest.mark.parametrize("word", ["no", "FALSE", "0", " f "])
def test_logs_write_it_in_several_ways(word: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(f"job_id,submit_s,gpus,duration_s,preemptible\na,0,1,100,{word}\nb,50,1,10,\n", encoding="utf-8")
    log = pointsman.read_workload(path)
    assert log.jobs["preemptible"].to_list() == [False, None]
    assert ends(log.jobs) == ENDS_PROTECTED
    free = pointsman.read_workload(path, ignore=["preemptible"])
    assert ends(free.jobs) == ENDS
