"""A measurement that is killed at ten moments goes on each time, and has lost no finished row."""

import csv
import importlib.util
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes"),
]
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed (make learn)"
)

JOBS = Path(__file__).with_name("own_jobs.py")
MOMENTS = 10
SHORT = ("--rounds", "2", "--round-s", "0.1")
Rows = dict[tuple[str, ...], dict[str, str]]

STEPS = ["step", *(f"{JOBS}:{name}" for name in ("dozes", "quick", "sleeps")), "--batch", "1,2,3,4", *SHORT]
OVERHEADS = ["overheads", f"{JOBS}:saves", "--batch", "1", "--rounds", "4"]


@pytest.mark.parametrize(
    ("words", "ending", "rows"),
    [
        ([*STEPS, "--spread-limit", "1"], "csv", 12),
        ([*STEPS, "--spread-limit", "0.001", "--again", "unsteady"], "csv", 12),
        pytest.param(OVERHEADS, "yaml", 4, marks=needs_torch),
    ],
    ids=["steps", "unsteady rows again", "overheads"],
)
def test_no_finished_row_is_lost(tmp_path: Path, words: list[str], ending: str, rows: int) -> None:
    begun_s = time.monotonic()
    measuring(tmp_path, words, tmp_path / f"whole.{ending}").wait(timeout=300)
    whole_s = time.monotonic() - begun_s
    draw, killed, number, before = random.Random(1), 0, 0, Rows()
    while killed < MOMENTS:
        output = tmp_path / f"{number}.{ending}"
        process = measuring(tmp_path, words, output)
        with suppress(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0.1, 0.9) * whole_s)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        after = finished(output.with_suffix(".csv"))
        for identity, row in before.items():
            assert after[identity] == row or after[identity]["measured_at"] >= row["measured_at"]
        before = after
        if process.returncode == 0 and "--again" not in words:
            number, before = number + 1, Rows()
    done = subprocess.run(
        [sys.executable, "-m", "pointsman", "measure", *words, "--device", "cpu", "-o", str(output)],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(finished(output.with_suffix(".csv"))) == rows
    assert [path.name for path in tmp_path.iterdir() if path.suffix not in {".csv", ".yaml"}] == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert jobs_left(tmp_path) == []


def measuring(folder: Path, words: list[str], output: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "pointsman", "measure", *words, "--device", "cpu", "-o", str(output)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def finished(path: Path) -> Rows:
    """The rows of a file that are whole, by what was measured; each is there once."""
    text = path.read_text() if path.exists() else ""
    rows = list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))
    found = {tuple(row.get(name, "") for name in ("model", "batch_per_gpu", "round")): row for row in rows}
    assert len(found) == len(rows)
    return found


def jobs_left(folder: Path) -> list[str]:
    """Jobs of killed measurements that run on."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").resolve() == folder and b"pointsman.measure.job" in (process / "cmdline").read_bytes():
                found.append(process.name)
    return found
