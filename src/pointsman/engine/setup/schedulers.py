"""Schedulers that share a cluster: whole racks are divided among them, and each arriving job belongs to one of them
(``docs/reference/semantics.md`` §7).

A scheduler's part is a set of pools, and its jobs have demand classes of their own that admit no others: what places
a job, and what checks the place, honours the part without knowing of schedulers.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.setup.demand import Demand, Pools, can_ever_fit
from pointsman.errors import UsageError
from pointsman.inputs.messages import counted

_HOMES = 0x686F6D65
"""Which of the random numbers of a seed they are."""


def scheduler_of_nodes(layout: Layout, schedulers: int) -> NDArray[np.int64]:
    """(nodes,) the scheduler that owns each node: consecutive racks each, as even in GPUs as cuts one by one make them.

    Raises:
        UsageError: there are fewer racks than schedulers.
    """
    up_to = np.cumsum(np.bincount(layout.node_rack, layout.node_gpus)).astype(np.int64).tolist()
    if len(up_to) < schedulers:
        raise UsageError(
            f"{schedulers} schedulers need one rack each, and the cluster has {counted(len(up_to), 'rack')}: use fewer "
            "schedulers, or define smaller racks (nodes_per_rack in a cluster file, or 64x4/rack=4)"
        )
    cuts = [0]
    for k in range(1, schedulers):
        open_cuts = range(cuts[-1] + 1, len(up_to) - (schedulers - k) + 1)
        cuts.append(min(open_cuts, key=lambda racks: (abs(schedulers * up_to[racks - 1] - k * up_to[-1]), racks)))
    return np.searchsorted(cuts[1:], layout.node_rack, side="right").astype(np.int64)


def parts_of(pools: Pools, sets: tuple[tuple[int, ...], ...]) -> list[tuple[tuple[int, ...], ...]]:
    """For each scheduler, what its part has of these sets of pools. Empty sets are left out."""
    return [
        tuple(mine for members in sets if (mine := tuple(p for p in members if pools.scheduler[p] == scheduler)))
        for scheduler in range(pools.schedulers)
    ]


def divide(
    cls: NDArray[np.int64], demands: list[Demand], pools: Pools, *, scattered: bool, seed: int
) -> tuple[NDArray[np.int64], list[Demand]]:
    """The classes of jobs by scheduler: that of a job of demand `d` that belongs to scheduler `p` is
    ``d * schedulers + p``. Each job belongs to any of the schedulers whose part could hold it, with equal chance.
    """
    if pools.schedulers == 1:
        return cls, demands
    divided = [
        replace(demand, alternatives=part) for demand in demands for part in parts_of(pools, demand.alternatives)
    ]
    able = np.array([can_ever_fit(pools, d.gpus, d.alternatives, scattered, d.per_node) for d in divided])
    able = able.reshape(len(demands), pools.schedulers)
    drawn = np.random.default_rng([seed, _HOMES]).random(len(cls))
    nth = (drawn * able.sum(axis=1)[cls]).astype(np.int64)
    able_first = np.argsort(~able, axis=1, kind="stable")
    return cls * pools.schedulers + able_first[cls, nth], divided


def homes_of(cls: int, demands: list[Demand], pools: Pools, *, scattered: bool) -> list[int]:
    """The class of the same demand as `cls` of each scheduler whose part could hold it."""
    first = cls - cls % pools.schedulers
    classes = range(first, first + pools.schedulers)
    return [
        c
        for c in classes
        if can_ever_fit(pools, demands[c].gpus, demands[c].alternatives, scattered, demands[c].per_node)
    ]
