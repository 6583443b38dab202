"""``pointsman live report`` and ``pointsman live decisions``: what a daemon has found that observes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pointsman.cli import screen
from pointsman.cli.advise import AdviceFormat
from pointsman.cli.cluster import ListFormat

if TYPE_CHECKING:
    from pointsman.live.client.show import Column
    from pointsman.live.report.findings import Findings

SHOWN: Final = 5
"""Differences that are printed; the page has more, and JSON has all."""

_State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="DIR",
        help="Directory of the daemon's database. Default: that of the daemon that answers, or answered last.",
        show_default=False,
    ),
]


def report(
    state: _State = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PAGE.html", help="Output file of the page.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page if it exists.")] = False,
    format: Annotated[AdviceFormat, typer.Option("--format", help="Output format.")] = AdviceFormat.table,
) -> None:
    """Report what an observing daemon has found: agreement, worth, predicted starts and cost."""
    from pointsman.cli.results import command_line, printed_first
    from pointsman.inputs.output_path import check_output_file, write_whole

    if output is not None:
        check_output_file(output, force=force)
    found = _read(state)
    with printed_first() as printing:
        printing(_show, format)(found)  # ty: ignore
        if output is not None:
            from pointsman.live.report.page import page

            write_whole(output, page(found, command_line()))
            screen.note(f"report: {output}")


def decisions(
    state: _State = None,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, help="Number of decisions that are listed, the last ones.")
    ] = 20,
    differ: Annotated[
        bool, typer.Option("--differ", help="List only decisions that the policy would not have made.")
    ] = False,
    format: Annotated[ListFormat, typer.Option("--format", help="Output format.")] = ListFormat.table,
) -> None:
    """List decisions of the observed scheduler and what the policy would have done, the newest last."""
    from pointsman.live.client.show import show
    from pointsman.live.report.as_data import decision_data

    found = _read(state)
    some = [one for one in found.decisions if not (differ and one.agrees)]
    show([decision_data(found, one) for one in some[-last:]], _columns(), format.value)


def _columns() -> "Sequence[Column]":
    from pointsman.live.client.show import date

    return (
        ("TIME", lambda row: date(row["at_s"])),
        ("JOBID", lambda row: row["job_id"]),
        ("GPUS", lambda row: "" if row["gpus"] is None else str(row["gpus"])),
        ("USER", lambda row: row["user"]),
        ("AGREES", lambda row: "yes" if row["agrees"] else "no"),
        ("DECISION", lambda row: row["said"]),
    )


def _read(state: Path | None) -> "Findings":
    from pointsman.live.client.connection import known_folder
    from pointsman.live.report.reading import read_findings

    return read_findings((state or known_folder()) / "store")


def _show(found: "Findings", format: AdviceFormat) -> None:
    """Print a paragraph, then what differs most, and agreement by GPUs."""
    from pointsman.cli.results import show_table
    from pointsman.live.report.as_data import findings_data
    from pointsman.live.report.tables import bucket_table, differences_table
    from pointsman.live.report.words import lead

    if format is AdviceFormat.json:
        screen.show_json(findings_data(found))
        return
    typer.echo(lead(found))
    for table in (differences_table(found, SHOWN), bucket_table(found)):
        if table.rows:
            typer.echo()
            show_table(table, screen.Format(format))
