"""``pointsman suite``: the frozen benchmark."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pointsman.cli import screen

app = typer.Typer(
    no_args_is_help=True, help="Suite v1: frozen workloads, clusters, loads and seeds to measure policies on."
)

SHOWN = ("workload", "load", "policy", "knowledge")


@app.command()
def run(
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            default_factory=list,
            show_default=False,
            help="Policies to measure, the first as baseline; the suite's own by default. Repeat it.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Keep the table here, as CSV and JSON.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Run so many at a time.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace DIR if it exists.")] = False,
    format: Annotated[screen.Format, typer.Option(help="How to print the table.")] = screen.Format.table,
) -> None:
    """Measure policies on suite v1."""
    from pointsman.cli.compiled import announce
    from pointsman.policies.registry import get_policy
    from pointsman.report.staging import refuse_taken
    from pointsman.suite.definition import suite_v1
    from pointsman.suite.measure import measure, table

    suite = suite_v1()
    policies = policy or list(suite.spec.policies)
    for name in policies:
        get_policy(name)
    if output:
        refuse_taken(output, force=force)
    announce(policies)
    cells, rows = list(suite.cells()), []
    with screen.progress(f"suite {suite.metadata.name}") as progress:
        for done, cell in enumerate(cells):
            progress.update(done / len(cells), cell.name)
            rows += table(cell, measure(cell, policies, workers))
        progress.update(1.0)
    if output:
        _keep(output, force, rows)
    screen.show(rows if format is not screen.Format.table else [_told(row) for row in rows], format, left=SHOWN)


@app.command()
def digests() -> None:
    """Print the digest of each workload as this machine generates it."""
    from pointsman.suite.definition import digests as computed
    from pointsman.suite.definition import suite_v1

    for name, sha256 in computed(suite_v1()):
        typer.echo(f"{sha256}  {name}")


def _keep(output: Path, force: bool, rows: list[dict[str, Any]]) -> None:
    import json

    import polars as pl

    from pointsman.cli.results import command_line
    from pointsman.report.manifest import write_manifest
    from pointsman.report.staging import whole_directory
    from pointsman.suite.definition import frozen_digests

    with whole_directory(output, force=force) as partial:
        write_manifest(partial, "suite", [], command_line(), suite="v1", workloads=frozen_digests())
        (partial / "suite.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        pl.DataFrame(rows, infer_schema_length=None).write_csv(partial / "suite.csv")
    screen.note(f"suite: {output}/suite.csv")


def _told(row: dict[str, Any]) -> dict[str, Any]:
    from pointsman.report.units import duration, percent

    low, high = row["jct_mean_change_low"], row["jct_mean_change_high"]
    return {
        **{name: row[name] for name in SHOWN},
        "JCT mean": duration(row["jct_mean_s"]),
        "change": percent(row["jct_mean_change"], signed=True),
        "95 % interval": "" if low is None else f"{percent(low, signed=True)} to {percent(high, signed=True)}",
        "above bound": percent(row["jct_above_bound_ratio"]),
        "p99": duration(row["jct_p99_s"]),
        "wait mean": duration(row["wait_mean_s"]),
        "allocated": percent(row["window_allocated_ratio"]),
    }
