"""``pointsman trace``: job logs looked into, converted and generated."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen
from pointsman.cli.fetch import fetch
from pointsman.inputs.messages import counted

if TYPE_CHECKING:
    from pointsman.workload import Workload

app = typer.Typer(no_args_is_help=True, help="Job logs: inspect, convert, generate and fetch them.")

File = Annotated[str, typer.Argument(metavar="FILE", help="Job log in any supported format; '-' is standard input.")]
LogFormat = Annotated[
    str | None, typer.Option("--trace-format", metavar="NAME", help="Format of the log. Default: auto-detected.")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="COLUMN=VALUE",
        help="Keep only jobs with this value in this column. Example: --only vc=cluster04. Repeatable.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="NAME=COLUMN",
        help="Columns of a custom table. Example: --columns submit_s=Submit,gpus=AllocTRES,duration_s=Elapsed.",
    ),
]
KeepColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--keep-columns",
        metavar="NAME",
        help="Columns of the log's own to keep; NAME=COLUMN renames one. Example: --keep-columns deadline_s,tenant=VC.",
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option("--time-unit", metavar="UNIT", help="Unit of times in the log: ms, min or h. Default: seconds."),
]
DateOrder = Annotated[
    str | None,
    typer.Option(
        "--date-order",
        metavar="ORDER",
        help="Order of day and month in dates such as 03/02/2026: dmy or mdy. Default: as the dates of the log tell.",
    ),
]
Steps = Annotated[
    str | None,
    typer.Option(
        "--steps",
        metavar="KIND",
        help="Rows whose ids are those of job steps, such as 801.batch, in a custom table: drop or keep. "
        "Default: report an error.",
    ),
]
Runaways = Annotated[
    str | None,
    typer.Option(
        "--runaways",
        metavar="KIND",
        help="Jobs shown as running at more than twice their time limit: keep or drop. "
        "Default: those beyond ten times their limit are left out.",
    ),
]
Throughputs = Annotated[
    str | None, typer.Option("--throughputs", metavar="FILE", help="Gavel throughput file (JSON) for a Gavel trace.")
]
Printed = Annotated[screen.Format, typer.Option("--format", help="Output format.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]


@app.command()
def info(
    file: File,
    only: Only = None,
    columns: Columns = None,
    keep_columns: KeepColumns = None,
    time_unit: TimeUnit = None,
    date_order: DateOrder = None,
    steps: Steps = None,
    runaways: Runaways = None,
    trace_format: LogFormat = None,
    throughputs: Throughputs = None,
    format: Printed = screen.Format.table,
) -> None:
    """Describe a job log: contents, quality and assumptions."""
    from pointsman.workload.summary import by_status, sizes, summary

    workload = read(
        file, only, columns, trace_format, time_unit=time_unit, date_order=date_order, steps=steps, runaways=runaways,
        throughputs=throughputs, keep_columns=keep_columns,
    )  # fmt: skip
    figures = summary(workload)
    if format is screen.Format.json:
        record = {"provenance": workload.provenance.as_dict(), "quality": workload.quality.as_dict(), **figures}
        screen.show_json(record | {"sizes": sizes(workload), "statuses": by_status(workload)})
        return
    if format is screen.Format.csv:
        _report(workload)
        screen.show([{"figure": name, "value": value} for name, value in figures.items()], format)
        return
    if format is screen.Format.table:
        typer.echo(f"{workload.provenance}\n{workload.quality.render()}\n")
    else:
        _report(workload)
    told = [{"figure": name, "value": value} for name, value in _legible(figures).items()]
    screen.show(told, format, left=("figure",))
    for rows, key in ((sizes(workload), "gpus"), (by_status(workload), "status")):
        if rows:
            typer.echo()
            screen.show([_legible(row) for row in rows], format, left=(key,))


@app.command()
def head(
    file: File,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of jobs.")] = 10,
    only: Only = None,
    columns: Columns = None,
    keep_columns: KeepColumns = None,
    time_unit: TimeUnit = None,
    date_order: DateOrder = None,
    steps: Steps = None,
    runaways: Runaways = None,
    trace_format: LogFormat = None,
    throughputs: Throughputs = None,
    format: Printed = screen.Format.table,
) -> None:
    """Print the first jobs of a log, in order of submission."""
    workload = read(
        file, only, columns, trace_format, time_unit=time_unit, date_order=date_order, steps=steps, runaways=runaways,
        throughputs=throughputs, keep_columns=keep_columns,
    )  # fmt: skip
    jobs = workload.jobs
    told = [name for name in jobs.columns if jobs[name].null_count() < jobs.height]
    texts = [name for name in told if jobs.schema[name] == "String"]
    screen.show(jobs.select(told).head(min(n, jobs.height)).to_dicts(), format, left=texts)


@app.command()
def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Job log in any supported format; '-' is standard input.")
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="Output file: .parquet, or .csv or .swf, also with .gz or .zst; '-' prints CSV."
        ),
    ],
    only: Only = None,
    columns: Columns = None,
    keep_columns: KeepColumns = None,
    time_unit: TimeUnit = None,
    date_order: DateOrder = None,
    steps: Steps = None,
    runaways: Runaways = None,
    trace_format: LogFormat = None,
    throughputs: Throughputs = None,
    force: Force = False,
) -> None:
    """Convert a job log of any format that 'pointsman trace formats' lists to Parquet, CSV or SWF."""
    from pointsman.workload import write_workload
    from pointsman.workload.writers.write import check_target

    check_target(target, force=force)
    workload = read(
        source, only, columns, trace_format, time_unit=time_unit, date_order=date_order, steps=steps, runaways=runaways,
        throughputs=throughputs, keep_columns=keep_columns,
    )  # fmt: skip
    write_workload(workload, target)
    _report(workload)
    _tell_written(workload, target)


@app.command()
def generate(
    like: Annotated[
        str,
        typer.Option(
            "--like", help="Workload to imitate: philly, itp, helios, topdrl, dl2-1-8, … or a workload profile (YAML)."
        ),
    ],
    jobs: Annotated[int, typer.Option("--jobs", min=2, max=100_000_000, help="Number of jobs.")],
    cluster: Annotated[str, typer.Option("--cluster", help="Cluster that the load refers to.")],
    output: Annotated[str, typer.Option("-o", "--output", help="Output file: .parquet, .csv or .swf; '-' prints CSV.")],
    load: Annotated[
        float | None,
        typer.Option(
            "--load", help="Offered load, GPU-hours requested per GPU-hour available. Default: that of the real trace."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed.")] = 0,
    force: Force = False,
) -> None:
    """Generate a synthetic workload that resembles a real one."""
    from pointsman.cluster import load_cluster
    from pointsman.workload import generate as make
    from pointsman.workload import write_workload
    from pointsman.workload.writers.write import check_target

    check_target(output, force=force)
    workload = make(like, jobs=jobs, cluster_gpus=load_cluster(cluster).gpus, load=load, seed=seed)
    write_workload(workload, output)
    _report(workload)
    _tell_written(workload, output)


@app.command()
def formats(format: Printed = screen.Format.table) -> None:
    """List the supported formats of job logs. All of them are read."""
    from pointsman.workload.readers.formats import formats as known
    from pointsman.workload.writers.write import ENDINGS

    rows: list[dict[str, Any]] = [
        {
            "name": form.name,
            "format": form.title,
            "written": "yes" if f".{form.name}" in ENDINGS else "no",
            "options": ", ".join(sorted(form.options)),
        }
        for form in known().values()
    ]
    screen.show(rows, format, left=("name", "format", "written", "options"))


app.command()(fetch)


def read(
    file: str,
    only: list[str] | None,
    columns: list[str] | None,
    trace_format: str | None,
    keep_columns: list[str] | None = None,
    **options: str | None,
) -> "Workload":
    """The jobs of a log by the options that all commands on logs have."""
    from pointsman.cli.results import command_line
    from pointsman.workload import read_workload
    from pointsman.workload.readers.named_columns import parse_columns
    from pointsman.workload.readers.read import filters

    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    mapped = parse_columns(columns) if columns else None
    return read_workload(
        file, format=trace_format, only=filters(only or []), columns=mapped, keep_columns=_split(keep_columns or []),
        command=command_line(), **given,
    )  # fmt: skip


def _split(texts: list[str]) -> list[str]:
    return [part for text in texts for part in text.split(",")]


def _report(workload: "Workload") -> None:
    screen.note(str(workload.provenance))
    screen.note(workload.quality.render())


def _legible(figures: dict[str, Any]) -> dict[str, Any]:
    """Times in the unit that suits them, which their names then need not say; shares in per cent."""
    from pointsman.report.units import duration, percent

    told = {}
    for name, value in figures.items():
        if name.endswith("_s"):
            told[name.removesuffix("_s")] = duration(value)
        else:
            told[name] = percent(value) if name.endswith("_share") else value
    return told


def _tell_written(workload: "Workload", target: str) -> None:
    screen.note(f"wrote {counted(workload.jobs.height, 'job')} to {'standard output' if target == '-' else target}")
