"""``pointsman capacity``: how many nodes a cluster needs to meet a target, under each of several policies."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli.options import WHAT, AtOnce, On, Options, with_options

if TYPE_CHECKING:
    from pointsman.capacity.curve import Curve, Point, Target
    from pointsman.cli.screen import Format
    from pointsman.cluster import Cluster
    from pointsman.experiment import CellSpec
    from pointsman.parallel.workers import Workers
    from pointsman.sweeps.kept import Store
    from pointsman.sweeps.runs import Run
    from pointsman.workload import Workload

MOST_TIMES = 64
"""So many times as many nodes as the cluster file has are tried at most (ours)."""


@with_options("policies")
def capacity(
    options: Options,
    target: Annotated[
        str,
        typer.Option(
            metavar="CONDITION",
            help="Target to meet: a metric of summary.json, an operator and a value (seconds or a share).",
            rich_help_panel=WHAT,
        ),
    ] = "pending_p90_s<=3600",
    at_once: AtOnce = None,
    on: On = "local",
) -> None:
    """Find the smallest cluster that meets a target, with node types in the proportions of the cluster file."""
    from pointsman.capacity.curve import parse_target, sentence
    from pointsman.capacity.nodes import nodes_of
    from pointsman.capacity.scaling import scaled, size_of
    from pointsman.cli import screen
    from pointsman.cli.compiled import prepare_code
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, say_what_is_kept
    from pointsman.cli.results import printed_first
    from pointsman.cluster import load_cluster
    from pointsman.engine.setup.refusal import check_node_sizes
    from pointsman.errors import UsageError
    from pointsman.parallel.pool import workers
    from pointsman.report import refuse_taken
    from pointsman.sweeps.cells import check_cell, check_cluster
    from pointsman.sweeps.kept import forget, values_for

    experiment, wanted = resolve(options), parse_target(target)
    spec, cells = experiment.spec.only_cell("capacity"), experiment.spec.cells()
    if spec.oversized != "refuse":
        raise UsageError(f"--oversized {spec.oversized}: capacity requires that every job fits; leave the option out")
    if len(spec.workload_seeds) > 1:
        raise UsageError("capacity takes one of --workload-seeds; it searches on the jobs of one workload")
    if wanted.metric.startswith("wait_"):
        screen.note("wait_* ends at the first start; pending_* also counts waiting after preemptions")
    if options.dry_run:
        typer.echo(experiment.to_yaml(), nl=False)
        return
    if options.output:
        refuse_taken(options.output, force=options.force)
    cluster = load_cluster(spec.cluster)
    scaled(cluster, 1)  # refuses what cannot be scaled before the log is read
    with say_what_is_kept(options.output), workers(on, at_once) as some:
        ((workload,),) = read_jobs(cells)
        check_cell(spec, workload)
        check_cluster(spec, workload, oversized="clamp")  # a larger one may have room
        check_node_sizes(workload, cluster.layout())
        if not some.far:
            prepare_code((choice.name for choice in spec.policies), dict(spec))
        curves = _curves(spec, workload, cluster, wanted, some, values_for(options.output))
    answer = sentence(curves, wanted, lambda nodes: nodes_of(scaled(cluster, nodes)))
    with printed_first() as printing:
        printing(partial(_show, wanted, answer, size_of(cluster)), options.format)(curves)
        if options.output:
            _write(options.output, curves, wanted, answer, force=options.force)
            forget(options.output)
            drawn = options.output / "capacity.svg"
            screen.note(f"curve: {drawn if drawn.exists() else options.output / 'capacity.csv'}")


def _curves(
    spec: "CellSpec", workload: "Workload", cluster: "Cluster", target: "Target", workers: "Workers", store: "Store"
) -> "list[Curve]":
    from pointsman.capacity.scaling import scaled, size_of
    from pointsman.capacity.side_by_side import curves
    from pointsman.cli import screen
    from pointsman.cluster.parts import MAX_NODES
    from pointsman.sweeps.digests import run_digest, workload_digest
    from pointsman.sweeps.kept import finish
    from pointsman.sweeps.runs import runs_of

    runs: dict[str, list[Run]] = {}
    for run in runs_of(spec):
        runs.setdefault(run.label, []).append(run)

    of = cache(partial(scaled, cluster))
    jobs, rounds = workload_digest(workload), 0

    def digest(run: "Run", nodes: int) -> str:
        return run_digest(jobs, of(nodes), spec, run, target.metric, spec.window)

    def measure(asked: list[tuple[str, int]]) -> list[float | None]:
        nonlocal rounds
        sizes = sorted({n for _, n in asked})
        said = " to ".join(f"{n:,}" for n in sorted({sizes[0], sizes[-1]}))
        wanted = [(run, n) for label, n in asked for run in runs[label]]
        missing = [each for each in wanted if not store.has(digest(*each))]
        calls = [(spec, workload, run, of(n), target.metric) for run, n in missing]
        for done, _ in enumerate(finish([digest(*each) for each in missing], figure_of, calls, workers, store), 1):
            progress.update(1 - 2.0 ** -(rounds / 4 + done / len(calls) / 4), f"{said} nodes")
        rounds += 1
        each = iter([store.take(digest(*one)) for one in wanted])
        return [mean_of([next(each) for _ in runs[label]]) for label, _ in asked]

    first = size_of(cluster)
    with screen.progress("capacity") as progress:
        return curves(list(runs), first, min(MOST_TIMES * first, MAX_NODES), lambda n: of(n).gpus, target, measure)


def mean_of(values: Sequence[float | None]) -> float | None:
    """Over the seeds; None: it is unknown for one of them."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def figure_of(spec: "CellSpec", workload: "Workload", run: "Run", cluster: "Cluster", metric: str) -> float | None:
    """One figure of one run; None: a job is too wide for this cluster, or the policy left jobs waiting."""
    from pointsman.api import simulate
    from pointsman.errors import TooWideError
    from pointsman.report import summarise

    options: dict[str, Any] = dict(spec.run_options(run.seed, log=False))
    try:
        result = simulate(workload, cluster, run.choice.name, params=run.choice.params, **options)
    except TooWideError:
        return None
    if (result.jobs["state"] == "PENDING").any():
        return None
    return summarise(result, window=spec.window)[metric]


def _show(target: "Target", answer: str, nodes: int, curves: "Sequence[Curve]", format: "Format") -> None:
    from pointsman.capacity.curve import notes
    from pointsman.cli import screen
    from pointsman.report.units import NOTHING, count

    for told in notes(curves, target.metric):
        screen.note(told)
    if format.is_data:
        screen.show(rows_of(curves), format)
        return

    def row(curve: "Curve") -> Mapping[str, str]:
        answer = curve.answer
        now = next(point for point in curve.points if point.nodes == nodes)
        return {
            "policy": curve.policy,
            "GPUs": count(answer.gpus) if answer else NOTHING,
            "nodes": count(answer.nodes) if answer else NOTHING,
            target.metric: target.said(answer.value) if answer else NOTHING,
            f"with the {count(now.gpus)} GPUs of the file": target.said(now.value),
        }

    screen.show([dict(row(curve)) for curve in curves], format, left=["policy"])
    typer.echo(f"\n{answer}", err=format is not screen.Format.table)


def rows_of(curves: "Sequence[Curve]") -> list[dict[str, Any]]:
    """A row for each policy and size."""

    def row(curve: "Curve", point: "Point") -> dict[str, Any]:
        return {
            "policy": curve.policy,
            "nodes": point.nodes,
            "gpus": point.gpus,
            "value": point.value,
            "is_answer": point == curve.answer,
        }

    return [row(curve, point) for curve in curves for point in curve.points]


def _write(directory: Path, curves: "Sequence[Curve]", target: "Target", answer: str, *, force: bool) -> None:
    """``capacity.csv``, the manifest, and last ``capacity.svg``, or ``capacity.txt``, which says why it is missing."""
    import polars as pl

    from pointsman.capacity.picture import drawing
    from pointsman.cli import screen
    from pointsman.cli.results import command_line
    from pointsman.report.figures.drawing import save_drawing
    from pointsman.report.manifest import write_manifest
    from pointsman.report.staging import whole_directory

    with whole_directory(directory, force=force) as partial:
        pl.DataFrame(rows_of(curves)).write_csv(partial / "capacity.csv")
        write_manifest(partial, "capacity", [], command_line(), target=target.text)
        if screen.can_draw():
            save_drawing(partial, drawing(curves, target, answer))
