"""Jobs whose times are known are measured, on the cores of this machine, at a high priority where that is allowed.

Each is tried twice. Where other work disturbed the rounds, and the rows say so, nothing is known.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from .own_jobs import SLEEP_S, SPIN_S

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes"),
]

JOBS = Path(__file__).with_name("own_jobs.py")
TRIES, SPREAD_LIMIT = 2, 0.05
HIGHEST = -20
Rows = list[dict[str, str]]


def command(kind: str, functions: list[str], output: Path, *more: str) -> list[str]:
    models = [f"{JOBS}:{function}" for function in functions]
    words = [*models, "--device", "cpu", "-o", str(output), *more]
    return [sys.executable, "-m", "pointsman", "measure", kind, *words]


def hurry() -> None:
    """Come before other work on the machine, where the system allows it: in a session, and as a session."""
    with suppress(OSError):
        os.setsid()
        os.setpriority(os.PRIO_PROCESS, 0, HIGHEST)
        Path("/proc/self/autogroup").write_text(str(HIGHEST))


def measured(kind: str, functions: list[str], output: Path, *more: str) -> Rows:
    words = command(kind, functions, output, "--batch", "1", "--force", *more)
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, preexec_fn=hurry)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(output.read_text().splitlines()))


def check_twice(measure: Callable[[], Rows], is_right: Callable[[dict[str, str]], bool]) -> None:
    for _ in range(TRIES):
        rows = measure()
        if all(map(is_right, rows)):
            return
    if any(float(row["spread"]) > SPREAD_LIMIT for row in rows):
        pytest.skip("other work disturbed the rounds, and the rows say so")
    pytest.fail(f"this is wrong: {rows}")


def test_a_step_that_sleeps_and_computes_takes_as_long_as_it_does(tmp_path: Path) -> None:
    check_twice(
        lambda: measured("step", ["known"], tmp_path / "s.csv"),
        lambda row: abs(float(row["step_s"]) / (SLEEP_S + SPIN_S) - 1) <= 0.03,
    )


def slowdowns(row: dict[str, str]) -> list[float]:
    return [float(row[f"step_s_{ab}"]) / float(row[f"alone_s_{ab}"]) for ab in "ab"]


def test_two_jobs_that_compute_on_one_core_take_twice_as_long(tmp_path: Path) -> None:
    check_twice(
        lambda: measured("pairs", ["spin"], tmp_path / "p.csv", "--cores", "1"),
        lambda row: all(abs(times - 2.0) <= 0.1 for times in slowdowns(row)),
    )


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_two_jobs_that_compute_on_two_cores_take_as_long_as_alone(tmp_path: Path) -> None:
    check_twice(
        lambda: measured("pairs", ["spin"], tmp_path / "p.csv", "--cores", "2"),
        lambda row: all(abs(times - 1.0) <= 0.05 for times in slowdowns(row)),
    )


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_jobs_on_different_cores_of_a_node_take_as_long_as_alone(tmp_path: Path) -> None:
    check_twice(
        lambda: measured("node", ["spin"], tmp_path / "n.csv"),
        lambda row: abs(float(row["step_s"]) / float(row["alone_s"]) - 1) <= 0.05,
    )
