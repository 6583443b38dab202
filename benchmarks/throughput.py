"""Jobs per second of the engine, beside the same policies in C++ and in pure Python.

CPU time of the run alone: no reading, no building of the state, no result. `same_cpp` is the engine's own core
translated to C++, the same features and the same records, `same_python` that core run by the Python interpreter;
`bare_cpp` is a program that can do nothing but the policy, and so is `python`. Every schedule must be the engine's.
"""

from collections.abc import Callable, Iterator

from benchmarks.measures import Measure, interleaved
from benchmarks.runs import Case, Native, Run, engine, interpreted, make_native, pure_python

REFERENCED = ("fifo", "sjf", "fifo-backfill", "srtf", "las")
POLICIES = (*REFERENCED, "sjf-backfill", "easy", "tiresias")
LOADS = (0.9, 1.05)
NODES = 800
PURE_PYTHON_JOBS = 50_000
INTERPRETED_JOBS = 2_000


class Disagreement(AssertionError):
    """The engine and a reference computed different schedules."""


class _Agreeing:
    """Runs of one case and policy whose schedules must be one."""

    def __init__(self, case: Case, policy: str) -> None:
        self.case, self.policy = case, policy
        self.schedules: dict[str, str] = {}
        self.preemptions = 0

    def seconds(self, name: str, run: Callable[[], Run]) -> Callable[[], float]:
        """A function that runs, checks the schedule and gives the seconds."""

        def measured() -> float:
            done = run()
            self.preemptions = done.preemptions
            self.schedules[name] = done.schedule
            if len(set(self.schedules.values())) > 1:
                raise Disagreement(f"{self.policy}, {self.case}: {self.schedules}")
            return done.seconds

        return measured


def throughput(jobs: int, policies: tuple[str, ...] = POLICIES) -> Iterator[Measure]:
    """Figures of `jobs` jobs on 800x8 GPUs; pure Python at most `PURE_PYTHON_JOBS` of them."""
    native = make_native()
    if native is None:
        print("there is no g++: the C++ reference is left out")
    for load in LOADS:
        for policy in policies:
            yield from _against_cpp(Case(jobs, NODES, load), policy, native)
    for load in LOADS:
        for policy in policies:
            if policy in REFERENCED:
                yield from _against_python(
                    Case(min(jobs, INTERPRETED_JOBS), NODES, load), policy, "same_python", interpreted
                )
                yield from _against_python(
                    Case(min(jobs, PURE_PYTHON_JOBS), NODES, load), policy, "python", pure_python
                )


def _against_cpp(case: Case, policy: str, native: Native | None) -> Iterator[Measure]:
    agreeing = _Agreeing(case, policy)
    runs = {
        "engine": agreeing.seconds("engine", lambda: engine(case, policy)),
        "logged": agreeing.seconds("logged", lambda: engine(case, policy, log=True)),
    }
    if native is not None:
        loop = native.loop(policy)
        runs["same_cpp"] = agreeing.seconds("same_cpp", lambda: engine(case, policy, loop=loop))
        if policy in REFERENCED:
            runs["bare_cpp"] = agreeing.seconds("bare_cpp", lambda: native.reference(case, policy))
    typical = interleaved(runs)
    name = f"throughput/{policy}/{case.load}"
    yield Measure(f"{name}/jobs_per_s", case.jobs / typical["engine"], "jobs/s")
    yield Measure(f"{name}/jobs_per_s_logged", case.jobs / typical["logged"], "jobs/s")
    if agreeing.preemptions:
        yield Measure(f"{name}/preemptions", agreeing.preemptions / case.jobs, "per job")
    for cpp in ("same_cpp", "bare_cpp"):
        if cpp in typical:
            yield Measure(f"{name}/{cpp}/jobs_per_s", case.jobs / typical[cpp], "jobs/s")
            yield Measure(f"{name}/of_{cpp}", typical[cpp] / typical["engine"], "x")
            yield Measure(f"{name}/of_{cpp}_logged", typical[cpp] / typical["logged"], "x")


def _against_python(case: Case, policy: str, kind: str, python: Callable[[Case, str], Run]) -> Iterator[Measure]:
    agreeing = _Agreeing(case, policy)
    typical = interleaved(
        {
            "engine": agreeing.seconds("engine", lambda: engine(case, policy)),
            kind: agreeing.seconds(kind, lambda: python(case, policy)),
        }
    )
    name = f"throughput/{policy}/{case.load}"
    yield Measure(f"{name}/{kind}_jobs_per_s", case.jobs / typical[kind], "jobs/s")
    yield Measure(f"{name}/of_{kind}", typical[kind] / typical["engine"], "x")
