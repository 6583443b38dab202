"""The runs of a cell: each policy with each seed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pointsman.experiment import CellSpec, PolicyChoice

if TYPE_CHECKING:
    from pointsman.report.result import Result
    from pointsman.workload import Workload


@dataclass(frozen=True)
class Run:
    """One policy with one seed."""

    label: str
    choice: PolicyChoice
    seed: int


def runs_of(spec: CellSpec) -> list[Run]:
    """Every run, policy by policy. A policy that comes twice is told apart by its parameters."""
    from pointsman.sweeps.choices import title_of

    names = [title_of(choice) for choice in spec.policies]
    labels = [
        name if names.count(name) == 1 or not choice.params else f"{name}({_list_params(choice)})"
        for name, choice in zip(names, spec.policies, strict=True)
    ]
    pairs = zip(labels, spec.policies, strict=True)
    return [Run(label, choice, seed) for label, choice in pairs for seed in spec.seeds]


def simulated(spec: CellSpec, workload: "Workload", run: Run, tell: Callable[[float], None] | None = None) -> "Result":
    """The result of one run; `tell` is told the share of jobs that have ended."""
    from pointsman.api import simulate
    from pointsman.sweeps.choices import call_of

    policy, params = call_of(run.choice)
    return simulate(workload, spec.cluster, policy, params=params, **dict(spec.run_options(run.seed)), progress=tell)


def _list_params(choice: PolicyChoice) -> str:
    return ", ".join(f"{name}={value}" for name, value in choice.params.items())
