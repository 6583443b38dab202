"""The clock around each stage of a command: every stage that it names is met."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.stages import STAGES

ROOT = Path(__file__).parents[2]


def test_each_stage_of_a_run_with_a_report_takes_time(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("submit_s,gpus,duration_s\n0,1,60\n5,2,60\n")
    command = [
        "simulate",
        str(tmp_path / "jobs.csv"),
        "--cluster",
        "1x2",
        "--policy",
        "fifo",
        "-o",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.stages", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    stages = json.loads(done.stdout.splitlines()[-1])
    assert stages.keys() == {"start", *STAGES.values()}
    assert all(stage["cpu_s"] > 0 and stage["peak_mb"] > 0 for stage in stages.values())
