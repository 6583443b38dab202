"""How many GPUs a policy saves: the least cluster on which jobs fare no worse under it than under the first policy on
the whole cluster, also where preemption loses work.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pointsman.capacity.curve import Target
from pointsman.capacity.finding import mean_of, search
from pointsman.capacity.saved import EQUAL, Saving, Savings
from pointsman.capacity.scaling import size_of
from pointsman.capacity.trials import PREEMPTS, Trials
from pointsman.engine.setup.overheads import load_overheads
from pointsman.errors import RunError, UsageError
from pointsman.experiment import CellSpec
from pointsman.parallel.workers import Workers
from pointsman.sweeps.kept import Store
from pointsman.workload import Workload


def check_several(spec: CellSpec) -> None:
    """That there is a policy to compare with, and another.

    Raises:
        UsageError: there is one.
    """
    if len(spec.policies) < 2:
        raise UsageError("--savings compares with the first policy and needs a second: add --policy NAME")


def savings_of(
    spec: CellSpec, workload: Workload, workers: Workers, store: Store, tell: Callable[..., None],
    intervals_s: Sequence[float],
) -> Savings:  # fmt: skip
    """What each policy but the first saves in each of the figures of `EQUAL`; skips simulations that `store` has.

    A policy that preempts, or is compared with one that does, is tried at each interval, others at that of `spec`.

    Args:
        spec: the policies, the one to compare with first, and the whole cluster.
        workload: the jobs.
        workers: what simulates.
        store: where figures are kept.
        tell: told a share that is done, and a label.
        intervals_s: seconds between checkpoints, as in ``compare --price``.

    Raises:
        RunError: a figure of the first policy is unknown, because jobs are left over.
    """
    costs, own = load_overheads(spec.overheads), Trials(spec, workload, workers, store, list(EQUAL))
    _simulate_whole(own, list(own.runs))
    preempting = {
        runs[0].choice.name for label, runs in own.runs.items() if any(told[PREEMPTS] for told in own.figures(label))
    }
    first, *others = spec.policies
    found: list[Saving] = []
    for interval_s in sorted({costs.interval_s, *intervals_s}):
        if interval_s == costs.interval_s:
            found += _at(interval_s, own, tell)
        elif some := [choice for choice in others if {first.name, choice.name} & preempting]:
            changed = {"overheads": costs.at_interval(interval_s).stated(), "policies": (first, *some)}
            at = replace(own, spec=spec.model_copy(update=changed), _known={})
            found += _at(interval_s, at, tell)
    return Savings(next(iter(own.runs)), found, costs.lost_s)


def _simulate_whole(trials: Trials, labels: Sequence[str]) -> None:
    trials.simulate([(label, size_of(trials.whole)) for label in labels])


def _limits(trials: Trials, label: str) -> dict[str, float]:
    """The figures of the first policy on the whole cluster, means over its seeds.

    Raises:
        RunError: one is unknown.
    """
    own = trials.figures(label)
    known = {metric: value for metric in EQUAL if (value := mean_of([told[metric] for told in own])) is not None}
    if len(known) < len(EQUAL):
        raise RunError(f"{label} leaves jobs waiting on this cluster, so nothing can be as good; choose another")
    return known


def _at(interval_s: float, trials: Trials, tell: Callable[..., None]) -> list[Saving]:
    """What each of the others saves at one interval."""
    first, *others = trials.runs
    _simulate_whole(trials, [first])
    found = []
    for metric, limit_s in _limits(trials, first).items():
        target = Target(f"{metric}<={limit_s!r}", metric, "<=", limit_s)
        for curve in search(trials, tell, target, others).curves:
            found.append(Saving(curve.policy, interval_s, metric, limit_s, trials.whole.gpus, curve.answer))
    return found
