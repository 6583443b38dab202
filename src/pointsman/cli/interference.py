"""``pointsman profile interference``: how much jobs on one node slow each other, learnt from runs or measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli.screen import Format

if TYPE_CHECKING:
    import polars as pl

    from pointsman.report.result import Result
    from pointsman.speed.interference.learned.learn import Learned
    from pointsman.speed.interference.learned.observations import Recorded
    from pointsman.speed.profiles.catalogue import Catalogue

PER_CENT = 100.0
MOST_SLOWDOWN = 1e4
"""A logged slowdown that is larger, or as much smaller than 1, is damage (ours)."""
UNLIKE = 0.01
"""Slow-downs of one combination that differ by more than this are told of."""
PREDICTORS = ("constant", "additive", "networks")


def interference(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Directories of runs or comparisons that were made with --log-speeds, or measured combinations (CSV).",
        ),
    ],
    profiles: Annotated[
        list[str],
        typer.Option(
            metavar="FILE",
            default_factory=list,
            show_default=False,
            help="Model profiles that take precedence over the shipped ones. Repeatable.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Output file (YAML), for --node-interference.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    format: Annotated[Format, typer.Option(help="Output format.")] = Format.table,
) -> None:
    """Fit slowdowns of jobs on different GPUs of a node to recorded runs or measurements."""
    from pointsman.cli import screen
    from pointsman.cli.results import command_line
    from pointsman.cli.unsteady import note_unsteady
    from pointsman.errors import InputError
    from pointsman.inputs.output_path import check_output_file, write_whole
    from pointsman.report import read_runs
    from pointsman.speed import load_catalogue
    from pointsman.speed.interference.learned.file import learned_yaml
    from pointsman.speed.interference.learned.learn import learn
    from pointsman.speed.interference.learned.measured import observe_measured
    from pointsman.speed.interference.learned.observations import Observations, observe

    if output:
        check_output_file(output, force=force)
    catalogue = load_catalogue(*profiles)
    found: Observations = {}
    for place in runs:
        if place.suffix == ".csv":
            note_unsteady(place, observe_measured(place, catalogue, found))
            continue
        for result in read_runs(place):
            observe(_recorded_run(place, result, catalogue), found)
    if not found:
        fix = "models: a column of the log, or --assign-models SEED"
        raise InputError("no job with a profiled model ran on one node", path=runs[0], fix=fix)
    with screen.progress("leaving out combinations") as progress:
        learned = learn(found, seed, progress.update)
    _show(learned, format)
    _note_what_is_odd(learned)
    if output:
        source = (
            f"{len(found):,} combinations of {', '.join(map(str, runs))}; {_describe_errors(learned)}; {command_line()}"
        )
        write_whole(output, learned_yaml(output.stem, source, [one.figures for one in learned]))
        screen.note(f"{output}: use it with --node-interference {output}")


def _recorded_run(place: Path, result: "Result", catalogue: "Catalogue") -> "Recorded":
    """What of a run can be learnt from; InputError if that is nothing."""
    from pointsman.errors import InputError
    from pointsman.speed.interference.learned.combinations import Server
    from pointsman.speed.interference.learned.observations import Recorded

    info, jobs = result.info, result.jobs
    if result.events is None or result.speeds is None:
        raise InputError("the run has no log of speeds", path=place, fix="run again with --log-speeds")
    base = str(info.get("rate_model", "rates")).partition(":")[0]
    if base not in ("rates", "iterations"):
        cause = f"the rate model {base!r} logs slow-downs of iterations, not of computing"
        raise InputError(cause, path=place, fix="run again with --rate-model rates")
    if "node_gpu_types" not in info:
        raise InputError("the run does not state the GPU types of its nodes", path=place, fix="run again")
    whole = jobs["fraction"].is_null() if "fraction" in jobs.columns else [True] * len(jobs)
    models = [
        catalogue.model_name(model) if model is not None and alone and catalogue.knows(model) else None
        for model, alone in zip(jobs["model"], whole, strict=True)
    ]
    _check_speeds(place, result.speeds, len(jobs))
    servers = [Server.of(*kind) for kind in zip(info["node_gpu_types"], info["node_gpus"], strict=True)]
    return Recorded(result.events, result.speeds, models, servers)


def _check_speeds(place: Path, speeds: "pl.DataFrame", jobs: int) -> None:
    """That every row is a job of the run with a slowdown that can be.

    Raises:
        InputError: a column is missing, or a row is none.
    """
    import polars as pl

    from pointsman.errors import InputError

    path, fix = place / "speeds.parquet", "run again with --log-speeds"
    wanted = {"time_ms": pl.Int64, "row": pl.Int64, "computing_slowdown": pl.Float64}
    if missing := sorted(wanted.keys() - set(speeds.columns)):
        raise InputError(f"no column {missing[0]}", path=path, fix=fix)
    numbers = speeds.select(pl.col(name).cast(kind, strict=False) for name, kind in wanted.items())
    right = (
        pl.col("time_ms").ge(0)
        & pl.col("row").is_between(0, jobs - 1)
        & pl.col("computing_slowdown").is_between(1 / MOST_SLOWDOWN, MOST_SLOWDOWN)
    ).fill_null(False)
    wrong = numbers.with_row_index("at").filter(~right)
    if len(wrong):
        at, *values = wrong.row(0)
        told = ", ".join(f"{name} = {value}" for name, value in zip(wanted, values, strict=True))
        raise InputError(f"row {at + 1}: {told}: no slowdown of a job of this run", path=path, fix=fix)


def _show(learned: "list[Learned]", format: Format) -> None:
    from pointsman.cli import screen

    errors = [row for one in learned for row in _errors(one)]
    calibration = [row for one in learned for row in _calibration(one)]
    if format is Format.json:
        screen.show_json({"errors": errors, "calibration": calibration})
        return
    screen.show(errors, format, left=("server", "predictor", "tabulated"))
    if format is Format.table and calibration:
        typer.echo()
        screen.show(calibration, format, left=("server", "of_the_networks"))


def _errors(learned: "Learned") -> list[dict[str, Any]]:
    """Lists the error of each predictor on combinations held out."""
    import numpy as np

    found = learned.errors
    rows = []
    for name in PREDICTORS:
        error = None if found is None else PER_CENT * found.error(name)
        rows.append(
            {
                "server": str(learned.server),
                "predictor": name,
                "combinations": sum(bool(c.others) for c in learned.sample.combinations),
                "held_out_error_pct": None if error is None else round(float(error.mean()), 3),
                "median_pct": None if error is None else round(float(np.median(error)), 3),
                "p90_pct": None if error is None else round(float(np.quantile(error, 0.9)), 3),
                "tabulated": "yes" if name == learned.best else "",
            }
        )
    return rows


def _calibration(learned: "Learned") -> list[dict[str, Any]]:
    """Whether the networks disagree where they are wrong."""
    from pointsman.speed.interference.learned.held_out import INTERVALS

    found = learned.errors
    if found is None:
        return []
    quarters = ("least disagreement", "second quarter", "third quarter", "most disagreement")
    shown = {f"error, {name}": error for name, error in zip(quarters, found.errors_by_disagreement(), strict=True)}
    shown |= {f"truths in the {per_cent} % interval": found.covered(per_cent) for per_cent in INTERVALS}
    return [
        {"server": str(learned.server), "of_the_networks": name, "pct": round(PER_CENT * value, 3)}
        for name, value in shown.items()
    ]


def _note_what_is_odd(learned: "list[Learned]") -> None:
    from pointsman.cli import screen

    for one in learned:
        unlike = sum(seen.most > (1 + UNLIKE) * seen.least for seen in one.seen)
        if unlike:
            alike = "GPUs of other sockets, or nodes that only look alike"
            screen.note(f"{one.server}: {unlike} combinations were seen with unlike slow-downs ({alike}); means count")
        if one.errors is None:
            screen.note(f"{one.server}: too few combinations of jobs to tell errors; make longer or more runs")


def _describe_errors(learned: "list[Learned]") -> str:
    """Errors in a sentence."""
    told = [
        f"{one.server}: held-out error {PER_CENT * one.errors.mean_error(one.best):.2g} % ({one.best})"
        for one in learned
        if one.errors is not None
    ]
    return ", ".join(told) or "held-out error not known"
