"""``python -m benchmarks sharing [PART ...] [--record]``: prints the tables, or writes them into the page.

Parts: paper, variations, traces, large, models, constants, accumulation, speed; by default all.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.network.jobs import HELIOS, available
from benchmarks.network.runs import Measured, as_json
from benchmarks.parts import check_complete, exit_code, options_of, run_parts
from benchmarks.sharing.accumulation import accumulation
from benchmarks.sharing.cells import FIGURES
from benchmarks.sharing.constants import constants
from benchmarks.sharing.paper import paper, variations
from benchmarks.sharing.pollux_mix import FILE
from benchmarks.sharing.scope import Scope
from benchmarks.sharing.speed import speed
from benchmarks.sharing.traces import large, models, traces

PARTS = {
    "paper": paper, "variations": variations, "traces": traces, "large": large, "models": models,
    "constants": constants, "accumulation": accumulation, "speed": speed,
}  # fmt: skip
"""What makes the tables of each part."""

PAGE = Path("docs/results/sharing.md")


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for."""
    options = options_of("sharing", str(__doc__), PARTS, PAGE, "where traces/ and samples/ are", arguments)
    return exit_code(_run, options)


def _run(options: argparse.Namespace) -> None:
    if not (options.data / FILE).is_file():
        print(f"sharing: skipped, for {options.data / FILE} is not there")
        return
    logs, missing = available(options.data)
    check_complete("sharing", missing, options)
    scope = Scope(tuple(name for name in logs if name != HELIOS), options.data, options.quick)
    run_parts(PARTS, scope, options, _keep)


def _keep(path: Path, found: Sequence[Measured]) -> None:
    means = json.loads(path.read_text(encoding="utf-8"))["means"] if path.exists() else {}
    for one in found:
        for cell, of_cell in as_json([one], FIGURES).items():
            means[cell] = means.get(cell, {}) | of_cell
    text = json.dumps({"figures": FIGURES, "means": means}, separators=(",", ":"))
    path.write_text(text.replace("]},", "]},\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
