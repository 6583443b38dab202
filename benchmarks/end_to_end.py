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
CLUSTER, GPUS, LOAD, POLICY = "800x8", "6400", 0.9, "fifo"
SMALL = 1_000
STAGES = ("start", "reading", "preparing", "engine", "outcome", "metrics", "figures", "writing")
ROUNDS = 3
"""Runs of each case; that with the least CPU time counts, for the machine may be shared."""

Stages = dict[str, dict[str, float]]


def end_to_end(jobs: int) -> Iterator[Measure]:
    """A log of `jobs` Philly-like jobs from CSV with a report and from Parquet without; a small one with a report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = _generated(folder, jobs)
        csv = folder / "jobs.csv"
        _pointsman(folder, "pointsman", "trace", "convert", str(log), str(csv))
        yield from _measures(f"end_to_end/{jobs}/csv_with_report", _best(folder, csv, report=True))
        yield from _measures(f"end_to_end/{jobs}/parquet", _best(folder, log, report=False))
        small = _generated(folder, SMALL)
        yield from _measures(f"end_to_end/{SMALL}/parquet_with_report", _best(folder, small, report=True))


def _generated(folder: Path, jobs: int) -> Path:
    log = folder / f"{jobs}.parquet"
    what = ["--like", "philly", "--jobs", str(jobs), "--cluster", CLUSTER, "--load", str(LOAD), "--seed", "1"]
    _pointsman(folder, "pointsman", "trace", "generate", *what, "-o", str(log))
    return log


def _best(folder: Path, log: Path, *, report: bool) -> Stages:
    """The stages of the run that takes the least CPU time; one before them compiles what is not compiled yet."""
    command = ["simulate", str(log), "--cluster", CLUSTER, "--policy", POLICY]
    command += ["--force", "-o", str(folder / "run")] if report else []
    found = [json.loads(_pointsman(folder, "benchmarks.stages", *command)) for _ in range(ROUNDS + 1)]
    return min(found[1:], key=lambda stages: sum(stage["cpu_s"] for stage in stages.values()))


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


def _measures(name: str, stages: Stages) -> Iterator[Measure]:
    for stage in STAGES:
        if stage in stages:
            yield Measure(f"{name}/{stage}/cpu_s", stages[stage]["cpu_s"], "s")
            yield Measure(f"{name}/{stage}/wall_s", stages[stage]["wall_s"], "s")
            yield Measure(f"{name}/{stage}/peak_mb", stages[stage]["peak_mb"], "MB so far")
    for what in ("cpu_s", "wall_s"):
        yield Measure(f"{name}/{what}", sum(stage[what] for stage in stages.values()), "s")
    yield Measure(f"{name}/peak_mb", max(stage["peak_mb"] for stage in stages.values()), "MB")
