"""The script for one GPU, tried on a core, where there is no MPS."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes"),
]

ROOT = Path(__file__).parents[2]
JOBS = ROOT / "tests/measure/own_jobs.py"


def test_all_parts_are_measured_and_kept(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    out = tmp_path / "gpu"
    command = [sys.executable, "-m", "benchmarks.measure_gpu", "-o", str(out), "--device", "cpu"]
    command += ["--models", f"{JOBS}:saves,{JOBS}:dozes", "--batch", "4", "--precision", "fp32", "--minutes", "3"]
    env = os.environ | {"PATH": os.path.dirname(sys.executable)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "MPS cannot be started here" in done.stdout
    steps = list(csv.DictReader((out / "steps.csv").read_text().splitlines()))
    assert sorted({(row["model"], row["parts"]) for row in steps}) == [
        (model, parts) for model in ("dozes", "saves") for parts in "124"
    ]
    assert len((out / "pairs.csv").read_text().splitlines()) == 1 + 3
    assert (out / "overheads-saves.yaml").exists()
    again = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert "steps.csv: 0 measured, 6 kept, 0 failed" in again.stderr
