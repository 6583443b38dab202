"""The runs of an experiment: each policy with each seed, one after another or side by side."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pointsman.cli import screen
from pointsman.experiment import ExperimentSpec, PolicyChoice
from pointsman.parallel.file_bundle import Parcel, pack
from pointsman.parallel.pool import OneByOne
from pointsman.parallel.workers import Workers

if TYPE_CHECKING:
    from pointsman.engine.run.result import Result
    from pointsman.engine.run.simulation import Simulation
    from pointsman.engine.setup.prepare import Prepared
    from pointsman.workload import Workload


@dataclass(frozen=True)
class Run:
    """One policy with one seed."""

    label: str
    choice: PolicyChoice
    seed: int


def runs_of(spec: ExperimentSpec) -> list[Run]:
    """Every run, policy by policy. A policy that comes twice is told apart by its parameters."""
    from pointsman.policies.registry import get_policy

    names = [get_policy(choice.name).title for choice in spec.policies]
    labels = [
        name if names.count(name) == 1 or not choice.params else f"{name}({_listed(choice)})"
        for name, choice in zip(names, spec.policies, strict=True)
    ]
    pairs = zip(labels, spec.policies, strict=True)
    return [Run(label, choice, seed) for label, choice in pairs for seed in spec.seeds]


def read_jobs(spec: ExperimentSpec) -> "Workload":
    """The job log of the experiment, filtered and at its load; says what was read.

    Raises:
        InputError: the log is wrong. UsageError: a filter or the load is.
    """
    from pointsman.cli.hints import tell_of_units
    from pointsman.cli.results import command_line
    from pointsman.cluster import load_cluster
    from pointsman.workload import read_workload
    from pointsman.workload.transforms.rescale import at_load

    only = {column: list(values) for column, values in spec.only.items()}
    options = {} if spec.time_unit is None else {"time_unit": spec.time_unit}
    workload = read_workload(
        spec.trace, format=spec.trace_format, only=only, columns=spec.columns, command=command_line(), **options
    )
    if spec.ignore:
        workload = workload.without(spec.ignore)
    if spec.load is not None:
        workload = at_load(workload, load_cluster(spec.cluster).gpus, spec.load)
    screen.note(f"{workload.provenance}: " + workload.quality.render().replace("\n", "\n  "))
    tell_of_units(workload)
    return workload


def replay(spec: ExperimentSpec, workload: "Workload", workers: Workers) -> "list[Result]":
    """The results of every run, in order."""
    from pointsman.cli.compiled import prepare_code
    from pointsman.cli.hints import tell_of_results

    runs = runs_of(spec)
    if not workers.far:
        prepare_code((choice.name for choice in spec.policies), dict(spec))
    with screen.progress("replay") as progress:
        if isinstance(workers, OneByOne):
            found = list(_one_by_one(spec, workload, runs, progress))
        else:
            found = list(_side_by_side(spec, workload, runs, progress, workers))
    tell_of_results(workload, [run.label for run in runs], found)
    for run, result in zip(runs, found, strict=True):
        if spec.log is None and result.events is None:
            screen.note(f"{run.label}, seed {run.seed}: too many events to keep; means over the window are of samples")
        decisions, engine_s = result.info["decisions"], result.info["engine_s"]
        screen.detail(f"{run.label}, seed {run.seed}: {decisions:,} decisions in {engine_s:.3g} s of computing")
    return found


def _one_by_one(
    spec: ExperimentSpec, workload: "Workload", runs: list[Run], progress: screen.Progress
) -> "Iterator[Result]":
    for done, run in enumerate(runs):

        def tell(share: float, done: int = done, run: Run = run) -> None:
            progress.update((done + share) / len(runs), f"{run.label}, {done + 1} of {len(runs)}")

        tell(0.0)
        yield _result(spec, workload, run, tell)


def _side_by_side(
    spec: ExperimentSpec, workload: "Workload", runs: list[Run], progress: screen.Progress, workers: Workers
) -> "Iterator[Result]":
    parcel = pack(spec.model_dump(exclude={"trace"})) if workers.far else Parcel()
    there = ExperimentSpec.model_validate(parcel.there(spec.model_dump()))
    calls = [(there, workload, run, None) for run in runs_of(there)]
    for done, result in enumerate(workers(_result, calls, parcel), 1):
        progress.update(done / len(runs), f"{done} of {len(runs)}")
        yield replace(result, info=parcel.back(result.info))


def _result(spec: ExperimentSpec, workload: "Workload", run: Run, tell: Callable[[float], None] | None) -> "Result":
    from pointsman.api import simulate

    return simulate(
        workload,
        spec.cluster,
        run.choice.name,
        params=run.choice.params,
        **dict(spec.run_options(run.seed)),
        progress=tell,
    )


def replayable(spec: ExperimentSpec, workload: "Workload", info: Mapping[str, Any]) -> "tuple[Simulation, Prepared]":
    """A finished run again, before its first event: `info` says which policy, parameters and seed it had."""
    from pointsman.api import open_simulation
    from pointsman.cluster import load_cluster
    from pointsman.policies.registry import get_policy

    policy = get_policy(info["policy"])
    options = spec.run_options(info["seed"], audit=False, log=False)
    return open_simulation(workload, load_cluster(spec.cluster), policy, policy.make(info["params"]), options)


def _listed(choice: PolicyChoice) -> str:
    return ", ".join(f"{name}={value}" for name, value in choice.params.items())
