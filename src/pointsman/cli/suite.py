"""``pointsman suite``: the frozen benchmark."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen
from pointsman.cli.options import OUTPUT, AtOnce, Force, On, OutputFolder, Printed

app = typer.Typer(no_args_is_help=True, help="Suite v1: a benchmark with fixed workloads, clusters, loads and seeds.")

if TYPE_CHECKING:
    from pointsman.report.comparison import Comparison
    from pointsman.suite.definition import Cell, Suite


@app.command()
def run(
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            default_factory=list,
            show_default=False,
            help="Policy to measure; the first is the baseline. Default: the suite's own policies. Repeatable.",
        ),
    ],
    only: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE",
            default_factory=list,
            show_default=False,
            help="Part to measure: workload=philly, load=0.85 or seed=0,1. Repeatable. Default: all.",
        ),
    ],
    output: OutputFolder = None,
    at_once: AtOnce = None,
    on: On = "local",
    force: Force = False,
    format: Printed = screen.Format.table,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the runs without running them.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Measure policies on suite v1."""
    from pointsman.cli.compiled import prepare_code
    from pointsman.cli.replay import say_what_is_kept
    from pointsman.parallel.pool import workers
    from pointsman.policies.registry import get_policy
    from pointsman.report.staging import refuse_taken
    from pointsman.report.tables.tables import INFORMATION
    from pointsman.report.units import NOTHING
    from pointsman.suite.definition import suite_v1
    from pointsman.suite.measure import cell_digest, measure
    from pointsman.sweeps.kept import forget, results_for, values_for

    suite = suite_v1().part(only)
    policies = policy or list(suite.spec.policies)
    for name in policies:
        asked = get_policy(name, imports=not dry_run)
        if not dry_run:
            asked.make()  # refuses one that cannot be made before the others run
    if output:
        refuse_taken(output, force=force)
    if dry_run:
        whole = format.is_data
        left = ("workload", "cluster", "counted", "seeds", "policies", "sha256")
        screen.show(_plan(suite, policies, 64 if whole else 8), format, left=left)
        return
    if on == "local":
        prepare_code(policies)
    found: list[dict[str, Any]] = []
    cells, results, tables = list(suite.cells()), results_for(output), values_for(output)
    with say_what_is_kept(output), workers(on, at_once) as some, screen.progress(f"suite {suite.metadata.name}") as bar:
        for done, cell in enumerate(cells):
            bar.update(done / len(cells), cell.name)
            name = cell_digest(cell, policies)
            if not tables.has(name):
                tables.add(name, _cell_rows(cell, measure(cell, policies, some, results)))
                results.clear()
            found.append(tables.take(name))
        bar.update(1.0)
    rows = [row for cell in found for row in cell["rows"]]
    if output:
        _keep(output, force, rows, only)
        forget(output)
    if format.is_data:
        screen.show(rows, format)
        return
    told = [row for cell in found for row in cell["told"]]
    columns = dict.fromkeys(column for row in told for column in row)  # cells without unfinished jobs lack theirs
    told = [{column: row.get(column, NOTHING) for column in columns} for row in told]
    screen.show(told, format, left=("workload", "policy", *INFORMATION))
    typer.echo(f"\n{found[-1]['note']}")


@app.command()
def digests() -> None:
    """Print the digest of each workload that this machine generates."""
    from pointsman.suite.definition import digests as computed
    from pointsman.suite.definition import suite_v1

    for name, sha256 in computed(suite_v1()):
        typer.echo(f"{sha256}  {name}")


def _keep(output: Path, force: bool, rows: list[dict[str, Any]], only: list[str]) -> None:
    import json

    import polars as pl

    from pointsman.cli.results import command_line
    from pointsman.report.manifest import write_manifest
    from pointsman.report.staging import whole_directory
    from pointsman.suite.definition import frozen_digests

    with whole_directory(output, force=force) as partial:
        write_manifest(partial, "suite", [], command_line(), suite="v1", only=only, workloads=frozen_digests())
        (partial / "suite.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        pl.DataFrame(rows, infer_schema_length=None).write_csv(partial / "suite.csv")
    screen.note(f"suite: {output}/suite.csv")


def _cell_rows(cell: "Cell", comparison: "Comparison") -> dict[str, Any]:
    """What is said of a cell, as plain data: rows of results, rows for the screen, and a note under these."""
    from pointsman.report.tables.tables import comparison_table
    from pointsman.suite.measure import table

    shown = comparison_table(comparison)
    told = [_screen_row(cell, shown.columns, row) for row in shown.rows]
    return {"rows": list(table(cell, comparison)), "told": told, "note": shown.note}


def _screen_row(cell: "Cell", columns: tuple[str, ...], row: tuple[str, ...]) -> dict[str, Any]:
    return {"workload": cell.workload.like, "load": f"{cell.load:g}", **dict(zip(columns, row, strict=True))}


def _plan(suite: "Suite", policies: list[str], digits: int) -> list[dict[str, Any]]:
    """What would be run; `digits` of the digest of the jobs of each seed."""
    from pointsman.suite.definition import frozen_digests
    from pointsman.suite.measure import entries

    sha256 = frozen_digests()
    counted = f"submitted after {suite.spec.warmup_ratio:.0%} of the span"
    runs = entries(policies, suite.spec.errors, imports=False)
    return [
        {
            "workload": cell.workload.like,
            "load": cell.load,
            "cluster": cell.workload.cluster,
            "jobs": cell.workload.jobs,
            "counted": counted,
            "seeds": " ".join(map(str, suite.spec.seeds)),
            "policies": " ".join(policies),
            "runs": len(runs) * len(suite.spec.seeds),
            "sha256": " ".join(sha256[f"{cell.name}, seed {seed}"][:digits] for seed in suite.spec.seeds),
        }
        for cell in suite.cells()
    ]
