"""MARL beside placers that learn nothing, on three topologies, and on cells that differ in one thing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.marl.cells import CLAIM, EIGHT, FEW, ON_FAT_TREE, SEEDS, VARIED, Cell
from benchmarks.marl.contestants import ACTORS, FIFO, MARL, MARL_FIFO, PACKED, SCORER, SCORER_FIFO, SJF, contestants
from benchmarks.marl.sentences import BLOCKS as BLOCKS
from benchmarks.marl.sentences import CLAIMED, OF_PARTS
from benchmarks.placement import cell as placement
from benchmarks.placement.means import BOUND, Means
from benchmarks.placement.picture import Picture
from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.figures import Figures
from benchmarks.results.trials import Trial

BESIDE: Final = {"marl-parts": OF_PARTS}
LOOKS: Final = {
    BOUND: ("|", "black", "bound: no job waits or is slowed"),
    PACKED: ("s", "tab:gray", "packed"),
    FIFO: ("x", "tab:green", "fifo-backfill"),
    SJF: ("+", "tab:olive", "sjf-backfill"),
    SCORER_FIFO: ("^", "tab:cyan", "scorer, fifo"),
    SCORER: ("o", "tab:blue", "scorer, sjf"),
    MARL_FIFO: ("v", "tab:pink", "MARL, fifo"),
    MARL: ("D", "tab:orange", "MARL, sjf"),
    ACTORS: ("*", "tab:red", "actor-critic, sjf"),
}
PICTURE: Final = Picture(LOOKS, (SJF, MARL, ACTORS), SCORER, "scorer, sjf", CLAIMED)


def trials(data: Path) -> Iterator[Trial]:
    """Three workloads a cell on the fat tree; two where one thing differs."""
    for cell in (*CLAIM, *VARIED, *EIGHT):
        seeds = SEEDS if cell in ON_FAT_TREE else SEEDS[:FEW]
        yield from (Trial(cell, seed, contestants(cell)) for seed in seeds)


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
