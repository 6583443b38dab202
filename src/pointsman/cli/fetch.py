"""``pointsman trace fetch``: public job logs by name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli import screen

if TYPE_CHECKING:
    from pointsman.workload.public.catalogue import PublicTrace


def fetch(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name of the log. Default: list all.")] = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Download directory. Default: the user's cache.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Download the log again.")] = False,
) -> None:
    """Download a public job log from its publisher and print its path."""
    from pointsman.workload.public.catalogue import PUBLIC
    from pointsman.workload.public.fetch import fetch as fetch_trace

    if name is None:
        _list()
        return
    trace = _find_public(name)
    folder = (_cache() if to is None else to) / trace.name
    first_time = not trace.sha256
    with screen.progress(f"fetch {name}") as progress:
        record, is_new = fetch_trace(trace, folder, lambda share: progress.update(share), force=force)
    for file in record["files"]:
        typer.echo(str(folder / file))
    screen.note(f"{PUBLIC[name].title}: {trace.licence}; cite {trace.cite}; from {trace.url}")
    if is_new:
        recorded = "recorded now, because no digest of it is known here" if first_time else "as expected"
        screen.note(f"{record['bytes']:,} bytes, SHA-256 {record['sha256']} ({recorded})")


def _find_public(name: str) -> "PublicTrace":
    from pointsman.errors import UsageError
    from pointsman.inputs.did_you_mean import did_you_mean
    from pointsman.workload.public.catalogue import PUBLIC

    if name not in PUBLIC:
        raise UsageError(f"no public log is called {name!r:.60} ({did_you_mean(name, PUBLIC)})")
    return PUBLIC[name]


def _list() -> None:
    from pointsman.workload.public.catalogue import PUBLIC

    rows: list[dict[str, Any]] = [
        {"name": one.name, "log": one.title, "licence": one.licence, "cite": one.cite} for one in PUBLIC.values()
    ]
    screen.show(rows, screen.Format.table, left=("name", "log", "licence", "cite"))


def _cache() -> Path:
    from pointsman.cache_folder import find_place

    return find_place("traces").folder
