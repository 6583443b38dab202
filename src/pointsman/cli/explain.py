"""``pointsman explain``: why a job of a kept run was waiting."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pointsman.cli import screen

if TYPE_CHECKING:
    import polars as pl

    from pointsman.experiment import CellSpec
    from pointsman.workload import Quality

CONFIG = "config.resolved.yaml"
EARLIEST_DATE_S = 1e8
"""Times of a log that begins before this (1973) are not seconds since 1970."""


def explain(
    job: Annotated[str, typer.Argument(metavar="JOB", help="Job id, as in jobs.parquet or 'pointsman queue'.")],
    run: Annotated[
        Path | None,
        typer.Option(
            "--run", metavar="DIR", help="Run directory. Without it, a live cluster is asked.", show_default=False
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time to explain, with --run: on the log's clock (749605, or a date: 2026-03-02T08:00) or since the "
            "first submission (+3h). Default: the job's submission.",
        ),
    ] = None,
    format: Annotated[screen.Format, typer.Option(help="Output format.")] = screen.Format.table,
) -> None:
    """Explain the state of a job of a run at a given time; without --run, why a job of a live cluster is pending."""
    from pointsman.cli.replay import read_jobs, replayable
    from pointsman.errors import InputError, UsageError
    from pointsman.experiment import Cell
    from pointsman.inputs.durations import instant
    from pointsman.parallel.file_bundle import changed
    from pointsman.report.manifest import read_manifest
    from pointsman.report.units import policy_name

    if run is None:
        _ask_daemon(job, at, format)
    manifest = read_manifest(run, "run", "comparison")
    if manifest["kind"] == "comparison":
        raise UsageError(_one_of(run, manifest["runs"]))
    info = manifest["info"]
    spec = _spec_of(run)
    if spec.trace == "-":
        raise UsageError(f"{run}: its job log came from standard input and was not kept; simulate from a file instead")
    if spec.workload_seeds:  # of all runs of the comparison
        spec = spec.model_copy(update={"workload_seeds": (info["workload"]["seed"],)})
    ((workload,),) = read_jobs([Cell({}, spec)])
    made = workload.provenance
    if made.sha256 != info["workload"]["sha256"] or (not made.sha256 and made.command != info["workload"]["command"]):
        raise InputError("the log has changed since the run", path=spec.trace, fix="replay it anew")
    if (path := changed(info.get("files", []))) is not None:
        raise InputError("this file has changed since the run", path=path, fix="replay it anew")
    simulation, prepared = replayable(spec, workload, info)
    row = _row_of(prepared.jobs, job)
    submit_s = int(prepared.trace["submit"][row]) / 1000
    time_s = submit_s if at is None else _since_first_s(at, float(prepared.jobs["submit_s"][0]), workload.quality)

    from pointsman.cli.compiled import prepare_code
    from pointsman.explain.pending import explain as ask

    prepare_code([info["policy"]], dict(spec), questions=True)
    answer = ask(simulation, prepared, row, time_s)
    if format is screen.Format.table:
        reason = f" ({answer.reason})" if answer.reason else ""
        when = instant(answer.time_s, answer.time_s - answer.since_first_submit_s)
        typer.echo(f"job {answer.job_id} at {when} under {policy_name(info)}: {answer.state}{reason}: {answer.said}")
    else:
        screen.show([asdict(answer)], format)


def _ask_daemon(job: str, at: str | None, format: screen.Format) -> NoReturn:
    """Leave with what a live cluster answers."""
    from pointsman.errors import UsageError
    from pointsman.live.client.verbs import main

    if at is not None:
        raise UsageError("--at requires --run DIR: of a live cluster, only the present is explained")
    sys.exit(main(["explain", job, "--format", format.value]))


def _since_first_s(at: str, first_s: float, quality: "Quality") -> float:
    """Seconds since the first submit of ``--at``, which is on the log's clock unless it begins with a plus."""
    from pointsman.errors import UsageError
    from pointsman.inputs.durations import parse_duration_s

    try:
        date_s = _date_s(at, first_s, quality)
        time_s = parse_duration_s(at.removeprefix("+")) if date_s is None else date_s
    except ValueError as error:
        raise UsageError(f"--at: {error}") from None
    since_s = time_s if at.startswith("+") else time_s - first_s
    if since_s < 0 and date_s is not None:
        raise UsageError(f"--at {at} is before the first submit, which is at {first_s:.3f} s on the log's clock")
    if since_s < 0:
        raise UsageError(
            f"--at {at} is before the first submit, which is at {first_s:.3f} s on the log's clock; "
            f"write --at +{at} for a time after it"
        )
    return since_s


def _date_s(at: str, first_s: float, quality: "Quality") -> float | None:
    """The time of a date on the log's clock; None if `at` is none.

    Raises:
        ValueError: it is, but the log's clock is of no calendar.
    """
    import polars as pl

    from pointsman.workload.readers.dates import date_s
    from pointsman.workload.readers.trace_cleaning import origin_of

    seconds, origin_s = date_s(pl.Series([at], dtype=pl.String))[0], origin_of(quality)
    if seconds is None:
        return None
    if origin_s is None and first_s < EARLIEST_DATE_S:
        raise ValueError(f"{at} is a date, and the log's times are none: they begin at {first_s:.3f} s")
    return seconds - (origin_s or 0.0)


def _one_of(comparison: Path, runs: list[str]) -> str:
    if not runs:
        return f"{comparison}: this is a comparison without its runs; name the directory of a run with --run"
    more = ", ..." if len(runs) > 8 else ""
    there = ", ".join(str(comparison / "runs" / name) for name in runs[:8]) + more
    return f"{comparison}: this is a comparison; name one of its runs with --run ({there})"


def _spec_of(run: Path) -> "CellSpec":
    """The experiment that the run was part of: its own, or that of the comparison around it."""
    from pointsman.errors import UsageError
    from pointsman.experiment import read_experiment

    for place in (run.resolve().parent.parent, run):
        if _is_experiment(place / CONFIG):
            try:
                return read_experiment(place / CONFIG).spec.only_cell("explain")
            except UsageError:
                if place == run:
                    raise
    if (run / CONFIG).is_file():
        if "\nknowledge: recorded\n" in (run / CONFIG).read_text(encoding="utf-8"):
            raise UsageError(f"{run}: this happened on a live cluster, and cannot be replayed")
        raise UsageError(
            f"{run}: this run was copied out of its comparison, whose {CONFIG} is needed to replay it; "
            "explain the run where the comparison has it (COMPARISON/runs/RUN)"
        )
    raise UsageError(f"{run}: has no {CONFIG}, so it cannot be replayed (make the run with 'pointsman simulate -o')")


def _is_experiment(config: Path) -> bool:
    """Whether the file says how to make the run; that of one run of a comparison only lists its settings."""
    return config.is_file() and "\nkind: Experiment\n" in config.read_text(encoding="utf-8")


def _row_of(jobs: "pl.DataFrame", job: str) -> int:
    from difflib import get_close_matches

    from pointsman.errors import UsageError

    found = jobs["job_id"].index_of(job)
    if found is None:
        near = get_close_matches(job, jobs["job_id"].head(100_000).to_list(), 1)
        raise UsageError(
            f"the run has no job {job!r} ({f'did you mean {near[0]!r}?' if near else 'ids are in jobs.parquet'})"
        )
    return found
