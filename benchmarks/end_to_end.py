"""From a job log to its report: CPU and wall seconds and memory of ``pointsman simulate``, stage by stage."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measures import Measure

ROOT = Path(__file__).parent.parent
CLUSTER, GPUS, LOAD, POLICY = "800x8", "6400", 1.05, "fifo"
SMALL = 1_000
STAGES = ("start", "reading", "preparing", "engine", "outcome", "metrics", "figures", "writing")
ROUNDS = 3
"""Runs of each case."""

Stages = dict[str, dict[str, float]]


def end_to_end(jobs: int) -> Iterator[Measure]:
    """A log of `jobs` Philly-like jobs from CSV with a report and from Parquet without; a small one with a report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = _generated(folder, jobs)
        csv = folder / "jobs.csv"
        _pointsman(folder, "pointsman", "trace", "convert", str(log), str(csv))
        yield from _measures(f"end_to_end/{jobs}/csv_with_report", _runs(folder, csv, report=True))
        yield from _measures(f"end_to_end/{jobs}/parquet", _runs(folder, log, report=False))
        small = _generated(folder, SMALL)
        yield from _measures(f"end_to_end/{SMALL}/parquet_with_report", _runs(folder, small, report=True))


def _generated(folder: Path, jobs: int) -> Path:
    log = folder / f"{jobs}.parquet"
    what = ["--like", "philly", "--jobs", str(jobs), "--cluster", CLUSTER, "--load", str(LOAD), "--seed", "1"]
    _pointsman(folder, "pointsman", "trace", "generate", *what, "-o", str(log))
    return log


def _runs(folder: Path, log: Path, *, report: bool) -> list[Stages]:
    """The stages of each run; one before them compiles what is not compiled yet."""
    command = ["simulate", str(log), "--cluster", CLUSTER, "--policy", POLICY]
    command += ["--force", "-o", str(folder / "run")] if report else []
    found = [json.loads(_pointsman(folder, "benchmarks.stages", *command)) for _ in range(ROUNDS + 1)]
    return found[1:]


def _pointsman(folder: Path, module: str, *arguments: str) -> str:
    """What ``python -m module`` prints, with its bytecode written as an installed Python has it."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], env={**os.environ, "PYTHONPATH": path, **bytecode}, cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"{module} {' '.join(arguments)[:80]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _measures(name: str, runs: list[Stages]) -> Iterator[Measure]:
    for stage in STAGES:
        if stage in runs[0]:
            for what, unit in (("cpu_s", "s"), ("wall_s", "s"), ("peak_mb", "MB so far")):
                yield Measure(f"{name}/{stage}/{what}", [stages[stage][what] for stages in runs], unit)
    for what in ("cpu_s", "wall_s"):
        yield Measure(f"{name}/{what}", [sum(stage[what] for stage in stages.values()) for stages in runs], "s")
    yield Measure(f"{name}/peak_mb", [max(stage["peak_mb"] for stage in stages.values()) for stages in runs], "MB")
