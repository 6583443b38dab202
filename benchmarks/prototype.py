"""The engine beside the project's prototype, in C++ and in pure Python: the programs that the goals were set by.

They are not part of the repository (``../shared/prototype``) and are run as they are, on the same jobs. They know less
than the engine (one kind of node, no queues, no priorities, no failures, no outcomes but the end) but more than the
bare programs of this folder: places in racks, speeds by place, rates that change. Their schedules differ from the
engine's by what they place differently, so only the jobs are the same.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.measures import Measure, interleaved
from benchmarks.runs import Case, engine, trace_of
from benchmarks.throughput import LOADS, NODES
from benchmarks.workloads import WIDTHS

POLICIES = {"fifo": "fifo", "fifo-backfill": "fifo_bf", "srtf": "srtf"}
"""Ours, and the prototype's name of it."""


def prototype(jobs: int, folder: Path) -> Iterator[Measure]:
    """Ratios of `jobs` jobs on 800x8 GPUs."""
    if not (folder / "d_sim.cpp").exists():
        print(f"there is no {folder}/d_sim.cpp: the prototype is left out")
        return
    compiled = shutil.which("g++") is not None
    with tempfile.TemporaryDirectory(prefix="pointsman-bench-") as scratch:
        for load in LOADS:
            for policy, theirs in POLICIES.items():
                case = Case(jobs, NODES, load)
                if compiled:
                    yield from _beside(case, policy, 3, 5, cpp=_compiled(case, theirs, folder, Path(scratch)))
                python = _interpreted(case, theirs, folder, Path(scratch))
                without_gc = _interpreted(case, theirs, folder, Path(scratch), collect=False)
                yield from _beside(case, policy, 1, 1, python=python, python_without_gc=without_gc)


def _beside(case: Case, policy: str, tries: int, rounds: int, **programs: Callable[[], float]) -> Iterator[Measure]:
    """`tries`: of how many runs each of `programs` gives the best. Python takes minutes: one round will do."""

    def ours() -> float:
        return min(engine(case, policy).seconds for _ in range(tries))

    typical = interleaved({"engine": ours, **programs}, rounds)
    name = f"prototype/{policy}/{case.load}"
    for kind in programs:
        yield Measure(f"{name}/{kind}_jobs_per_s", case.jobs / typical[kind], "jobs/s")
        yield Measure(f"{name}/of_{kind}", typical[kind] / typical["engine"], "x")


def _compiled(case: Case, policy: str, folder: Path, scratch: Path) -> Callable[[], float]:
    """CPU seconds of its C++, compiled as its page says; its own best of three."""
    program, trace = scratch / "d_sim", scratch / "trace.bin"
    if not program.exists():
        subprocess.run(["g++", "-O3", "-w", "-o", str(program), str(folder / "d_sim.cpp")], check=True)
    submit_ms, work_ms, gpus = trace_of(case)
    with open(trace, "wb") as file:
        for column in (
            np.array([case.jobs, case.nodes], np.int64), submit_ms / 1000, work_ms / 1000,
            np.searchsorted(WIDTHS, gpus).astype(np.int32), np.zeros(case.jobs, np.int32),
        ):  # fmt: skip
            column.tofile(file)

    def seconds() -> float:
        said = subprocess.run([program, policy, trace], check=True, capture_output=True, text=True, cwd=scratch).stdout
        return case.jobs / float(said.split(" jobs/s")[0].split()[-1])

    return seconds


_INTERPRET = """
import gc, sys, time
import numpy as np
folder, policy, nodes, trace, collect = sys.argv[1:]
sys.path.insert(0, folder)
import a_pure
submit_s, work_s, demand = np.load(trace)
jobs = [a_pure.Job(j, *job, 0) for j, job in enumerate(zip(submit_s, work_s, demand.astype(int)))]
simulation = a_pure.Sim(jobs, int(nodes))
if collect == "False":
    gc.disable()
began = time.process_time()
simulation.run(policy)
print(time.process_time() - began)
"""


def _interpreted(case: Case, policy: str, folder: Path, scratch: Path, *, collect: bool = True) -> Callable[[], float]:
    """CPU seconds of its pure Python in a process of its own, as its page ran it; without `collect` no garbage is
    looked for.
    """
    trace = scratch / f"{case.load}.npy"
    if not trace.exists():
        submit_ms, work_ms, gpus = trace_of(case)
        np.save(trace, [submit_ms / 1000, work_ms / 1000, np.searchsorted(WIDTHS, gpus)])
    command = [sys.executable, "-c", _INTERPRET, folder, policy, case.nodes, trace, collect]

    def seconds() -> float:
        return float(subprocess.run([str(x) for x in command], check=True, capture_output=True, text=True).stdout)

    return seconds
