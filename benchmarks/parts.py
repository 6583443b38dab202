"""Pages whose tables are made in parts: the options that all have, and where the tables go."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.blocks import fill
from pointsman.errors import PointsmanError, UsageError

Part = Callable[[Any], tuple[Mapping[str, str], Any]]
"""From a scope to its tables and what was measured for them."""


def options_of(name: str, about: str, parts: Mapping[str, Part], page: Path, data: str, arguments: Any) -> Any:
    """The options of `python -m benchmarks NAME`; `data` says what must be in the folder of data."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=about)
    parser.add_argument("part", nargs="*", choices=[*parts, []], default=[], help="by default all")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help=data)
    parser.add_argument("--page", type=Path, default=page)
    parser.add_argument("--record", action="store_true", help="write the tables into the page, all means beside it")
    parser.add_argument("--quick", action="store_true", help="a little of everything, to see that it works")
    return parser.parse_args(arguments)


def exit_code(run: Callable[[argparse.Namespace], None], options: argparse.Namespace) -> int:
    """0, or what an error says."""
    try:
        run(options)
    except PointsmanError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def check_complete(name: str, missing: str, options: argparse.Namespace) -> None:
    """Tell what is `missing` of the logs.

    Raises:
        UsageError: the page is to be written from less than all.
    """
    if missing:
        print(f"{name}: {missing}", file=sys.stderr)
    if options.record and (missing or options.quick):
        raise UsageError("--record writes the page, which needs all the logs and all the runs")


def run_parts(
    parts: Mapping[str, Part], scope: Any, options: argparse.Namespace, keep: Callable[[Path, Any], None]
) -> None:
    """Make the tables of the parts asked for; print them, or fill the page with them and `keep` what was measured."""
    for part in options.part or parts:
        began = time.monotonic()
        tables, found = parts[part](scope)
        print(f"{part}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        if options.record:
            fill(options.page, tables, partly=True)
            keep(options.page.with_suffix(".json"), found)
        else:
            print("\n".join(f"## {name}\n\n{table}" for name, table in tables.items()))
