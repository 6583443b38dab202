"""The script for one GPU, tried on a core, where a stand-in takes the place of the daemon of MPS."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes"),
]

ROOT = Path(__file__).parents[2]
NINE = tuple("abcdefghi")
JOBS = """
import time

class Sleeps:
    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self):
        time.sleep(self.seconds)

    def state_dict(self):
        return {"weights": bytes(100_000)}

    def load_state_dict(self, state):
        assert len(state["weights"]) == 100_000

""" + "\n".join(f"def {name}(batch, parts): return Sleeps(0.001 * (batch + parts))" for name in NINE)
CONTROL = """#!/bin/sh
[ "$1" = -d ] && echo started >> "$CUDA_MPS_LOG_DIRECTORY/control.log" && exit
cat >> "$CUDA_MPS_LOG_DIRECTORY/control.log"
"""


def script(out: Path, minutes: float, *functions: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "benchmarks.measure_gpu", "-o", str(out), "--device", "cpu", "--precision", "fp32"]
    (jobs := out.parent / "jobs.py").write_text(JOBS)
    words += ["--models", ",".join(f"{jobs}:{name}" for name in functions), "--batch", "4", "--minutes", str(minutes)]
    control = out.parent / "nvidia-cuda-mps-control"
    control.write_text(CONTROL)
    control.chmod(0o755)
    env = os.environ | {"PATH": os.pathsep.join([str(out.parent), os.path.dirname(sys.executable), os.environ["PATH"]])}
    return subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_all_parts_are_measured_in_order_and_kept(tmp_path: Path) -> None:
    out = tmp_path / "gpu"
    process = script(out, 3, "a", "b")
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    begun = [line.split()[3] for line in said.splitlines() if line.startswith("$ pointsman")]
    assert begun == ["step", "pairs", "overheads", "overheads", "pairs"]
    assert sorted({(row["model"], row["parts"]) for row in rows(out / "steps.csv")}) == [
        (model, parts) for model in "ab" for parts in "124"
    ]
    assert len(rows(out / "pairs.csv")) == len(rows(out / "pairs-mps.csv")) == 3
    assert len(rows(out / "overheads-a.csv")) == 2
    assert (out / "overheads-a.yaml").exists()
    assert (out / "mps-log/control.log").read_text() == "started\nquit\n"
    again, _ = script(out, 3, "a", "b").communicate(timeout=240)
    assert "steps.csv: 0 measured, 6 kept, 0 failed" in again


def test_the_script_keeps_its_time(tmp_path: Path) -> None:
    """Most of what nine models take is left out in half a minute on a core; each part that comes first has rows."""
    out, begin = tmp_path / "gpu", time.monotonic()
    said, _ = script(out, 0.6, *NINE).communicate(timeout=120)
    assert time.monotonic() - begin < 36 + 6, said
    assert "left out for lack of time" in said
    for name in ("steps.csv", "pairs.csv"):
        assert rows(out / name), said


def test_commands_that_fail_fail_the_script(tmp_path: Path) -> None:
    process = script(tmp_path / "gpu", 1, "nothing")
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said.count("exit code 2")) == (2, 4), said


def test_what_is_measured_when_the_script_is_ended_is_in_the_files(tmp_path: Path) -> None:
    out = tmp_path / "gpu"
    process = script(out, 3, "a", "b")
    while not ((out / "pairs.csv").exists() and len(rows(out / "pairs.csv")) > 1):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 1
    assert len(rows(out / "steps.csv")) == 6
    assert len(rows(out / "pairs.csv")) > 1
    again = subprocess.run(["pgrep", "-f", str(out)], capture_output=True, text=True)
    assert again.stdout == ""
