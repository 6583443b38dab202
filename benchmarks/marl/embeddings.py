"""``python -m benchmarks.marl.embeddings``: what decisions take from the graph network.

``docs/results/data/marl-embeddings.csv`` has, of each network, percent of mean JCT, its 99th percentile and the longest
wait above those of the same network where what the graph network says of nodes and schedulers is nothing (zeroed), or
is said of others (shuffled anew at each decision). Interquartile means over five trainings and two workloads.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn

from benchmarks.marl.cells import SEEDS, STUDIED, Cell
from benchmarks.marl.contestants import ACTORS, MARL, everyone
from benchmarks.placement.cell import run
from benchmarks.placement.contestants import given
from benchmarks.placement.means import above, middle
from benchmarks.results.contestant import Contestant
from benchmarks.results.trials import DATA
from pointsman.learn.policies.marl import Marl
from pointsman.parallel.pool import Processes

if TYPE_CHECKING:
    from pointsman.cluster.cluster import Cluster

INTACT, WAYS = "intact", ("zeroed", "shuffled")
FEW: Final = SEEDS[:2]
FIGURES: Final = ("mean", "p99", "longest")


class Spoilt(nn.Module):
    """A graph network of which nothing, or the wrong thing, is heard."""

    def __init__(self, encoder: nn.Module, way: str) -> None:
        super().__init__()
        self.encoder, self.way = encoder, way
        self.generator = torch.Generator().manual_seed(1)

    def forward(self, *seen: Any) -> tuple[Tensor, ...]:
        """Of the nodes (B, M, width) and of the schedulers (B, P, width)."""
        return tuple(self._spoilt(said) for said in self.encoder(*seen))

    def _spoilt(self, said: Tensor) -> Tensor:
        if self.way == "zeroed":
            return torch.zeros_like(said)
        return said[:, torch.randperm(said.shape[1], generator=self.generator)]


class SpoiltMarl(Marl):
    """MARL with such a graph network."""

    def __init__(self, way: str, **params: Any) -> None:
        super().__init__(**params)
        self._way = way

    def on_cluster(self, cluster: "Cluster") -> None:
        """As MARL."""
        super().on_cluster(cluster)
        network: Any = self._made.network
        network.encoder = Spoilt(network.encoder, self._way)


def figures_of(who: Contestant, way: str, cell: Cell, seed: int) -> list[float]:
    """Mean JCT, its 99th percentile and the longest wait, s."""
    policy = Marl(**given(who)) if way == INTACT else SpoiltMarl(way, **given(who))
    with TemporaryDirectory() as folder:
        on, servers = cell.cluster(Path(folder))
        jobs = run(cell.workload(servers, seed), on, policy, seed=seed).jobs
    jct_s = jobs["end_s"] - jobs["submit_s"]
    return [float(jct_s.mean()), float(jct_s.quantile(0.99, "linear")), float(jobs["pending_s"].max())]  # ty: ignore


def rows_of(cell: Cell, label: str) -> list[dict[str, Any]]:
    """A row for each way to spoil it."""
    ones = [one for one in everyone(cell) if one.label.startswith(f"{label}, training")]
    calls = [(one, way, cell, seed) for way in (INTACT, *WAYS) for one in ones for seed in FEW]
    found = np.array(list(Processes(2)(figures_of, calls))).reshape(1 + len(WAYS), len(ones), len(FEW), 3)
    return [
        {"cell": cell.name, "who": label, "embeddings": way} | _changes(spoilt, found[0])
        for way, spoilt in zip(WAYS, found[1:], strict=True)
    ]


def _changes(spoilt: Any, intact: Any) -> dict[str, Any]:
    """With their intervals, percent."""
    of = {name: middle(above(spoilt[..., k], intact[..., k])) for k, name in enumerate(FIGURES)}
    return {
        f"{name}{end}": round(value, 2)
        for name, change in of.items()
        for end, value in (("", change.percent), (", low", change.low), (", high", change.high))
    }


def main(cells: Sequence[Cell] = STUDIED) -> None:
    """See the module."""
    pl.DataFrame([row for cell in cells for label in (MARL, ACTORS) for row in rows_of(cell, label)])\
        .write_csv(DATA / "marl-embeddings.csv")  # fmt: skip


if __name__ == "__main__":
    main()
