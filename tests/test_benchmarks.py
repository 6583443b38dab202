"""The benchmarks that need no minutes: that they are found, and say what they skip."""

import os
import subprocess
import sys
from pathlib import Path

import pointsman

ROOT = Path(__file__).parents[1]


def benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(Path(pointsman.__file__).parents[1])}
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


def test_without_the_logs_the_generator_is_skipped_and_it_is_said(tmp_path: Path) -> None:
    done = benchmarks("generator", "--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, f"generator: skipped, for {tmp_path}/traces is not there\n")


def test_an_unknown_benchmark_is_refused() -> None:
    done = benchmarks("generators")
    assert done.returncode == 2
    assert "there are generator, throughput, contended, latency, scaling" in done.stderr
