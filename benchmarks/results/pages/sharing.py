"""Jobs that share GPUs: the paper's clusters, two logs, and where sharing ceases to be beneficial."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from benchmarks import pair_data
from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.drawn_jobs import poisson, sample
from benchmarks.results.trials import Trial
from benchmarks.sharing.blocks import BLOCKS as BLOCKS
from benchmarks.sharing.cells import (
    BY_OTHER_TABLE,
    CONSTANTS,
    EQUAL,
    HOURS,
    LESS_MEMORY,
    LOGS,
    MAPPINGS,
    OTHER,
    PAPERS_GPU,
    SWEPT,
    Cell,
)
from benchmarks.sharing.picture import draw as draw
from benchmarks.sharing.pollux_mix import pollux_mix
from pointsman.cluster import load_cluster
from pointsman.speed.interference.file import TypeFigures, interference_yaml
from pointsman.speed.interference.fit import figures_of
from pointsman.speed.interference.slow_downs import shipped

SEEDS: Final = range(20)
LOG_SEEDS: Final = range(10)
LOG_GPUS, WARMUP = 256, 0.2
RESTARTS: Final = {"restore_s": 30.0}
"""Overheads of the paper's cells: a job that is started again, or resized, pays 30 s; the rest is free."""


def _sharing(policy: str) -> tuple[Contestant, ...]:
    """With each of its ways to accumulate."""
    others = ("exact", "none")
    return Contestant(policy, policy), *(
        Contestant(f"{policy}, accumulation={how}", policy, {"accumulation": how}) for how in others
    )


def _any_place(policy: str, **params: Any) -> Contestant:
    """A policy that needs no place of its own, placed as those that share are."""
    label = ", ".join([policy, *(f"{len(value)} thresholds" for value in params.values())])
    return Contestant(label, policy, params, placement="tightest")


BSBF: Final = _sharing("sjf-bsbf")
FFS: Final = _sharing("sjf-ffs")
JOINT: Final = Contestant("sjf-bsbf, gate=joint", "sjf-bsbf", {"gate": "joint"})
ALONE: Final = tuple(_any_place(name) for name in ("sjf-backfill", "sjf", "srtf", "fifo-backfill", "tiresias"))
LADDER: Final = _any_place("tiresias", thresholds_gpu_s=[3250.0 * 2**k for k in range(12)])
SLICES: Final = tuple(
    Contestant(f"{policy}, {seconds} s", policy, {"slice_s": float(seconds)}, logs=False)
    for policy in ("gandiva", "gandiva-packing")
    for seconds in (60, 600)
)
POLLUX: Final = Contestant("pollux", "pollux")
ERRORS: Final = tuple(
    replace(who, label=f"{who.label}, σ = 1", estimate="lognormal:1") for who in (BSBF[0], *ALONE[:1], ALONE[2])
)
ALL: Final = (
    *BSBF, JOINT, Contestant("sjf-bsbf-consolidated", "sjf-bsbf-consolidated"), *FFS, *ALONE, LADDER,
    Contestant("tiresias, consolidated", "tiresias"), *SLICES, Contestant("gittins", "gittins"), *ERRORS,
)  # fmt: skip
SOME: Final = (BSBF[0], FFS[2], *ALONE[:1])
WHOLE: Final = (*SOME, BSBF[2])


def trials(data: Path) -> Iterator[Trial]:
    """All policies on the paper's cells and the logs; a few with one slowdown for all pairs."""
    for cell in chain(*MAPPINGS.values()):
        yield from (Trial(cell, seed, (*ALL, POLLUX)) for seed in SEEDS)
    for cell in (*LOGS, *BY_OTHER_TABLE):
        seeds, who = (LOG_SEEDS, ALL) if cell.is_log else (SEEDS, (*ALL, POLLUX))
        yield from (Trial(cell, seed, who) for seed in seeds)
    for cell in LESS_MEMORY:
        yield from (Trial(cell, seed, (*BSBF, *FFS, *ALONE[:1])) for seed in LOG_SEEDS)
    for cell in (replace(cell, slowdown=number) for cell in SWEPT for number in CONSTANTS):
        seeds, few = (LOG_SEEDS, SOME) if cell.is_log else (SEEDS, WHOLE)
        yield from (Trial(cell, seed, few) for seed in seeds)


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """The jobs of one seed on the cell's cluster."""
    interference = {"interference": slowdown(cell, data)}
    if cell.is_log:
        jobs = poisson(sample(cell.workload, data, LOG_GPUS, cell.submitted, seed, ("typical", 0)), LOG_GPUS, 1.0, seed)
        return Setting(
            jobs, load_cluster(f"32x8/gpu={cell.gpu},rack=8"), interference | {"overheads": "realistic"}, WARMUP
        )
    nodes = 4 if cell.submitted == 30 else 16
    without, load = ("imagenet", 1.85) if cell.workload == EQUAL.workload else ("", None)
    jobs = pollux_mix(data, 4 * nodes, cell.submitted, HOURS[cell.submitted], seed, load=load, without=without)
    cluster = load_cluster(f"{nodes}x4/gpu={cell.gpu},nic=10Gbps")
    return Setting(jobs, cluster, interference | {"overheads": RESTARTS}, 0.0)


def slowdown(cell: Cell, data: Path) -> str:
    """What `--interference` is to be: the shipped table takes an RTX 2080 Ti for a P100."""
    if cell.slowdown.endswith(OTHER):
        return by_other_table(data)
    measured = cell.slowdown in ("P100", "V100")
    if not measured:
        return cell.slowdown
    return as_on_v100() if (cell.gpu, cell.slowdown) == (PAPERS_GPU, "V100") else "table"


@cache
def as_on_v100() -> str:
    """A file in which pairs on the paper's GPU slow each other as on a V100."""
    return _written("v100", shipped().source, {PAPERS_GPU: shipped().gpu_types["v100"]})


@cache
def by_other_table(data: Path) -> str:
    """A file of the table that is not shipped; what was not measured is mapped as in the shipped one."""
    figures = figures_of(pair_data.load(pair_data.SOURCES[1], data / "profiles").pairs())
    return _written("oracle", "Gavel: its oracle table of two jobs on one GPU", figures)


def _written(name: str, source: str, figures: Mapping[str, TypeFigures]) -> str:
    path = Path(tempfile.mkdtemp(prefix="pointsman-")) / f"{name}.yaml"
    path.write_text(interference_yaml(name, source, figures, shipped().stand_ins), encoding="utf-8")
    return str(path)
