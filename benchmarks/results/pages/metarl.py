"""Meta-RL placement beside placers that measure nothing, in known regimes, after changes, and on two logs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.metarl.cells import BASE, CHANGED, SEEDS, SHORT, VARIED, Cell
from benchmarks.metarl.contestants import ALWAYS, CEILING, FROZEN, ITSELF, NETWORK, PACKED, SJF, contestants
from benchmarks.metarl.sentences import BASELINES, OF_PARTS
from benchmarks.metarl.sentences import BLOCKS as BLOCKS
from benchmarks.placement import cell as placement
from benchmarks.placement.means import BOUND, Means
from benchmarks.placement.picture import Picture
from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.figures import Figures
from benchmarks.results.trials import Trial

BESIDE: Final = {"metarl-parts": OF_PARTS}
LOOKS: Final = {
    BOUND: ("|", "black", "bound: no job waits or is slowed"),
    PACKED: ("s", "tab:gray", "packed"),
    SJF: ("x", "tab:green", "sjf-backfill"),
    CEILING: ("o", "tab:blue", "scorer, true model"),
    FROZEN: ("v", "tab:purple", "metarl, frozen"),
    ALWAYS: ("+", "tab:olive", "metarl, network always"),
    ITSELF: ("D", "tab:orange", "metarl"),
}
PICTURE: Final = Picture(LOOKS, (ITSELF, ALWAYS, FROZEN), CEILING, "scorer, true model", 12.0)


def trials(data: Path) -> Iterator[Trial]:
    """Three workloads and truths a cell."""
    for cell in (*BASE, *CHANGED, *SHORT, *VARIED):
        yield from (Trial(cell, seed, contestants(cell)) for seed in SEEDS)


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """Jobs and a truth that no training used."""
    cluster, servers = placement.loaded(cell)
    jobs = cell.workload(servers, seed, data)
    return placement.setting(jobs, cluster, cell.warmup(jobs.jobs), **cell.options(seed))


def is_slow(who: Contestant) -> bool:
    """Rehearsals take longer than the run."""
    return "steps" in who.params or who.label.startswith(NETWORK)


def draw(figures: Figures, path: Path) -> None:
    """The picture."""
    PICTURE.draw(Means(figures, Cell, BASELINES), path)
