"""Part 1: the paper's clusters and, as near as we can get, its jobs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from benchmarks.network.runs import Measured, measure
from benchmarks.results.figures import markdown
from benchmarks.sharing.cells import MIX, SHORT, Cell, run_cell
from benchmarks.sharing.entries import (
    ALL,
    BACKFILL,
    BSBF,
    CONSOLIDATED,
    FFS,
    JOINT,
    POLLUX,
    SJF,
    SLOW_GANDIVA,
    SLOW_PACKING,
    SRTF,
    TIRESIAS,
)
from benchmarks.sharing.oracle import sources
from benchmarks.sharing.pollux_mix import SMALL
from benchmarks.sharing.scope import Scope
from benchmarks.sharing.tables import against, detail, with_interval
from pointsman.report.units import digits, duration, percent

Found = tuple[dict[str, str], list[Measured]]
"""Tables by name, and what they are of."""

SEEDS, FEWER_SEEDS = 20, 10
CELLS = (Cell(MIX, "16x4", 240, 8.0), Cell(MIX, "16x4", 480, 8.0), Cell(MIX, "4x4", 30, 1.5))
EQUAL = Cell(SHORT, "16x4", 240, 8.0, load=1.85)
"""As much work as in the first of `CELLS`, but no job of hours on half of the cluster."""

LOADS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)
GPU_TYPES = ("v100", "v100m16", "p100", "t4")
FEW = (BSBF, JOINT, CONSOLIDATED, FFS, TIRESIAS[0], SLOW_GANDIVA, SLOW_PACKING, SRTF[0], BACKFILL[0], SJF[0])
OTHERS = [entry.label for entry in FEW[1:]]
PREEMPTIVE, SHARING = "−27 to −33 %", "up to −17 %"
CLAIMS = (
    (TIRESIAS[0], PREEMPTIVE), (POLLUX, PREEMPTIVE), (SLOW_GANDIVA, "–"), (SRTF[0], "–"),
    (FFS, SHARING), (SLOW_PACKING, "–"), (SJF[0], "–"), (BACKFILL[0], "–"),
)  # fmt: skip


def paper(scope: Scope) -> Found:
    """Every policy on the paper's clusters, and on jobs without the longest."""
    main = measure("paper", [*CELLS, EQUAL], ALL, scope.seeds(SEEDS), scope.data, run_cell)
    tables = {
        "paper-jobs": _jobs([one.cell for one in main], scope.data),
        "paper-claims": _claims(main),
        **{f"paper-{i}": detail(one) for i, one in enumerate(main, 1)},
    }
    return tables, main


def variations(scope: Scope) -> Found:
    """The same with other ξ, on other GPUs, and at other loads."""
    seeds, data = scope.seeds(FEWER_SEEDS), scope.data
    three = (CELLS[0], CELLS[2], EQUAL)
    xis = [(cell, name, text) for cell in three for name, text in sources(data).items()]
    by_xi = measure("ξ", [replace(cell, interference=text) for cell, _, text in xis], FEW, seeds, data, run_cell)
    types = [replace(cell, gpu_type=kind) for cell in three for kind in scope.few(GPU_TYPES)]
    by_type = measure("GPU types", types, FEW, seeds, data, run_cell)
    loads = [Cell(name, "16x4", 240, 8.0, load) for name in (MIX, SHORT) for load in scope.few(LOADS)]
    by_load = measure("loads", loads, FEW, seeds, data, run_cell)
    tables = {
        "variations-consolidated": _one_node(by_load),
        "variations-xi": against(_called([(told(cell), name) for cell, name, _ in xis], by_xi), ("jobs", "ξ"), OTHERS),
        "variations-types": against(
            _called([(told(cell), cell.gpu_type) for cell in types], by_type), ("jobs", "GPU"), OTHERS
        ),
        "variations-loads": against(
            _called([(cell.workload, f"{cell.load:g}") for cell in loads], by_load), ("jobs", "load"), OTHERS
        ),
    }
    return tables, [*by_xi, *by_type, *by_load]


def _one_node(by_load: Sequence[Measured]) -> str:
    """What it costs to share within a node where free GPUs on several would do."""
    heads = (
        "jobs", "load", "sjf-bsbf", "shared", "run time over solo", "queueing",
        "consolidated", "shared", "run time over solo", "queueing", "sjf-bsbf against it",
    )  # fmt: skip
    rows = [
        (
            one.cell.workload,
            f"{one.cell.load:g}",
            *(text for entry in (BSBF, CONSOLIDATED) for text in _shared_by(one, entry.label)),
            with_interval(one, CONSOLIDATED.label),
        )
        for one in by_load
    ]
    return markdown(heads, rows, words=2)


def _shared_by(one: Measured, label: str) -> tuple[str, ...]:
    shares = (percent(one.mean(label, figure)) for figure in ("shared", "slowed"))
    return duration(one.mean(label, "jct_s")), *shares, duration(one.mean(label, "queued_s"))


def _called(words: Sequence[tuple[str, ...]], found: Sequence[Measured]) -> list[tuple[tuple[str, ...], Measured]]:
    return list(zip(words, found, strict=True))


def told(cell: Cell) -> str:
    """The jobs of a cell of this part."""
    return f"{cell.jobs} on {cell.nodes}{'' if cell.workload == MIX else f', {cell.workload}'}"


def _jobs(cells: Sequence[Cell], data: Path) -> str:
    rows = []
    for cell in cells:
        made = [cell.made(seed, data).jobs for seed in range(SEEDS)]
        gpu_h = [float((jobs["gpus"] * jobs["duration_s"]).sum()) / 3600 for jobs in made]
        span_h = [float(jobs["submit_s"][-1]) / 3600 for jobs in made]
        loads = [work / (cell.gpus * hours) for work, hours in zip(gpu_h, span_h, strict=True)]
        small = pl.concat(made)["gpus"] <= SMALL
        rows.append(
            (
                told(cell),
                f"{digits(sum(span_h) / SEEDS)} h",
                f"{digits(min(loads))} to {digits(max(loads))}",
                f"{digits(sum(gpu_h) / SEEDS)}",
                percent(float(small.mean())),  # ty: ignore
                duration(sum(float(jobs["duration_s"].mean()) for jobs in made) / SEEDS),  # ty: ignore
                duration(max(float(jobs["duration_s"].max()) for jobs in made)),  # ty: ignore
            )
        )
    return markdown(("jobs", "submits span", "load", "GPU-hours", "≤ 4 GPUs", "mean duration", "longest"), rows)


def _claims(main: Sequence[Measured]) -> str:
    rows = [
        (entry.label, entry.knows, claim, *(with_interval(one, entry.label) for one in main)) for entry, claim in CLAIMS
    ]
    return markdown(("sjf-bsbf against", "knows", "the paper says", *(told(one.cell) for one in main)), rows, words=3)
