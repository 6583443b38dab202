"""Part 4: what gradient accumulation buys: pairs that fit only because of it, and what they change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.network.runs import Measured, measure
from benchmarks.results.figures import markdown
from benchmarks.sharing.cells import MIX, Cell, Figures, figures, run
from benchmarks.sharing.constants import told
from benchmarks.sharing.entries import BSBF, FFS, Entry
from benchmarks.sharing.paper import CELLS, EQUAL, Found
from benchmarks.sharing.pollux_mix import published
from benchmarks.sharing.scope import Scope
from benchmarks.sharing.tables import change
from benchmarks.sharing.traces import FEWER_JOBS, JOBS, MEDIUM
from benchmarks.sharing.whole_memory import Demand, demands, files, renamed
from benchmarks.surveyed import surveyed
from pointsman.cluster import load_cluster
from pointsman.engine.rate_models.subbatches import subbatches_of
from pointsman.report.units import NOTHING, digits, duration, percent
from pointsman.speed.profiles.catalogue import load_catalogue

SEEDS = 10
GPU_TYPES = {"v100m16": "16 GiB", "v100": "32 GiB"}
LARGER = 4
"""Times the batches of the profiles."""

WAYS = (BSBF, FFS)
WITHOUT = tuple(replace(entry, label=f"{entry.label}, no accumulation") for entry in WAYS)
ENTRIES = (*WAYS, *WITHOUT)


def accumulation(scope: Scope) -> Found:
    """Pairs that fit, those that fit only so, and mean JCT with and without."""
    jobs, data = FEWER_JOBS if scope.quick else JOBS, scope.data
    logs = [Cell(name, MEDIUM, jobs, load=1.0) for name in scope.logs]
    cells = [replace(cell, gpu_type=kind) for cell in scope.few((CELLS[0], EQUAL, *logs)) for kind in GPU_TYPES]
    found = measure("accumulation", cells, ENTRIES, scope.seeds(SEEDS), data, _both_ways)
    catalogue = load_catalogue()
    own = [(name, catalogue.models[name].batch.per_gpu) for name in surveyed(catalogue)]
    mix = sorted(demands(published(data)))
    smallest = sorted(dict(reversed(mix)).items())
    kinds = {"the profiles": own, "these, batches × 4": [(name, LARGER * batch) for name, batch in own], MIX: mix}
    tables = {
        "accumulation-models": _counts(kinds),
        "accumulation-pairs": _pairs(smallest),
        "accumulation-jct": _jct(found),
    }
    return tables, found


def _both_ways(cell: Cell, entries: Sequence[Entry], seed: int, data: Path) -> list[Figures]:
    """The first half of the entries as they are, the others where no job's memory shrinks."""
    jobs, nothing = cell.made(seed, data), (float("nan"), float("nan"))
    profiles, slow_downs = files(demands(jobs))
    whole = replace(cell, profiles=(profiles,), interference=slow_downs)
    plain = [run(cell, jobs, entry, seed) for entry in entries[: len(WAYS)]]
    without = [run(whole, renamed(jobs), entry, seed) for entry in entries[len(WAYS) :]]
    return [figures(result, cell.warmup, nothing) for result in (*plain, *without)]


@cache
def _steps(gpu_type: str, demand: Demand) -> tuple[NDArray[np.void], int]:
    """Of one model on one GPU: what each number of steps takes, and the GPU's memory."""
    layout = load_cluster(f"1x1/gpu={gpu_type}").layout()
    steps = subbatches_of(layout, [(demand[0], 1, demand[1])], load_catalogue())
    return steps[steps["stretch"] > 0], int(layout.gpu_memory_bytes[0])


def _stretch(gpu_type: str, new: Demand, running: Demand) -> tuple[int, float] | None:
    """Steps that `new` needs beside `running`, which has one, and what they cost; None if it never fits."""
    (mine, memory), (theirs, _) = _steps(gpu_type, new), _steps(gpu_type, running)
    fits = np.flatnonzero(mine["bytes"] + theirs["bytes"][0] <= memory)
    return (1 << int(fits[0]), float(mine["stretch"][fits[0]])) if len(fits) else None


def _counts(kinds: Mapping[str, Sequence[Demand]]) -> str:
    rows = []
    for name, some in kinds.items():
        for gpu_type, memory in GPU_TYPES.items():
            found = [_stretch(gpu_type, a, b) for a in some for b in some]
            only = sorted(one[1] for one in found if one and one[0] > 1)
            rows.append(
                (
                    name,
                    memory,
                    f"{len(some)}",
                    f"{len(found)}",
                    f"{sum(1 for one in found if one and one[0] == 1)}",
                    f"**{len(only)}**",
                    f"{found.count(None)}",
                    f"{digits(only[len(only) // 2])} (to {digits(only[-1])})" if only else NOTHING,
                )
            )
    heads = ("models at batches of", "GPU", "models", "pairs", "fit", "fit only so", "never fit", "median stretch")
    return markdown(heads, rows, words=2)


def _pairs(some: Sequence[Demand]) -> str:
    rows = []
    for gpu_type, memory in GPU_TYPES.items():
        for new in some:
            told = [_cell(_stretch(gpu_type, new, running)) for running in some]
            rows.append((memory, _named(new), *told))
    return markdown(("GPU", "the new one", *(f"beside {_named(one)}" for one in some)), rows, words=2)


def _named(demand: Demand) -> str:
    return f"{demand[0]} at {demand[1]}"


def _cell(found: tuple[int, float] | None) -> str:
    if found is None:
        return NOTHING
    return "fits" if found[0] == 1 else f"{found[0]} steps, × {found[1]:.2f}"


def _jct(found: Sequence[Measured]) -> str:
    rows = []
    for one in found:
        for with_it, without in zip(WAYS, WITHOUT, strict=True):
            times = (duration(one.mean(entry.label, "jct_s")) for entry in (with_it, without))
            accumulated = percent(one.mean(with_it.label, "accumulated"))
            named = told(one.cell), GPU_TYPES[one.cell.gpu_type], with_it.label
            rows.append((*named, *times, *change(one, without.label, with_it.label), accumulated))
    heads = ("jobs", "GPU", "policy", "mean JCT", "without", "with against without", "95 % CI", "accumulated")
    return markdown(heads, rows, words=3)
