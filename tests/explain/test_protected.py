"""``pointsman explain`` of jobs that forbid preemption, with a column of the log or by their partition."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command

CLUSTER = """apiVersion: pointsman/v1
kind: Cluster
metadata: {name: one}
spec:
  node_types:
    small: {gpus: 1, gpu_type: v100}
  nodes: [{type: small, partitions: [safe]}]
  partitions:
    safe: {preemptible: false}
"""


@pytest.mark.parametrize(
    ("column", "cell", "cluster"), [("preemptible", "no", "1x1"), ("partition", "safe", "cluster.yaml")]
)
def test_a_job_that_runs_on_says_why(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, cell: str, cluster: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    Path("two.csv").write_text(
        f"job_id,submit_s,gpus,duration_s,{column}\na,0,1,100,{cell}\nb,50,1,10,\n", encoding="utf-8"
    )
    command("simulate", "two.csv", "--cluster", cluster, "--policy", "srtf", "--overheads", "none", "-o", "run")
    said = command("explain", "a", "--run", "run", "--at", "60").out
    assert "RUNNING: it holds 1 GPU on n0000 since 0 s (the first submit); it may not be preempted" in " ".join(
        said.split()
    )
    assert "PENDING (Resources)" in command("explain", "b", "--run", "run", "--at", "60").out
