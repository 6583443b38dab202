"""What a training asks of `pointsman.job`, in a process of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman import job

EXAMPLES = Path(__file__).parents[2] / "examples" / "live"

TRAINING = """
import sys, time
from pointsman import job
job.listen()
print(job.number(), job.attempt(), job.gpus(), job.checkpoint_folder(), flush=True)
for _ in range(200):
    time.sleep(0.02)
    if job.stopping():
        sys.exit(job.PREEMPTED)
job.finish()
"""


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_a_training_hears_that_it_is_to_stop(number: int) -> None:
    given = {"JOB_ID": "17", "ATTEMPT": "2", "GPUS": "1,3", "CHECKPOINT_DIR": "/x"}
    given = {f"POINTSMAN_{name}": value for name, value in given.items()}
    process = subprocess.Popen(
        [sys.executable, "-c", TRAINING], env={**os.environ, **given}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "17 2 [1, 3] /x\n"
    process.send_signal(number)
    process.stdout.close()
    assert process.wait(10) == 75


def test_a_training_that_is_done_cannot_be_stopped_any_more() -> None:
    late = (
        "import time; from pointsman import job; job.listen(); job.finish(); print('done', flush=True); time.sleep(0.3)"
    )
    process = subprocess.Popen([sys.executable, "-c", late], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "done\n"
    process.terminate()
    process.stdout.close()
    assert process.wait(10) == 0


def test_outside_of_pointsman_it_is_alone() -> None:
    alone = "from pointsman import job; print(job.number(), job.attempt(), job.gpus(), job.checkpoint_folder())"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("POINTSMAN_")}
    done = subprocess.run([sys.executable, "-c", alone], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "None 1 [] .\n"


def test_it_imports_the_standard_library_alone() -> None:
    heavy = ("numpy", "polars", "numba")
    check = f"import sys; from pointsman import job; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_training_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POINTSMAN_CHECKPOINT_DIR", raising=False)
    job.report(0.5)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("POINTSMAN_CHECKPOINT_DIR", str(tmp_path))
    for share in (0.25, 0.5):
        job.report(share)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(job.PROGRESS, "0.500000\n")]


def test_a_training_with_pytorch_goes_on_where_it_stopped(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="make learn")
    command = [sys.executable, EXAMPLES / "torch_training.py", "--steps", "500"]
    environment = {**os.environ, "POINTSMAN_CHECKPOINT_DIR": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "attempt 1: from step 0\n"
    process.terminate()
    process.stdout.close()
    assert process.wait(60) == job.PREEMPTED
    done = subprocess.run(command, env={**environment, "POINTSMAN_ATTEMPT": "2"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first.startswith("attempt 2: from step ")
    assert last.startswith("done after 500 steps: loss 0.0")
