"""MARL beside placers that learn nothing, on three topologies, and on cells that differ in one thing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.marl.cells import ABLATED, CLAIM, EIGHT, SEEDS, VARIED, Cell
from benchmarks.marl.contestants import DIVIDED, MARL, SINGLE, ablations, everybody
from benchmarks.marl.sentences import BLOCKS as BLOCKS
from benchmarks.marl.sentences import CLAIMED
from benchmarks.placement import cell as placement
from benchmarks.placement.means import BOUND, Means
from benchmarks.placement.picture import Picture
from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.figures import Figures
from benchmarks.results.trials import Trial

LOOKS: Final = {
    BOUND: ("|", "black", "bound: no job waits or is slowed"),
    "packed": ("s", "tab:gray", "packed"),
    "fifo-backfill": ("x", "tab:green", "fifo-backfill"),
    "sjf-backfill": ("+", "tab:olive", "sjf-backfill"),
    DIVIDED: ("o", "tab:blue", "scorer, P schedulers"),
    SINGLE: ("v", "tab:purple", "single agent"),
    MARL: ("D", "tab:orange", "MARL, P schedulers"),
}
PICTURE: Final = Picture(LOOKS, (MARL, SINGLE), DIVIDED, "scorer with P schedulers", CLAIMED)


def trials(data: Path) -> Iterator[Trial]:
    """Ten workloads a cell; ablations where they are measured."""
    for cell in (*CLAIM, *VARIED, *EIGHT):
        also = ablations(cell) if cell in (*ABLATED, *EIGHT) else ()
        yield from (Trial(cell, seed, (*everybody(cell), *also)) for seed in SEEDS)


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """Jobs that no training used, under the true interference."""
    cluster, servers = placement.loaded(cell)
    return placement.setting(cell.workload(servers, seed, data), cluster)


def is_slow(who: Contestant) -> bool:
    """No run takes more than some ten seconds."""
    return False


def draw(figures: Figures, path: Path) -> None:
    """The picture."""
    PICTURE.draw(Means(figures, Cell), path)
