"""``python -m benchmarks.gittins [--data DIR] [--into DIR] [--seeds N ...]``: the runs behind
`docs/results/gittins.md`.

Runs are kept in DIR/runs.jsonl, and go on there.
"""

import argparse
from pathlib import Path

from benchmarks.gittins.runs import complete


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gittins", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    parser.add_argument("--into", type=Path, default=Path("out/gittins"))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3, 4], help="of the suite; logs have one")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], help="workloads; default: all")
    given = parser.parse_args()
    complete(given.into / "runs.jsonl", given.data / "traces", given.seeds, given.workers, given.only)


if __name__ == "__main__":
    main()
