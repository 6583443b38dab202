"""From what jobs ask for to demand classes, and from nodes to the pools those classes may use."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.types import Locality
from pointsman.workload.columns import SHAPE

NO_PARTITIONS = "the cluster names no partitions, so those of the log are not kept apart"
KEYS = ("gpus", "gpu_type", "partition", "limited", "milli", "per_node")
WITH_MODELS = (*KEYS, "model", "batch_size")
"""Where policies must tell jobs of one class from each other by their models."""


@dataclass(frozen=True)
class Pools:
    """Nodes of one size, GPU type, set of partitions and scheduler, in node order."""

    sizes: NDArray[np.int64]
    gpu_types: NDArray[np.int64]
    partitions: list[tuple[str, ...]]
    pool_of_node: NDArray[np.int64]
    members: list[NDArray[np.int64]]
    scheduler: list[int]
    """Which scheduler owns the nodes of each pool."""

    @property
    def schedulers(self) -> int:
        """How many schedulers share the cluster."""
        return max(self.scheduler) + 1


def make_pools(layout: Layout, scheduler_of_node: NDArray[np.int64] | None = None) -> Pools:
    """Sort the nodes of `layout` into pools, in order of each pool's first node. By default one scheduler owns all."""
    keys: dict[tuple[int, int, tuple[str, ...], int], int] = {}
    owners = [0] * len(layout.node_gpus) if scheduler_of_node is None else scheduler_of_node.tolist()
    pool_of_node = np.empty(len(layout.node_gpus), np.int64)
    for n, (size, kind) in enumerate(zip(layout.node_gpus.tolist(), layout.node_gpu_type.tolist(), strict=True)):
        key = (size, kind, tuple(sorted(layout.node_partitions[n])), owners[n])
        pool_of_node[n] = keys.setdefault(key, len(keys))
    return Pools(
        sizes=np.array([k[0] for k in keys], np.int64),
        gpu_types=np.array([k[1] for k in keys], np.int64),
        partitions=[k[2] for k in keys],
        pool_of_node=pool_of_node,
        members=[np.flatnonzero(pool_of_node == p) for p in range(len(keys))],
        scheduler=[k[3] for k in keys],
    )


@dataclass(frozen=True)
class Demand:
    """What one class of jobs asks for: its GPUs and, for each alternative, the pools it may use."""

    gpus: int
    alternatives: tuple[tuple[int, ...], ...]
    limited_queue: int
    """Index of the queue where that queue has a limit, else -1."""
    milli: int = 1000
    """Thousandths of one GPU, if it asks for a fraction and GPUs are shared."""
    per_node: int = 0
    """GPUs on each node of a shape; 0: any nodes will do."""
    elastic: tuple[int, int] | None = None
    """Fewest and most GPUs, where they may be others than it asks for."""

    @property
    def nodes(self) -> int:
        """Nodes of a shape; 0 without one."""
        return self.gpus // self.per_node if self.per_node else 0


def alternatives(
    layout: Layout, pools: Pools, gpu_type: str | None, partition: str | None
) -> tuple[tuple[int, ...], ...]:
    """The sets of pools a demand may use, in the order they are tried (``semantics.md`` §2).
    Empty sets are left out.
    """
    within = [p for p, names in enumerate(pools.partitions) if may_use(partition, names)]
    kinds = [[t] for t in layout.gpu_types] if not gpu_type else [a.split("+") for a in gpu_type.split("|")]
    sets = []
    for names in kinds:
        wanted = {i for name in names for i in layout.types_called(name)}
        members = tuple(p for p in within if int(pools.gpu_types[p]) in wanted)
        if members:
            sets.append(members)
    return tuple(sets)


def may_use(partition: str | None, names: Collection[str]) -> bool:
    """Whether a job of this partition may run on nodes of the partitions `names`; of ``a,b``, on those of either."""
    return not partition or any(one.strip() in names for one in partition.split(","))


def sizes_of(pools: Pools, members: tuple[int, ...]) -> NDArray[np.int64]:
    """The GPUs of each node of these pools."""
    return np.concatenate([np.full(len(pools.members[p]), pools.sizes[p]) for p in members])


def most_in_rack(pools: Pools, members: tuple[int, ...], rack_of_node: NDArray[np.int64], per_node: int) -> int:
    """GPUs that the rack with most has on nodes of these pools; with `per_node` > 0, nodes that have that
    many or more.
    """
    nodes = np.concatenate([pools.members[p] for p in members])
    sizes = pools.sizes[pools.pool_of_node[nodes]]
    counts = sizes >= per_node if per_node else sizes
    return int(np.bincount(rack_of_node[nodes], counts).max())


def best_level(demand: Demand, pools: Pools, in_rack: Callable[[tuple[int, ...], int], int]) -> Locality:
    """The tightest of NODE, RACK and CLUSTER that could ever hold the gang (``semantics.md`` §7). `in_rack` is
    `most_in_rack` of these pools.
    """
    members = next(iter(demand.alternatives), ())
    if not members:
        return Locality.CLUSTER
    per_node = demand.per_node
    if demand.nodes == 1 or (not per_node and demand.gpus <= pools.sizes[list(members)].max()):
        return Locality.NODE
    wanted = demand.nodes or demand.gpus
    return Locality.RACK if wanted <= in_rack(members, per_node) else Locality.CLUSTER


def can_ever_fit(
    pools: Pools, gpus: int, pool_sets: tuple[tuple[int, ...], ...], scattered: bool, per_node: int = 0
) -> bool:
    """Whether a gang, perhaps with `per_node` GPUs on each node, could be placed on the empty cluster."""
    for members in pool_sets:
        nodes = sizes_of(pools, members)
        if per_node:
            if int((nodes >= per_node).sum()) * per_node >= gpus:
                return True
            continue
        size = int(nodes.max())
        whole, rest = divmod(gpus, size)
        if scattered and gpus <= int(nodes.sum()):
            return True
        if gpus <= size:
            return True
        if int((nodes == size).sum()) >= whole and (rest == 0 or int((nodes >= rest).sum()) > whole):
            return True
    return False


def per_node_of(jobs: pl.DataFrame) -> pl.Series:
    """(jobs,) the GPUs of each on every node by its shape; 0 without one, and where it has only one GPU."""
    nodes, per_node = (pl.col(name) for name in SHAPE)
    found = pl.when(pl.col("gpus") > 1).then(pl.coalesce(per_node, pl.col("gpus") // nodes))
    return jobs.select(per_node=found.fill_null(0))["per_node"]


def classify(jobs: pl.DataFrame, by: Sequence[str] = KEYS) -> tuple[NDArray[np.int64], pl.DataFrame]:
    """Number the distinct demands of `jobs` in order of first appearance: (class of each row, one row for each
    class).
    """
    keys = jobs.select(by)
    differ = [name for name in by if keys[name].null_count() < len(keys) and keys[name].n_unique() > 1]
    if not differ:
        return np.zeros(len(keys), np.int64), keys.head(1).with_row_index("cls")
    classes = keys.unique(differ, keep="first", maintain_order=True).with_row_index("cls")
    cls = keys.select(differ).join(
        classes.select("cls", *differ), on=differ, how="left", nulls_equal=True, maintain_order="left"
    )["cls"]  # fmt: skip
    return cls.cast(pl.Int64).to_numpy(), classes
