"""Runs of a comparison made again, at several intervals between checkpoints (``compare --price``)."""

from collections.abc import Sequence

from pointsman.cluster import load_cluster
from pointsman.engine.run.contract import CompiledPolicy
from pointsman.engine.setup.overheads import Overheads, load_overheads
from pointsman.errors import UsageError
from pointsman.inputs.durations import parse_duration_s
from pointsman.policies.given import policy_of
from pointsman.report.metrics.price import preempts
from pointsman.report.result import Result
from pointsman.sums import mean
from pointsman.sweeps.cells import Task
from pointsman.sweeps.choices import call_of
from pointsman.sweeps.digests import run_digest, workload_digest

DEFAULT_S = (0.0, 3600.0, 14400.0)
"""Ours: nothing is lost, as training scripts have it that write a checkpoint when asked to stop; hourly checkpoints;
four-hourly ones."""
MOST_S = 1e9


def parse_intervals_s(text: str) -> tuple[float, ...]:
    """Seconds of ``0,30m,1h``, ascending, each once.

    Raises:
        UsageError: one is no duration.
    """
    try:
        found = [parse_duration_s(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--price {text!r:.60}: {error}") from None
    if max(found) > MOST_S:
        raise UsageError(f"--price {text!r:.60}: an interval is at most {MOST_S:g} s")
    return tuple(sorted(set(found)))


def tasks_again(
    tasks: Sequence[Task], results: Sequence[Result], intervals_s: Sequence[float] | None, baseline: str | None = None
) -> dict[float, list[Task]]:
    """By interval, the runs of a cell to make again: those that preempt jobs, where it changes their overheads.

    Their events are not kept, so a run costs less than it did. Without `intervals_s` the intervals are the
    `DEFAULT_S`, and the runs are of the first seed: the baseline's and the best other policy's, then the others' by
    mean JCT, up to as many as there are already. Policies written in Python, which take most of a command's time, are
    simulated at most as often again as they were: with one seed, at one interval more.

    Args:
        tasks: the runs of the cell.
        results: what became of them.
        intervals_s: seconds between checkpoints.
        baseline: policy that the others are compared with; by default the first.
    """
    costs = load_overheads(tasks[0].spec.overheads)
    again = [(task, result) for task, result in zip(tasks, results, strict=True) if preempts(result)]
    others = [s for s in intervals_s or DEFAULT_S if costs.at_interval(s) != costs]
    if intervals_s is None:
        again = _affordable(tasks, again, baseline, len(tasks) // max(len(others), 1))
        if any(_is_in_python(task) for task, _ in again):
            others = _ends_first(others)[: len({(id(task.workload), task.run.seed) for task in tasks})]
    if not (again and others):
        return {}
    workloads = {id(task.workload): task.workload for task, _ in again}
    digests = {key: workload_digest(workload) for key, workload in workloads.items()}
    return {s: [_again(task, digests[id(task.workload)], costs.at_interval(s)) for task, _ in again] for s in others}


def _affordable(
    tasks: Sequence[Task], again: Sequence[tuple[Task, Result]], baseline: str | None, most: int
) -> list[tuple[Task, Result]]:
    """On the first workload and seed, the baseline and the best of the others, and of the rest as many as `most` leaves
    room for.
    """
    named = (task.run.label for task in tasks if baseline in (task.run.label, task.run.choice.name))
    first, (workload, seed) = next(named, tasks[0].run.label), (tasks[0].workload, tasks[0].run.seed)
    of_seed = [(task, result) for task, result in again if task.workload is workload and task.run.seed == seed]
    of_seed.sort(key=lambda one: (one[0].run.label != first, mean(one[1].jobs["jct_s"]) or 0.0))
    needed = 1 + any(task.run.label == first for task, _ in of_seed)
    return of_seed[: max(most, needed)]


def _is_in_python(task: Task) -> bool:
    return not isinstance(policy_of(*call_of(task.run.choice))[1], CompiledPolicy)


def _ends_first(intervals_s: Sequence[float]) -> list[float]:
    """The longest, the shortest, and those between."""
    return [*intervals_s[-1:], *intervals_s[:-1]]


def _again(task: Task, workload: str, costs: Overheads) -> Task:
    spec = task.spec.model_copy(update={"overheads": costs.stated(), "log": False})
    return Task(run_digest(workload, load_cluster(spec.cluster), spec, task.run), spec, task.workload, task.run)
