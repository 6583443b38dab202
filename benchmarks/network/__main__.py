"""``python -m benchmarks network [PART ...] [--record]``: prints the tables, or writes them into the page.

Parts: dally, crossing, variations, sensitivity, doubling; by default all.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.network.cells import FIGURES
from benchmarks.network.dally import crossed, main_tables, variations
from benchmarks.network.doubling import doubling
from benchmarks.network.jobs import available
from benchmarks.network.runs import Measured, as_json
from benchmarks.network.scope import Scope, quick
from benchmarks.network.sensitivity import sensitivity
from benchmarks.parts import check_complete, exit_code, options_of, run_parts

PARTS = {
    "dally": main_tables, "crossing": crossed, "variations": variations, "sensitivity": sensitivity,
    "doubling": doubling,
}  # fmt: skip
"""What makes the tables of each part."""

PAGE = Path("docs/results/network.md")


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for."""
    options = options_of("network", str(__doc__), PARTS, PAGE, "where traces/ is", arguments)
    return exit_code(_run, options)


def _run(options: argparse.Namespace) -> None:
    workloads, missing = available(options.data)
    check_complete("network", missing, options)
    scope = quick(tuple(workloads), options.data) if options.quick else Scope(tuple(workloads), options.data)
    run_parts(PARTS, scope, options, _keep)


def _keep(path: Path, found: Sequence[Measured]) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))["means"] if path.exists() else {}
    text = json.dumps({"figures": FIGURES, "means": kept | as_json(found)}, separators=(",", ":"))
    path.write_text(text.replace("]},", "]},\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
