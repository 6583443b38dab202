"""Meta-RL placement beside placers that measure nothing, in known regimes, after changes, and on two logs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.metarl.cells import BASE, CHANGED, SEEDS, SHORT, VARIED, Cell
from benchmarks.metarl.contestants import CEILING, FROZEN, ITSELF, NOTHING, contestants
from benchmarks.metarl.sentences import BASELINES
from benchmarks.metarl.sentences import BLOCKS as BLOCKS
from benchmarks.placement import cell as placement
from benchmarks.placement.means import BOUND, Means
from benchmarks.placement.picture import Picture
from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.figures import Figures
from benchmarks.results.trials import Trial

LOOKS: Final = {
    BOUND: ("|", "black", "bound: no job waits or is slowed"),
    "packed": ("s", "tab:gray", "packed"),
    "packed-patience": ("x", "tab:green", "packed-patience"),
    CEILING: ("o", "tab:blue", "scorer, true model"),
    FROZEN: ("v", "tab:purple", "metarl, frozen"),
    NOTHING.label: ("+", "tab:olive", "metarl, nothing meta-learnt"),
    ITSELF: ("D", "tab:orange", "metarl"),
}
PICTURE: Final = Picture(LOOKS, (ITSELF, FROZEN, NOTHING.label), CEILING, "scorer, true model", 12.0)


def trials(data: Path) -> Iterator[Trial]:
    """Ten workloads and truths in the base cell, after changes and in short traces; five elsewhere."""
    for cell in (*BASE, *CHANGED, *SHORT, *VARIED):
        found = (Trial(cell, seed, contestants(cell, seed)) for seed in SEEDS)
        yield from (trial for trial in found if trial.contestants)


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """Jobs and a truth that no training used."""
    cluster, servers = placement.loaded(cell)
    jobs = cell.workload(servers, seed, data)
    return placement.setting(jobs, cluster, cell.warmup(jobs.jobs), **cell.options(seed))


def is_slow(who: Contestant) -> bool:
    """Adapting takes minutes a run."""
    return "steps" in who.params


def draw(figures: Figures, path: Path) -> None:
    """The picture."""
    PICTURE.draw(Means(figures, Cell, BASELINES), path)
