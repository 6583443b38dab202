"""``pointsman verify``: whether what a kept run says can have happened, and follows from its own events."""

from pathlib import Path
from typing import Annotated

import typer

SHOWN = 10
"""Faults that are printed of a run."""


def verify(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a run, comparison or grid.")],
) -> None:
    """Check a run directory: digests, and tables and metrics against events. The exit code is 3 on a fault."""
    from pointsman.errors import InputError, UsageError

    places = _runs_in(run)
    if not places:
        raise UsageError(f"{run}: this is a comparison without its runs; name the directory of a run")
    for place in places:
        found = _faults(place)
        if found:
            for fault in found[:SHOWN]:
                typer.echo(f"{place}: {fault}")
            shown = f", of which {SHOWN} are shown" if len(found) > SHOWN else ""
            what = "fault" if len(found) == 1 else "faults"
            raise InputError(f"{len(found):,} {what}{shown}", path=place, fix="run again")
        typer.echo(f"{place}: verified")


def _runs_in(place: Path) -> list[Path]:
    from pointsman.report.manifest import read_manifest

    manifest = read_manifest(place, "run", "comparison", "grid")
    if manifest["kind"] == "run":
        return [place]
    if manifest["kind"] == "grid":
        return [run for name in manifest["cells"] for run in _runs_in(place / "cells" / name)]
    return [place / "runs" / name for name in manifest["runs"]]


def _faults(place: Path) -> list[str]:
    import json

    from pointsman.errors import InputError
    from pointsman.report import read_run
    from pointsman.report.verification import faults

    result = read_run(place)
    try:
        summary = json.loads((place / "summary.json").read_text(encoding="utf-8"))
        if not isinstance(summary, dict):
            raise ValueError("no object of names and figures")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read: {error}", path=place / "summary.json", fix="run again") from None
    return faults(result, summary)
