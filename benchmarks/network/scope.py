"""How much is run: the whole page, or a little of it to see that all works."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.network.cells import SEEDS, Cell

CONGESTIONS = (1.0, 4.0, 16.0)


@dataclass(frozen=True)
class Scope:
    """Sizes, loads and seeds; the tables of one size and one load are of `gpus` and `load`."""

    workloads: tuple[str, ...]
    data: Path
    sizes: tuple[int, ...] = (64, 128, 256, 512)
    loads: tuple[float, ...] = (0.6, 0.8, 1.0, 1.2)
    seeds: tuple[int, ...] = SEEDS
    gpus: int = 256
    load: float = 1.0
    doubling_seeds: int = 20
    """Of the one experiment that follows single days, which are few jobs each."""

    def over_loads(self) -> list[Cell]:
        """Every load, in the middle size."""
        return self._cells([(self.gpus, load) for load in self.loads])

    def over_sizes(self) -> list[Cell]:
        """Every size, at the load of most tables."""
        return self._cells([(gpus, self.load) for gpus in self.sizes])

    def crossed(self) -> list[Cell]:
        """Every load in every size."""
        return self._cells([(gpus, load) for gpus in self.sizes for load in self.loads])

    def batches(self) -> list[Cell]:
        """Every size, all jobs at once."""
        return self._cells([(gpus, None) for gpus in self.sizes])

    def _cells(self, pairs: list[tuple[int, float | None]]) -> list[Cell]:
        return [
            Cell(name, gpus, congestion, load)
            for name in self.workloads
            for congestion in CONGESTIONS
            for gpus, load in pairs
        ]


def quick(workloads: tuple[str, ...], data: Path) -> Scope:
    """A scope of seconds."""
    return Scope(workloads, data, sizes=(64,), loads=(1.0,), seeds=(0, 1), gpus=64, doubling_seeds=2)
