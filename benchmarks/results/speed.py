"""``python -m benchmarks.results.speed PAGE``: jobs a second of the runs that a page calls `SPEEDS`.

Medians of five runs after one that compiles; reading and set-up of the run are not counted.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final

import polars as pl

from benchmarks.results.contestant import Contestant, Setting, simulated
from benchmarks.results.trials import DATA, page_of

RUNS: Final = 5


def speeds(who: Contestant, setting: Setting, seed: int) -> list[float]:
    """Jobs a second of each run."""
    results = [simulated(who, setting, seed) for _ in range(RUNS + 1)]
    return [result.jobs.height / result.info["engine_s"] for result in results[1:]]


def rows(page: Any, data: Path) -> Iterator[dict[str, Any]]:
    """A row for each cell and policy."""
    for trial in page.SPEEDS:
        setting = page.setting(trial.cell, trial.seed, data)
        for who in trial.contestants:
            of = speeds(who, replace(setting, log=False), trial.seed)
            found = {"median": round(median(of)), "least": round(min(of)), "most": round(max(of))}
            yield {**vars(trial.cell), "policy": who.label, "runs": RUNS, **found}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results.speed", description=__doc__)
    parser.add_argument("page")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    given = parser.parse_args()
    pl.DataFrame(list(rows(page_of(given.page), given.data))).write_csv(DATA / f"{given.page}-speed.csv")


if __name__ == "__main__":
    main()
