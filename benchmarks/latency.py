"""What a person or a hosted policy waits for: decisions, what-ifs, memory, reading, starting.

CPU seconds where one thread works, for the machine may be shared; wall seconds where several do.
"""

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.measures import Measure, cpu_s, interleaved
from benchmarks.runs import Case, open_case
from benchmarks.workloads import mixture
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.run.stops import INBOX_FULL
from pointsman.engine.setup.build import with_larger_inbox
from pointsman.types import NEVER_MS, Knowledge, Reason
from pointsman.workload import read_workload
from pointsman.workload.writers.write import write_workload

NODES = 800
PENDING = 10_000
DECISIONS = 10_000
ROUNDS = 3
CROWDED = Case(400_000, NODES, 2.0)
HOSTED_JOBS, REPLICA_JOBS = 100_000, 500_000
ROOT = Path(__file__).parent.parent


class FirstFit:
    """Whatever fits starts: the plainest policy in Python."""

    name: ClassVar[str] = "first-fit"
    needs: ClassVar[Knowledge] = "none"

    def decide(self, view: Any) -> None:
        """Start heads until none fits."""
        while heads := view.heads():
            if view.start(heads[0]) != Reason.OK:
                return


def latency(jobs: int) -> Iterator[Measure]:
    """All figures; `jobs` is the size of the memory and reading ones."""
    yield from _hosted()
    yield from _replicas()
    for policy in ("fifo-backfill", "srtf", "las", "easy", FirstFit()):
        yield from _decide(policy)
    yield from _what_if()
    yield from _memory(jobs)
    yield from _parquet(jobs)
    yield from _start_up()


def _hosted() -> Iterator[Measure]:
    """Decisions per CPU second of a policy in Python, the engine's share included."""
    case = Case(HOSTED_JOBS, NODES, 0.9)

    def run() -> float:
        simulation, _ = open_case(case, FirstFit())
        seconds = cpu_s(simulation.run)
        rates.append(simulation.decisions / seconds)
        return seconds

    rates: list[float] = []
    interleaved({"hosted": run})
    yield Measure("latency/hosted/decisions_per_s", rates, "1/s")


def _replicas() -> Iterator[Measure]:
    """How much faster two runs are done in two threads than one after the other."""
    case = Case(REPLICA_JOBS, NODES, 0.9)
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        print("one core: two replicas in threads are left out")
        return
    typical = interleaved({"one": lambda: _together(case, 1), "two": lambda: _together(case, 2)}, rounds=9)
    yield Measure("latency/threads/two_replicas", 2 * typical["one"] / typical["two"], "x one")


def _together(case: Case, replicas: int) -> float:
    """Seconds until so many runs side by side are done, less what they waited for cores that other programs had."""
    simulations = [open_case(case, "fifo-backfill")[0] for _ in range(replicas)]
    own_s = []

    def run(simulation: Simulation) -> None:
        began, waited = time.perf_counter(), _waited_for_a_core_s()
        simulation.run()
        own_s.append(time.perf_counter() - began - (_waited_for_a_core_s() - waited))

    threads = [threading.Thread(target=run, args=(s,)) for s in simulations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(own_s)


def _waited_for_a_core_s() -> float:
    """How long this thread has been ready to run without a core; 0 where the system does not tell."""
    schedule = Path("/proc/thread-self/schedstat")
    return int(schedule.read_text().split()[1]) / 1e9 if schedule.exists() else 0.0


def _crowded(policy: Any) -> Simulation:
    """A simulation with `PENDING` waiting jobs and more to come."""
    simulation, prepared = open_case(CROWDED, policy)
    g = simulation.handle.state.g
    for until_ms in np.linspace(0, prepared.trace["submit"][-1], 400)[1:].astype(np.int64).tolist():
        simulation.run(until_ms)
        if simulation.handle.state.g["pending"][0] >= PENDING:
            return simulation
    raise AssertionError(f"only {g['pending'][0]} jobs wait: make the crowded case longer")


def _pass_of(simulation: Simulation) -> Callable[[], object]:
    """A function that goes to the next pass and decides it."""
    policy: Any = simulation.policy
    decisions = 0 if simulation.hosted else 1

    def next_pass() -> None:
        while simulation.loop.run(simulation.handle.address, NEVER_MS - 1, decisions) == INBOX_FULL:
            simulation.handle = with_larger_inbox(simulation.handle)
        if simulation.hosted:
            policy.decide(simulation.view)

    return next_pass


def _percentile(work: Callable[[], object], times: int, q: float) -> float:
    """The q-th percentile of the CPU milliseconds of `work`."""
    ns: NDArray[np.int64] = np.empty(times, np.int64)
    for i in range(times):
        began = time.thread_time_ns()
        work()
        ns[i] = time.thread_time_ns() - began
    return float(np.percentile(ns, q)) / 1e6


def _decide(policy: Any) -> Iterator[Measure]:
    """One pass at 6,400 GPUs and 10,000 waiting jobs, with the events before it, carrying out the pass before."""
    name = policy if isinstance(policy, str) else "hosted"
    next_pass = _pass_of(_crowded(policy))
    yield Measure(f"latency/decide_p99/{name}", [_percentile(next_pass, DECISIONS, 99) for _ in range(ROUNDS)], "ms")


def _what_if() -> Iterator[Measure]:
    """A future from there: the call that makes it, and running it to its end."""
    simulation = _crowded(FirstFit())
    assert simulation.view is not None
    view = simulation.view
    view.what_if()
    yield Measure("latency/what_if", [_percentile(view.what_if, 50, 50) for _ in range(ROUNDS)], "ms")
    futures = [view.what_if() for _ in range(ROUNDS)]
    hours_s = [cpu_s(lambda future=future: future.run(view.now_ms + 3_600_000)) for future in futures]
    yield Measure("latency/what_if_and_an_hour", 1000 * np.array(hours_s), "ms")


_MEMORY = """
import gc, sys
from pathlib import Path
from benchmarks.runs import Case, open_case, workload_of
def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024
policy, jobs, load, log = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "log"
open_case(Case(1000, 800, load), policy)[0].run()
workload_of(Case(jobs, 800, load))
gc.collect()
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
simulation = open_case(Case(jobs, 800, load), policy, log=log)
simulation[0].run()
print((status("VmHWM") - before) / jobs)
"""


def _memory(jobs: int) -> Iterator[Measure]:
    """Growth of peak resident memory from before the state is built to the end of the run, per job.

    Counted: the trace, the slots of jobs in the system, the heap, the outcomes, the prepared table, whatever is held
    for a moment on the way, and with the log the log. Not counted: the workload itself, the code.
    """
    if not Path("/proc/self/clear_refs").exists():
        print("memory is measured on Linux only")
        return
    for policy, load, log in (("fifo", 0.9, "plain"), ("fifo", 1.05, "plain"), ("fifo", 0.9, "log")):
        grown = [float(_python("-c", _MEMORY, policy, str(jobs), str(load), log)) for _ in range(ROUNDS)]
        name = "memory_per_job" if (load, log) == (1.05, "plain") else f"memory_per_job/{load}/{log}"
        yield Measure(f"latency/{name}", grown, "bytes")


def _parquet(jobs: int) -> Iterator[Measure]:
    """Reading a workload from Parquet, wall seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.parquet"
        write_workload(mixture(jobs, NODES * 8, 0.9), path)

        def read() -> float:
            began = time.perf_counter()
            read_workload(path)
            return time.perf_counter() - began

        yield Measure("latency/parquet", interleaved({"read": read}, rounds=5)["read"], "s")


def _python(*arguments: str, **environment: str) -> str:
    """What a fresh Python prints."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "PYTHONPATH": path, **environment}, cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"python {' '.join(arguments)[:80]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _child_cpu_s(*arguments: str, **environment: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(*arguments, **environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _start_up() -> Iterator[Measure]:
    """CPU seconds of `pointsman --help`, and of a small simulation with nothing compiled yet and after it."""
    yield Measure("latency/help", interleaved({"help": lambda: _child_cpu_s("-m", "pointsman", "--help")})["help"], "s")
    with tempfile.TemporaryDirectory() as folder:
        jobs = Path(folder) / "jobs.csv"
        write_workload(mixture(1000, 512, 0.9), jobs)
        command = ["-m", "pointsman", "simulate", str(jobs), "--cluster", "64x8", "--policy", "fifo"]

        bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode")}

        def simulate(**home: str) -> float:
            return _child_cpu_s(*command, "--force", "-o", str(Path(folder) / "run"), **bytecode, **home)

        simulate()  # as an installed Python would be, with its bytecode written
        yield Measure("latency/first_simulation/cold", simulate(POINTSMAN_HOME=folder), "s")
        yield Measure(
            "latency/first_simulation/warm", interleaved({"warm": lambda: simulate(POINTSMAN_HOME=folder)})["warm"], "s"
        )
