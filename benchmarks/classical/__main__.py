"""``python -m benchmarks classical [--data DIR] [--page FILE]``: makes the tables of the page anew, leaves its words.

In the page a table stands between ``<!-- table NAME -->`` and ``<!-- end -->``.
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.blocks import fill
from benchmarks.classical.cases import cases
from benchmarks.classical.tables import (
    PLACEMENTS,
    WORKLOADS,
    Measured,
    detail_tables,
    markdown,
    models_table,
    overheads_table,
    overview_columns,
    placement_rows,
    workload_row,
)
from pointsman.errors import PointsmanError


def main(arguments: list[str] | None = None) -> int:
    """Run everything, rewrite the page's tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks classical", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    parser.add_argument("--page", type=Path, default=Path("docs/results/classical.md"))
    options = parser.parse_args(arguments)
    try:
        fill(options.page, _tables(options.data / "traces"))
    except PointsmanError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _tables(traces: Path) -> dict[str, str]:
    tables: dict[str, str] = {}
    rows: list[tuple[str, ...]] = []
    placed: list[tuple[str, ...]] = []
    columns: dict[str, list[str]] = {}
    for case in cases(traces):
        found = [Measured.of(case, load) for load in case.loads]
        rows.append(workload_row(found))
        columns |= overview_columns(found[1])
        placed += placement_rows(found[1])
        tables |= _case_tables(case.name.replace(" ", "-").lower(), found)
        print(f"{case.name}: {time.process_time():.0f} s of CPU so far", file=sys.stderr)
    return {
        "workloads": markdown(WORKLOADS, rows, words=3),
        "overview": markdown(tuple(columns), list(zip(*columns.values(), strict=True)), words=2),
        "placement": markdown(PLACEMENTS, placed, words=2),
        **tables,
    }


def _case_tables(name: str, found: list[Measured]) -> dict[str, str]:
    return {
        name: detail_tables(found),
        f"{name}-models": models_table(found),
        f"{name}-overheads": overheads_table(found),
    }


if __name__ == "__main__":
    sys.exit(main())
