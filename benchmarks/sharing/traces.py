"""Part 2: the jobs of two real logs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from benchmarks.network.runs import Measured, measure
from benchmarks.results.figures import markdown
from benchmarks.sharing.cells import Cell, counting, run_cell
from benchmarks.sharing.entries import (
    BACKFILL,
    BSBF,
    CONSOLIDATED,
    FFS,
    FIFO,
    JOINT,
    SIGMAS,
    SJF,
    SLOW_GANDIVA,
    SLOW_PACKING,
    SRTF,
    TIRESIAS,
)
from benchmarks.sharing.oracle import sources
from benchmarks.sharing.paper import Found
from benchmarks.sharing.pollux_mix import SMALL
from benchmarks.sharing.scope import Scope
from benchmarks.sharing.tables import against, detail
from pointsman.report.units import count, duration, percent

SEEDS = 5
JOBS, FEWER_JOBS = 20_000, 2_000
MEDIUM, LARGE = "32x8", "309x8"
"""256 GPUs, and 2,472: Philly's cluster had 2,474."""

LARGE_JOBS = 40_000
LOADS, LOAD = (0.7, 0.85, 1.0, 1.2), 1.0
FEW = (BSBF, JOINT, CONSOLIDATED, FFS, SLOW_PACKING, SLOW_GANDIVA, TIRESIAS[0], SRTF[0], BACKFILL[0], SJF[0], FIFO[0])
TOLD = (*FEW, *(entry.told(sigma) for entry in (BSBF, JOINT, FFS, BACKFILL[0], SJF[0], SRTF[0]) for sigma in SIGMAS))
FEWER = (BSBF, FFS, SLOW_PACKING, TIRESIAS[0], BACKFILL[0], SJF[0])
"""Where there are many cells, or runs take seconds."""

OTHERS, FEWER_OTHERS = ([entry.label for entry in some[1:]] for some in (FEW, FEWER))
MIXES = (("typical", 1), ("typical", 2), ("insensitive", 0))


def traces(scope: Scope) -> Found:
    """Every policy at one load, and the others at other loads, on 256 GPUs."""
    seeds, logs = scope.seeds(SEEDS), scope.logs
    others = [_cell(scope, name, load) for name in logs for load in LOADS if load != LOAD and not scope.quick]
    main = measure("traces", [_cell(scope, name) for name in logs], TOLD, seeds, scope.data, run_cell)
    found = main + measure("traces, loads", others, FEW, seeds, scope.data, run_cell)
    found.sort(key=lambda one: (one.cell.workload, one.cell.load))
    tables = {
        "traces-jobs": _jobs(
            [*(one.cell for one in main), *(_large(scope, name, logged=True) for name in logs)], scope
        ),
        "traces-loads": against([(_at_load(one), one) for one in found], ("log", "load"), OTHERS),
        **{f"traces-{one.cell.workload}": detail(one) for one in main},
    }
    return tables, found


def large(scope: Scope) -> Found:
    """The same on 2,472 GPUs, and of whole logs as they came."""
    cells = [_large(scope, name, load) for name in scope.logs for load in scope.few(LOADS)]
    cells += [_large(scope, name, logged=True) for name in scope.logs]
    found = measure("2,472 GPUs", cells, FEW, scope.seeds(SEEDS), scope.data, run_cell)
    return {"traces-large": against([(_at_load(one), one) for one in found], ("log", "load"), OTHERS)}, found


def models(scope: Scope) -> Found:
    """Models assigned by other seeds, and insensitive ones; other sources of ξ."""
    cells = []
    for cell in (_cell(scope, name) for name in scope.logs):
        cells += [(cell.workload, _called(mix), replace(cell, mix=mix)) for mix in scope.few(MIXES)]
        others = [(said, text) for said, text in sources(scope.data).items() if text != cell.interference]
        cells += [(cell.workload, f"ξ: {said}", replace(cell, interference=text)) for said, text in others]
    found = measure("models", [cell for *_, cell in cells], FEWER, scope.seeds(SEEDS), scope.data, run_cell)
    words = [(name, said) for name, said, _ in cells]
    return {"traces-models": against(zip(words, found, strict=True), ("log", "other"), FEWER_OTHERS)}, found


def _cell(scope: Scope, name: str, load: float = LOAD) -> Cell:
    return Cell(name, MEDIUM, FEWER_JOBS if scope.quick else JOBS, load=load)


def _large(scope: Scope, name: str, load: float = LOAD, logged: bool = False) -> Cell:
    small = scope.quick
    return Cell(name, LARGE, FEWER_JOBS if small else LARGE_JOBS, load=load, logged=logged and not small)


def _at_load(one: Measured) -> tuple[str, str]:
    return one.cell.workload, f"{one.cell.load:g}{', as logged' if one.cell.logged else ''}"


def _called(mix: tuple[str, int]) -> str:
    name, seed = mix
    return f"models: {name}, {seed}" if name == "typical" else f"models: {name}"


def _jobs(cells: Sequence[Cell], scope: Scope) -> str:
    return markdown(
        ("log", "GPUs", "jobs", "counted", "submits span", "≤ 4 GPUs", "their GPU time", "mean duration", "longest"),
        [_row(cell, scope.data) for cell in cells],
    )


def _row(cell: Cell, data: Path) -> tuple[str, ...]:
    jobs = cell.made(0, data).jobs
    gpu_s, small = pl.col("gpus") * pl.col("duration_s"), pl.col("gpus") <= SMALL
    return (
        cell.workload + (", as logged" if cell.logged else ""),
        count(cell.gpus),
        count(jobs.height),
        count(counting(jobs, cell.warmup).height),
        duration(float(jobs["submit_s"].max() - jobs["submit_s"].min())),  # ty: ignore
        percent(jobs.select(small.mean()).item()),
        percent(jobs.select(gpu_s.filter(small).sum() / gpu_s.sum()).item()),
        duration(float(jobs["duration_s"].mean())),  # ty: ignore
        duration(float(jobs["duration_s"].max())),  # ty: ignore
    )
