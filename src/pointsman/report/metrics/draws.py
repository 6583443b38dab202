"""What the runs of a policy were drawn with: the seeds of their workloads, and their own."""

from collections.abc import Sequence

from pointsman.inputs.messages import counted
from pointsman.report.metrics.measured import Measured


def workload_seeds(runs: Sequence[Measured]) -> list[int]:
    """The seeds of the workloads, ascending, where the runs are of several."""
    found = {run.workload_seed for run in runs if run.workload_seed is not None}
    return sorted(found) if len(found) > 1 else []


def units(runs: Sequence[Measured]) -> list[int]:
    """For each run the number of the independent draw that it belongs to: its workload where there are several, for
    runs of one workload have their jobs in common; else each run is one.
    """
    if not workload_seeds(runs):
        return list(range(len(runs)))
    numbers = {seed: number for number, seed in enumerate(dict.fromkeys(run.workload_seed for run in runs))}
    return [numbers[run.workload_seed] for run in runs]


def drawn_with(runs: Sequence[Measured]) -> str:
    """``seed 4``, ``seeds 1, 4`` or ``5 workloads × 1 seed``."""
    seeds = sorted({run.seed for run in runs})
    if not (drawn := workload_seeds(runs)):
        return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
    each, more = divmod(len({run.draw for run in runs}), len(drawn))
    return f"{len(drawn)} workloads" if more else f"{len(drawn)} workloads × {counted(each, 'seed')}"
