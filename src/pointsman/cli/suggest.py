"""``pointsman cluster suggest``: a first cluster file for a job log."""

from pathlib import Path
from typing import Annotated

import typer

from pointsman.cli.trace import Columns, DateOrder, Only, Runaways, Steps, Throughputs, TimeUnit, read


def suggest(
    log: Annotated[str, typer.Argument(metavar="LOG", help="Job log in any supported format; '-' is standard input.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Cluster file to write; '-' prints it.")],
    only: Only = None,
    columns: Columns = None,
    time_unit: TimeUnit = None,
    date_order: DateOrder = None,
    steps: Steps = None,
    runaways: Runaways = None,
    trace_format: Annotated[
        str | None, typer.Option("--trace-format", metavar="NAME", help="Format of the log. Default: auto-detected.")
    ] = None,
    throughputs: Throughputs = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
) -> None:
    """Suggest a cluster file for a job log, with its assumptions in comments."""
    from pointsman.cli import screen
    from pointsman.cluster.imports.job_log import commented
    from pointsman.cluster.imports.job_log import suggest as suggested_for
    from pointsman.inputs.output_path import write_new

    workload = read(
        log, only, columns, trace_format, time_unit=time_unit, date_order=date_order, steps=steps, runaways=runaways,
        throughputs=throughputs,
    )  # fmt: skip
    found = suggested_for(workload.jobs, "suggested" if log == "-" else Path(log).name.partition(".")[0] or "suggested")
    text = commented(found)
    if str(output) == "-":
        typer.echo(text, nl=False)
    else:
        write_new(output, text, force=force)
    screen.note(f"{output}: {found.cluster.size}; read its comments before you rely on it")
