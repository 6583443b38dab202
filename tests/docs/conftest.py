"""The files that the pages take for granted, small."""

import gzip
import shutil
from pathlib import Path

import pytest

from pointsman.report.figures.catalogue import KINDS

from .pages import ROOT


def _rows(jobs: int = 240) -> list[tuple[str, str, str, int, int, int]]:
    """User, queue, status, submit, GPUs and duration of jobs that queue on eight GPUs, and on many more."""
    statuses = ("COMPLETED", "COMPLETED", "FAILED")
    return [
        (f"u{i % 7}", f"q{i % 3}", statuses[i % 3], 40 * i, (1, 2, 1, 8, 4, 1)[i % 6], 30 + 97 * i % 1000)
        for i in range(jobs)
    ]


def _native() -> str:
    lines = (f"{user},{queue},{status},{s},{g},{d}" for user, queue, status, s, g, d in _rows())
    return "\n".join(["user,queue,status,submit_s,gpus,duration_s", *lines]) + "\n"


def _gathered() -> str:
    lines = (f"{i},{user},cluster04,{s},{g},{d},{status}" for i, (user, _, status, s, g, d) in enumerate(_rows()))
    return "\n".join(["job_id,user,vc,submit_s,gpus,duration_s,status", *lines]) + "\n"


def _exported() -> str:
    lines = (
        f"job {i},{user},{team},2026-03-02 {s // 3600:02}:{s // 60 % 60:02}:{s % 60:02},{g},{d}"
        for i, (user, team, _, s, g, d) in enumerate(_rows())
    )
    return "\n".join(["JobName,Owner,Team,Queued,GPUs,WallClockSeconds", *lines]) + "\n"


PAIRS = """gpu_type,model_a,model_b,alone_s_a,step_s_a,alone_s_b,step_s_b
a100,resnet50,bert,0.11,0.15,0.24,0.39
a100,resnet50,resnet50,0.11,0.19,0.11,0.19
"""
NODES = "sn,cpu_milli,memory_mib,gpu,model\nnode-0,64000,262144,2,P100\nnode-1,64000,262144,8,T4\n"
CLUSTER = (
    "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: ours}, "
    "spec: {node_types: {big: {gpus: 8, gpu_type: v100}}, nodes: [{type: big}]}}"
)
SCONTROL = "".join(f"NodeName=gpu0{i} CPUTot=64 Gres=gpu:nvidia_h100_80gb_hbm3:8 Partitions=gpu\n" for i in (1, 2))
SACCT = (
    "JobIDRaw|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES\n"
    + "".join(
        f"{i}|u|a|gpu|COMPLETED|2026-03-02T08:{i:02}:00|2026-03-02T08:{i:02}:00|2026-03-02T09:{i:02}:00|2026-03-02T10:{i:02}:00"
        "|3600|120|gres/gpu:nvidia_h100_80gb_hbm3=8,gres/gpu=8|gres/gpu=8\n"
        for i in range(10)
    )
)
ONE_AT_A_TIME = """
class Mine:
    name = "one-at-a-time"
    needs = "none"

    def decide(self, view):
        if len(view.running) == 0 and view.pending_count:
            view.start(int(view.pending[0]))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a reader's own files and the project's examples in it."""
    for name in ("my.log", "jobs.csv", "nightly.csv", "log.txt"):
        (tmp_path / name).write_text(_native())
    (tmp_path / "ms_itp_2021.csv.gz").write_bytes(gzip.compress(_gathered().encode()))
    (tmp_path / "export.csv").write_text(_exported())
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "nodes.txt").write_text(SCONTROL)
    (tmp_path / "topology.conf").write_text("SwitchName=leaf1 Nodes=gpu[01-02]\n")
    (tmp_path / "sacct.txt").write_text(SACCT)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "slurm.conf").write_text("ClusterName=ours\nPriorityWeightAge=1000\n")
    (tmp_path / "my_policy.py").write_text(ONE_AT_A_TIME)
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "POINTSMAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: False)  # a page takes seconds to draw
    monkeypatch.setattr("pointsman.report.figures.files.KINDS", KINDS[:2])  # and each figure a second
    return tmp_path
