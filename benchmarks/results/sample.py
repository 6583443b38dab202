"""``python -m benchmarks.results.sample [PAGE ...] [--seed N]``: runs a sample of published rows again; exits with 1 if
one differs.
"""

import argparse
import math
import sys
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results.__main__ import names, read
from benchmarks.results.contestant import Contestant, run
from benchmarks.results.figures import Figures
from benchmarks.results.trials import DATA, Trial, page_of

SLOW = ("marl", "metarl", "topdrl", "gandiva")
"""Policies that take minutes for a run on most pages are left out there."""
NEED_TORCH = ("marl", "metarl")


def is_quick(name: str, who: Contestant) -> bool:
    """Whether a run of a page takes less than a minute, and can be made here."""
    policy = who.policy.partition(":")[0]
    if policy in NEED_TORCH and not find_spec("torch"):
        return False
    is_slow = getattr(page_of(name), "is_slow", None)
    return not is_slow(who) if is_slow else policy not in SLOW


def differs(kept: Any, found: Any) -> bool:
    """Whether two figures differ beyond the digits that are kept, or a word is none of those kept."""
    if isinstance(kept, float) and isinstance(found, float):
        return not math.isclose(kept, found, rel_tol=1e-3)
    return found not in kept.split("; ") if isinstance(kept, str) and isinstance(found, str) else kept != found


def faults(name: str, trial: Trial, index: int, kept: Figures, data: Path) -> list[str]:
    """What differs in one run of a trial."""
    who = trial.contestants[index]
    rows = kept.runs({**vars(trial.cell), "seed": trial.seed}, who.label)
    if rows.height != 1:
        return [f"{rows.height} rows"]
    found, row = run(who, page_of(name).setting(trial.cell, trial.seed, data), trial.seed), rows.row(0, named=True)
    return [
        f"{key}: {row[key]} kept, {value} now"
        for key, value in found.items()
        if key in row and differs(row[key], value)
    ]


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results.sample", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="default: all")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    parser.add_argument("--seed", type=int, default=date.today().toordinal(), help="default: today's")
    parser.add_argument("--runs", type=int, default=5, help="of each page")
    given = parser.parse_args()
    draw, wrong = np.random.default_rng(given.seed), 0
    for name in given.pages or names():
        trials, kept = list(page_of(name).trials(given.data)), read(DATA / f"{name}.csv")
        quick = [(t, k) for t in trials for k, who in enumerate(t.contestants) if is_quick(name, who)]
        for at in draw.choice(len(quick), min(given.runs, len(quick)), replace=False):
            trial, index = quick[at]
            told = faults(name, trial, index, kept, given.data)
            wrong += bool(told)
            what = f"{name}: {trial.contestants[index].label}, seed {trial.seed}, {vars(trial.cell)}"
            print(f"{what}: {'; '.join(told) or 'as published'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
