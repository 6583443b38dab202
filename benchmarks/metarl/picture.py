"""``python -m benchmarks.metarl.picture [TABLE] [-o FILE]``: the picture of Meta-RL placement's page."""

import argparse
from pathlib import Path
from typing import Final

import matplotlib as mpl
import polars as pl

from benchmarks.marl.picture import Looks, draw
from benchmarks.marl.runs import BOUND
from benchmarks.metarl.__main__ import FROZEN, ITSELF
from benchmarks.metarl.contestants import CEILING

NOTHING: Final = "metarl, nothing meta-learnt"
LOOKS: Final[Looks] = {
    BOUND: ("|", "black", "bound: no job waits or is slowed"),
    "packed": ("s", "tab:gray", "packed"),
    "packed-patience": ("x", "tab:green", "packed, with patience"),
    CEILING: ("o", "tab:blue", "scorer that knows the truth"),
    FROZEN: ("v", "tab:purple", "metarl, frozen"),
    NOTHING: ("+", "tab:olive", "metarl, nothing meta-learnt"),
    ITSELF: ("D", "tab:orange", "metarl"),
}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path, nargs="?", default=Path("docs/results/data/metarl.csv"))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/metarl.svg"))
    given = parser.parse_args()
    mpl.rcParams["svg.hashsalt"] = "metarl"
    dotted = "20 %; the paper claims 12 to 22 %"
    figure = draw(pl.read_csv(given.table), LOOKS, "to true model", (ITSELF, FROZEN, NOTHING), dotted)
    figure.savefig(given.output, metadata={"Date": None})


if __name__ == "__main__":
    main()
