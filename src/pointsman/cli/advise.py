"""``pointsman advise``: what another policy would have changed at a site, if a model of its scheduler fits its log."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pointsman.cli.options import ASSUMED, OUTPUT, WHAT, AtOnce, Force, Options, OutputFolder

if TYPE_CHECKING:
    from pointsman.report.metrics.calibration.verdict import Verdict
    from pointsman.report.pages.advice import Advice
    from pointsman.report.result import Result
    from pointsman.sweeps.cells import Task
    from pointsman.workload import Workload

NO_LIMIT_S: Final = 365 * 86_400.0
"""What Slurm's backfilling counts for a job without a time limit (YEAR_MINUTES in its sched/backfill)."""
EXPORT: Final = "sacct -aXPD --format=JobIDRaw,User,Account,Partition,State,Submit,Eligible,Start,End,…"


class AdviceFormat(StrEnum):
    """How advice is printed."""

    table = "table"
    json = "json"
    markdown = "markdown"


def advise(
    sacct: Annotated[
        str,
        typer.Option(
            "--sacct",
            metavar="FILE",
            help="Job log with start times: what 'sacct -aXPD --format=…' prints, or another log that has them.",
            rich_help_panel=WHAT,
        ),
    ],
    cluster: Annotated[
        str,
        typer.Option(
            metavar="CLUSTER",
            help="Cluster that the log is of: a file that 'pointsman cluster import' made, a name or a shorthand.",
            rich_help_panel=WHAT,
        ),
    ],
    policies: Annotated[
        list[str],
        typer.Option(
            "--policy",
            metavar="NAME",
            default_factory=list,
            show_default=False,
            help="Policy to compare with the present scheduler. Default: gittins. Repeatable.",
            rich_help_panel=WHAT,
        ),
    ],
    only: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=VALUE",
            default_factory=list,
            show_default=False,
            help="Keep only these jobs. Example: --only partition=train. Repeatable.",
            rich_help_panel=WHAT,
        ),
    ],
    ignore: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMNS",
            default_factory=list,
            show_default=False,
            help="Leave out columns of the log: gpu_type, partition, shape. Repeatable.",
            rich_help_panel=WHAT,
        ),
    ],
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME.PARAM=VALUE",
            default_factory=list,
            show_default=False,
            help="Set a parameter of a policy or of the overheads. Example: --set multifactor.backfill=easy. "
            "Repeatable.",
            rich_help_panel=ASSUMED,
        ),
    ],
    slurm_conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="slurm.conf of the site, or what 'scontrol show config' prints. Default: the weights of an example in "
            "Slurm's documentation.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    price: Annotated[
        str,
        typer.Option(
            metavar="INTERVALS",
            help="Intervals between checkpoints at which the policies that preempt are compared (0: nothing is lost).",
            rich_help_panel=ASSUMED,
        ),
    ] = "0,1h,4h,12h",
    at_once: AtOnce = None,
    output: OutputFolder = None,
    force: Force = False,
    format: Annotated[
        AdviceFormat, typer.Option("--format", help="Output format.", rich_help_panel=OUTPUT)
    ] = AdviceFormat.table,
) -> None:
    """Advise whether a site should change its scheduling policy, by its Slurm accounting log.

    Slurm's scheduler is simulated on the log first. If that does not fit what really happened, there is no advice, and
    the exit code is 4.
    """
    from pointsman.cli.comparing import comparison_of, runs_of_cell, with_price
    from pointsman.cli.experiment import resolve
    from pointsman.cli.replay import read_jobs, replay, say_what_is_kept
    from pointsman.cli.results import printed_first
    from pointsman.engine.setup.overheads import STARTS_INCLUDED
    from pointsman.errors import ThresholdError
    from pointsman.parallel.pool import workers
    from pointsman.report import refuse_taken
    from pointsman.report.pages.advice import Advice
    from pointsman.sweeps.kept import results_for
    from pointsman.sweeps.price import parse_intervals_s

    for name in policies:
        _check_information(name)
    present = "multifactor" if slurm_conf is None else f"multifactor:{slurm_conf}"
    chosen = {"policies": [present, *(policies or ["gittins"])], "only": only, "ignore": ignore}
    spec = {"trace": sacct, "cluster": [cluster], "overheads": STARTS_INCLUDED} | {k: v for k, v in chosen.items() if v}
    options = Options(spec=spec, settings=settings, output=output, force=force)
    intervals_s, experiment = parse_intervals_s(price), resolve(options)
    if output:
        refuse_taken(output, force=force)
    store = results_for(output)
    with say_what_is_kept(output), workers("local", at_once) as some:
        cells = experiment.spec.cells()
        ((log,),) = read_jobs(cells)
        workload = _with_limits(log)
        tasks = _tasks(cells, workload)
        replay([tasks[:1]], some, store)
        runs = runs_of_cell(tasks[:1], store)
        verdict = _verdict(workload, runs.results[0])
        if verdict.is_good:
            replay([tasks[1:]], some, store)
            runs = with_price(runs.beside(runs_of_cell(tasks[1:], store)), intervals_s, None, some)
    assumed = list(_assumed(tasks[0], runs.results[0], log, slurm_conf))
    with printed_first() as printing:
        show = printing(_show, format)  # ty: ignore
        comparison_of(
            options, experiment, runs, None, lambda found: show(Advice(found, assumed)),
            advise=lambda found: Advice(found, assumed),
        )  # fmt: skip
    if not verdict.is_good:
        raise ThresholdError("no advice, because the model of the present scheduler does not fit the log well enough")


def _check_information(policy: str) -> None:
    """UsageError if a policy is told what no scheduler knows: its gain would not be had."""
    from pointsman.errors import UsageError
    from pointsman.policies.registry import get_policy

    if get_policy(policy).needs == "oracle":
        fix = "leave it out; 'pointsman compare' shows it as a bound"
        raise UsageError(f"--policy {policy}: it requires true durations, which no scheduler knows ({fix})")


def _with_limits(log: "Workload") -> "Workload":
    """Gives jobs without a time limit the one that Slurm counts for them, if others have one."""
    from dataclasses import replace

    limits = log.jobs["time_limit_s"]
    return log if limits.is_null().all() else replace(log, jobs=log.jobs.with_columns(limits.fill_null(NO_LIMIT_S)))


def _tasks(cells: Any, workload: "Workload") -> "list[Task]":
    """The runs, the present scheduler's first, all of which are checked before one begins.

    Raises:
        InputError: the log has no start times, or jobs that the cluster can never hold.
    """
    from pointsman.engine.run.logged import check_starts
    from pointsman.errors import InputError, TooWideError, UsageError
    from pointsman.sweeps.cells import tasks_of

    source = workload.provenance.source
    try:
        check_starts(workload.jobs["start_s"])
    except UsageError as why:
        cause = f"{why}, and there is nothing to fit a model to"
        raise InputError(cause, path=source, fix=f"export {EXPORT}") from None
    try:
        (tasks,) = tasks_of(cells, [[workload]])
    except TooWideError as error:
        fix = "name the whole cluster that the log is of, or leave out its other jobs by --only"
        raise InputError(error.cause, path=error.path, line=error.line, fix=fix) from None
    return tasks


def _verdict(workload: "Workload", present: "Result") -> "Verdict":
    from pointsman.engine.run.logged import as_logged
    from pointsman.report.metrics.calibration.verdict import judge
    from pointsman.report.metrics.groups import group_runs

    logged, group = (group_runs([result])[0] for result in (as_logged(workload, present), present))
    return judge(group, logged)


def _assumed(task: "Task", present: "Result", log: "Workload", slurm_conf: Path | None) -> Iterator[str]:
    """What the model assumes of the present scheduler, and what its configuration says and is not modelled."""
    from pointsman.inputs.messages import counted
    from pointsman.policies.registry import get_policy

    params, jobs = present.info["params"], log.jobs
    if slurm_conf is None:
        weights = ", ".join(f"{name} = {params[name]:g}" for name in params if name.startswith("weight_"))
        yield f"No slurm.conf was given: the fit is of the weights of an example in Slurm's documentation ({weights})."
    else:
        yield from (f"{slurm_conf.name}: {said}." for said in get_policy(task.run.choice.name).notes)
    named = "account" in jobs.columns and jobs["account"].n_unique() > 1
    if params["weight_fair_share"] and not params["shares"] and named:
        yield "All accounts have equal shares (--set 'multifactor.shares={physics: 40}' gives them others)."
    without = jobs["time_limit_s"].null_count()
    if present.info["knowledge"] == "oracle":
        yield "The log has no time limits: the model backfills by true durations, which Slurm lacks."
    elif without:
        yield f"{counted(without, 'job')} without a time limit count as a year long, as in Slurm's backfilling."


def _show(advice: "Advice", format: AdviceFormat) -> None:
    """Print the advice, then one table: what would change, or by what the model does not fit."""
    from pointsman.cli.results import show_table
    from pointsman.cli.screen import Format, show_json
    from pointsman.report.tables.advice import advice_table, fit_table

    if format is AdviceFormat.json:
        show_json(advice.to_dict())
        return
    typer.echo(f"{advice}\n")
    policy = advice.policy
    table = fit_table(advice.verdict) if policy is None else advice_table(advice.comparison, policy)
    if table.rows:
        show_table(table, Format(format))
    _show_list(advice.untold)


def _show_list(sentences: Sequence[str]) -> None:
    typer.echo("\nWhat the fit depends on:")
    for said in sentences:
        typer.echo(f"- {said}")
