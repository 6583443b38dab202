"""Two real jobs are measured on one core, and `pointsman profile pairs` makes of it what a simulation reads."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.cli.run import run

pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps two processes on one core"),
]

PROGRAM = Path(__file__).parents[2] / "examples" / "two_jobs.py"
CPU = """
apiVersion: pointsman/v1
kind: ModelProfiles
metadata: {name: cpu}
spec: {gpu_types: {cpu: {title: A core of a CPU, relative_speed: 0.01, source: "ours: a guess"}}}
"""
TIMES = ("alone_s_a", "step_s_a", "alone_s_b", "step_s_b")
TRIES = 3


def measured(file: Path) -> list[dict[str, str]]:
    """The rows of a measurement; again where something else had the core whenever a job was alone on it."""
    for _ in range(TRIES):
        command = [sys.executable, str(PROGRAM), "-o", str(file), "--parts", "4", "--measure-s", "0.3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        rows = list(csv.DictReader(file.read_text().splitlines()))
        if all(float(row[f"alone_s_{job}"]) < 1.2 * float(row[f"step_s_{job}"]) for row in rows for job in "ab"):
            break
    return rows


def test_measured_step_times_become_slow_downs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs, profiles, out = tmp_path / "pairs.csv", tmp_path / "cpu.yaml", tmp_path / "out.yaml"
    profiles.write_text(CPU)
    rows = measured(pairs)
    both = ("small-mlp", "small-transformer")
    assert [(row["gpu_type"], row["model_a"], row["model_b"]) for row in rows] == [("cpu", *both)] * 4
    assert [(row["batch_a"], row["batch_b"]) for row in rows] == [("96", "16"), ("96", "4"), ("24", "16"), ("24", "4")]
    assert all(float(row[column]) > 0 for row in rows for column in TIMES)

    assert run(["profile", "pairs", str(pairs), "--profiles", str(profiles), "-o", str(out)]) == 0, capsys.readouterr()
    from pointsman.speed import load_catalogue, load_interference

    interference = load_interference(str(out), load_catalogue(profiles))
    for (model, beside), job in zip((both, both[::-1]), "ab", strict=True):
        slow_downs = [max(1.0, float(row[f"step_s_{job}"]) / float(row[f"alone_s_{job}"])) for row in rows]
        assert min(slow_downs) - 1e-3 <= interference.slow_down("cpu", model, beside) <= max(slow_downs) + 1e-3


def test_a_failing_job_ends_the_measurement_and_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(PROGRAM.read_text().replace("words = torch.randint(100,", "words = torch.randint(1000,"))
    command = [sys.executable, str(broken), "-o", str(tmp_path / "pairs.csv"), "--measure-s", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "IndexError: index out of range" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "pairs.csv").exists()
