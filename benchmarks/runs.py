"""One measured run of the engine, of the C++ reference or of the pure-Python reference, on the same jobs."""

import ctypes
import hashlib
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import reference
from benchmarks.translate import translate
from benchmarks.workloads import mixture
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.setup.prepare import Prepared
from pointsman.experiment import RunOptions
from pointsman.policies.registry import PolicySpec, get_policy
from pointsman.workload import Workload

NODE_GPUS = 8


@dataclass(frozen=True)
class Case:
    """Jobs on a cluster of `nodes` nodes of 8 GPUs."""

    jobs: int
    nodes: int
    load: float
    seed: int = 1
    widest: int | None = None
    """GPUs of the widest gang; by default as many as the cluster has."""

    def __str__(self) -> str:
        return f"{self.jobs:,} jobs, {self.nodes}x{NODE_GPUS} GPUs, load {self.load}"


@dataclass(frozen=True)
class Run:
    """CPU seconds of the run alone, and what came of it."""

    seconds: float
    schedule: str
    """A hash of every job's start and end."""
    preemptions: int


def schedule_hash(start: NDArray[np.int64], end: NDArray[np.int64]) -> str:
    """A hash of a schedule: start and end of every job, in ms."""
    digest = hashlib.sha256(np.ascontiguousarray(start, np.int64).tobytes())
    digest.update(np.ascontiguousarray(end, np.int64).tobytes())
    return digest.hexdigest()[:16]


@cache
def workload_of(case: Case) -> Workload:
    """The jobs of `case`; kept, for every run of it."""
    return mixture(case.jobs, case.nodes * NODE_GPUS, case.load, case.seed, case.widest)


def open_case(case: Case, policy: Any, *, log: bool = False) -> tuple[Simulation, Prepared]:
    """A simulation of `case` before its first event; `policy` is a name or an object."""
    spec = get_policy(policy) if isinstance(policy, str) else None
    made = spec.make() if spec else policy
    cluster = load_cluster(f"{case.nodes}x{NODE_GPUS}")
    options = RunOptions(placement="consolidated", overheads="none", log=log)
    return open_simulation(workload_of(case), cluster, spec or _spec_of(made), made, options)


def _spec_of(policy: Any) -> PolicySpec:
    return PolicySpec(policy.name, type(policy))


def engine(case: Case, policy: str, *, log: bool = False, loop: Any = None) -> Run:
    """The ordinary `Simulation`, its state built beforehand; `loop` takes the place of the compiled loop."""
    simulation, _ = open_case(case, policy, log=log)
    simulation.loop = loop or simulation.loop
    touch(simulation)
    began = time.process_time()
    simulation.run()
    seconds = time.process_time() - began
    outcomes, g = simulation.handle.world.outcomes, simulation.handle.state.g[0]
    return Run(seconds, schedule_hash(outcomes["start"], outcomes["end"]), int(g["preempts"]))


def touch(simulation: Simulation) -> None:
    """Have the memory of the state there before the clock starts, as that of the programs beside it is: pages touched
    first under a hypervisor may cost as much as the whole run, or nothing.
    """
    for array in (*simulation.handle.state, *simulation.handle.world):
        array.reshape(-1).view(np.uint8)[:: mmap.PAGESIZE] += 0


def trace_of(case: Case) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Submit and work in ms and GPUs of every job, as the engine rounds them."""
    _, prepared = open_case(case, "fifo")
    return (
        prepared.trace["submit"].copy(),
        prepared.trace["work"].astype(np.int64),
        prepared.jobs["gpus"].to_numpy().astype(np.int64),
    )


class Native:
    """What g++ makes: the C++ reference, and the engine's own loops translated to C++."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pointsman-bench-")
        self._path = Path(self._folder.name)
        self._written: Case | None = None
        self._compile("reference", Path(__file__).with_name("reference.cpp"), "-std=c++17")

    def _compile(self, name: str, source: Path, *flags: str) -> Path:
        target = self._path / name
        subprocess.run(["g++", "-O3", "-march=native", *flags, "-o", str(target), str(source)], check=True)
        return target

    def reference(self, case: Case, policy: str) -> Run:
        """One run of the reference in a fresh process."""
        source, target = self._path / "trace.bin", self._path / "schedule.bin"
        if self._written != case:
            with open(source, "wb") as file:
                for column in (np.array([case.jobs, case.nodes, NODE_GPUS], np.int64), *trace_of(case)):
                    column.tofile(file)
            self._written = case
        command = [self._path / "reference", policy, source, target]
        seconds, preemptions = subprocess.run(command, check=True, capture_output=True).stdout.split()
        start, end = np.fromfile(target, np.int64).reshape(2, -1)
        return Run(float(seconds), schedule_hash(start, end), int(preemptions))

    @cache  # noqa: B019 (there is one Native, as long as the benchmark runs)
    def loop(self, policy: str) -> SimpleNamespace:
        """The engine's loop for `policy`, translated; it takes the same handles."""
        hooks = get_policy(policy).factory.hooks
        name = hooks.rpartition(".")[2]
        source = self._path / f"{name}.cpp"
        source.write_text(translate(hooks))
        library = ctypes.CDLL(str(self._compile(f"{name}.so", source, "-std=c++20", "-fPIC", "-shared")))
        library.run.restype, library.run.argtypes = ctypes.c_int64, [ctypes.c_int64] * 3
        return SimpleNamespace(run=library.run)


def make_native() -> Native | None:
    """All with ``-O3`` for this processor, as numba compiles the engine; None without g++."""
    return Native() if shutil.which("g++") else None


def pure_python(case: Case, policy: str) -> Run:
    """The pure-Python reference."""
    columns = [column.tolist() for column in trace_of(case)]
    simulation = reference.Simulation(*columns, nodes=case.nodes, size=NODE_GPUS, policy=policy)
    began = time.process_time()
    simulation.run()
    seconds = time.process_time() - began
    start, end = (np.array(x, np.int64) for x in (simulation.start, simulation.end))
    return Run(seconds, schedule_hash(start, end), simulation.preemptions)


_INTERPRET = """
import sys
from benchmarks.runs import Case, engine
run = engine(Case(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])), sys.argv[5])
print(run.seconds, run.schedule, run.preemptions)
"""


def interpreted(case: Case, policy: str) -> Run:
    """The engine's own source run by the Python interpreter, in a process of its own."""
    arguments = [str(x) for x in (case.jobs, case.nodes, case.load, case.seed, policy)]
    done = subprocess.run(
        [sys.executable, "-c", _INTERPRET, *arguments],
        check=True, capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    seconds, schedule, preemptions = done.stdout.split()
    return Run(float(seconds), schedule, int(preemptions))
