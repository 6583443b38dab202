"""``python -m benchmarks sharing [PART ...] [--record]``: prints the tables, or writes them into the page.

Parts: paper, variations, traces, large, models, constants, accumulation, speed; by default all.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.blocks import fill
from benchmarks.network.jobs import HELIOS, available
from benchmarks.network.runs import Measured, as_json
from benchmarks.sharing.accumulation import accumulation
from benchmarks.sharing.cells import FIGURES
from benchmarks.sharing.constants import constants
from benchmarks.sharing.paper import paper, variations
from benchmarks.sharing.pollux_mix import FILE
from benchmarks.sharing.scope import Scope
from benchmarks.sharing.speed import speed
from benchmarks.sharing.traces import large, models, traces
from pointsman.errors import PointsmanError, UsageError

PARTS = {
    "paper": paper, "variations": variations, "traces": traces, "large": large, "models": models,
    "constants": constants, "accumulation": accumulation, "speed": speed,
}  # fmt: skip
"""What makes the tables of each part."""

PAGE = Path("docs/results/sharing.md")


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sharing", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], default=[], help="by default all")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ and samples/ are")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--record", action="store_true", help="write the tables into the page, all means beside it")
    parser.add_argument("--quick", action="store_true", help="a little of everything, to see that it works")
    options = parser.parse_args(arguments)
    try:
        _run(options)
    except PointsmanError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _run(options: argparse.Namespace) -> None:
    if not (options.data / FILE).is_file():
        print(f"sharing: skipped, for {options.data / FILE} is not there")
        return
    logs, missing = available(options.data)
    if missing:
        print(f"sharing: {missing}", file=sys.stderr)
    if options.record and (missing or options.quick):
        raise UsageError("--record writes the page, which needs all the logs and all the runs")
    scope = Scope(tuple(name for name in logs if name != HELIOS), options.data, options.quick)
    for part in options.part or PARTS:
        began = time.monotonic()
        tables, found = PARTS[part](scope)
        print(f"{part}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        if options.record:
            fill(options.page, tables, partly=True)
            _keep(options.page.with_suffix(".json"), found)
        else:
            print("\n".join(f"## {name}\n\n{table}" for name, table in tables.items()))


def _keep(path: Path, found: Sequence[Measured]) -> None:
    means = json.loads(path.read_text(encoding="utf-8"))["means"] if path.exists() else {}
    for one in found:
        for cell, of_cell in as_json([one], FIGURES).items():
            means[cell] = means.get(cell, {}) | of_cell
    text = json.dumps({"figures": FIGURES, "means": means}, separators=(",", ":"))
    path.write_text(text.replace("]},", "]},\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
