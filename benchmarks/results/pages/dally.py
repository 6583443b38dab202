"""Dally against the same ladder of levels elsewhere, on even, congested and oversubscribed networks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.drawn_jobs import NODE_GPUS, RACK_NODES, poisson, sample
from benchmarks.results.pages._dally import (
    BASE,
    BLOCKS,
    CONGESTED,
    EVEN,
    LADDERS,
    NEAR,
    PLACES,
    RACKS,
    SAME,
    WHOLE,
    WORKLOADS,
    draw,
)  # fmt: skip
from benchmarks.results.trials import Trial
from pointsman.cluster.cluster import Cluster

__all__ = ["BLOCKS", "draw", "setting", "trials"]

SEEDS = range(5)
GPUS: Final = 256
JOBS, BATCH_JOBS = 16 * GPUS, 2000
WARMUP = 0.2


@dataclass(frozen=True)
class Cell:
    """One set of jobs on one network."""

    workload: str
    cards: str = "200 Gb/s a GPU"
    """Bandwidth of the network cards."""
    uplinks: float = 1.0
    """Times that the uplinks of racks are oversubscribed."""
    congestion: float = 1.0
    """Times that all bandwidth beyond a node is divided by, whoever uses it."""
    contention: str = "none"
    load: float | None = 1.0
    """None: all jobs at once."""


def ladder(levels: int) -> list[float]:
    """Thresholds that double, GPU-s, as Dally's do."""
    return [3250.0 * 2**k for k in range(levels)]


TIRESIAS: Final = tuple(
    Contestant(f"tiresias, {n} levels, {said}", "tiresias", {"thresholds_gpu_s": ladder(n)}, placement=placement)
    for n in LADDERS
    for placement, said in PLACES.items()
)
DALLY: Final = tuple(
    Contestant(f"dally, {n} levels, {said}", policy, {"levels": n})
    for n in LADDERS
    for policy, said in (("dally", "delays"), ("dally-whole-nodes", "whole nodes"), ("dally-nowait", "any place"))
)
BY_PROGRESS: Final = tuple(
    Contestant(f"dally, 12 levels, {said}, by progress", policy, {"sensitive": True})
    for policy, said in (("dally", "delays"), ("dally-whole-nodes", "whole nodes"))
)
PUBLISHED: Final = (
    Contestant("las", "las"),
    Contestant("tiresias", "tiresias"),
    Contestant("tiresias-skew", "tiresias-skew"),
    Contestant("fifo-backfill", "fifo-backfill"),
    Contestant("fifo-backfill, few racks", "fifo-backfill", placement="few-racks"),
    Contestant("gandiva", "gandiva"),
    Contestant("gandiva, 600 s", "gandiva", {"slice_s": 600}),
    Contestant("gittins", "gittins"),
)
ABLATIONS: Final = tuple(
    Contestant(f"dally-{part}", f"dally-{part}") for part in ("manual", "consolidated", "nopreempt")
)
ORACLES: Final = (Contestant("srtf", "srtf"), Contestant("srtf, any place", "srtf", placement="tightest"))
ALL: Final = (*DALLY, *BY_PROGRESS, *TIRESIAS, *PUBLISHED, *ABLATIONS, *ORACLES)
FEW: Final = tuple(who for who in ALL if who.label in (BASE, WHOLE, f"{BASE}, by progress", SAME, NEAR, "las",
                   "tiresias", "tiresias-skew", "fifo-backfill", "gandiva, 600 s", "gittins", "srtf"))  # fmt: skip


def trials(data: Path) -> Iterator[Trial]:
    """All policies without contention; a few with it, at a lower load, and in batches."""
    for workload in WORKLOADS:
        for where in (EVEN, CONGESTED, *RACKS):
            yield from (Trial(Cell(workload, **where), seed, ALL) for seed in SEEDS)
        for where in (
            *({**racks, "contention": "max-min"} for racks in RACKS),
            *({**net, "load": load} for net in (EVEN, CONGESTED, RACKS[1]) for load in (0.8, None)),
        ):
            yield from (Trial(Cell(workload, **where), seed, FEW) for seed in SEEDS)


@cache
def cluster(cards: str, uplinks: float) -> Cluster:
    """32 nodes of 8 GPUs, 8 in a rack: A100 with a card each, or V100 that share one."""
    rate, _, owner = cards.partition(" a ")
    kind = "a100" if owner == "GPU" else "v100"
    node = {"gpus": NODE_GPUS, "gpu_type": kind, "nic": {"bandwidth": rate, "per": owner.lower()}}
    spec = {
        "node_types": {"node": node}, "nodes": [{"type": "node", "count": GPUS // NODE_GPUS}],
        "nodes_per_rack": RACK_NODES, "network": {"pod": {"oversubscription": uplinks}},
    }  # fmt: skip
    return Cluster.model_validate({"metadata": {"name": f"{cards}, uplinks {uplinks:g}"}, "spec": spec})


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """Jobs drawn from a log or generated, with typical models."""
    jobs = sample(cell.workload, data, GPUS, JOBS if cell.load else BATCH_JOBS, seed, ("typical", 0))
    if cell.load:
        jobs = poisson(jobs, GPUS, cell.load, seed)
    options = {
        "congestion": {"network": cell.congestion}, "contention": cell.contention, "overheads": "realistic",
    }  # fmt: skip
    return Setting(jobs, cluster(cell.cards, cell.uplinks), options, WARMUP if cell.load else 0.0)
