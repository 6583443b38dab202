"""What a bound on waiting costs, and what it gives: the shipped TopDRL with `patience_durations` and without."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.results.figures import markdown
from benchmarks.topdrl.cells import LOGS, SPEC, WORKERS, Cell, replay
from benchmarks.topdrl.contestants import Contestant
from benchmarks.topdrl.tables import Values, change, iqm
from pointsman.parallel.pool import Processes
from pointsman.report import summarise
from pointsman.report.units import digits, duration

LOAD = 3.0
CELLS = (Cell(SPEC, 32, 500, LOAD), *(Cell(log, 64, 500, LOAD) for log in LOGS))
UNBOUNDED = Contestant("no bound", ("topdrl",), {})
BOUNDS = tuple(Contestant(f"{n}", ("topdrl",), {"patience_durations": n}) for n in (100, 30, 10))
COLUMNS = (
    "jobs", "GPUs", "load", "patience", "work a GPU", "mean JCT", "change", "p99 wait", "longest wait", "worst ρ",
)  # fmt: skip
FIGURES = ("work", "jct_s", "wait_p99_s", "wait_max_s", "rho_max")


def bounds(cells: Sequence[Cell], seeds: Sequence[int], data: Path) -> str:
    """A row for each workload and bound."""
    everyone = (UNBOUNDED, *BOUNDS)
    calls = [(cell, who, seed, data) for cell in cells for who in everyone for seed in seeds]
    found = iter(list(Processes(WORKERS)(_figures, calls)))
    rows = []
    for cell in cells:
        runs = [np.array([next(found) for _ in seeds]) for _ in everyone]
        rows += [_row(cell, who, values, runs[0]) for who, values in zip(BOUNDS, runs[1:], strict=True)]
    return markdown(COLUMNS, rows, words=1)


def _figures(cell: Cell, who: Contestant, seed: int, data: Path) -> tuple[float, ...]:
    result = replay(cell, who, who.policies[0], seed, data)
    summary = summarise(result)
    return (
        summary["gpu_hours_productive"] * 3600 / summary["makespan_s"] / cell.gpus,
        summary["jct_mean_s"],
        summary["wait_p99_s"],
        float(result.jobs["wait_s"].max()),  # ty: ignore[invalid-argument-type]
        summary["fairness_rho_max"],
    )


def _row(cell: Cell, who: Contestant, ours: Values, without: Values) -> tuple[str, ...]:
    """Of (seeds, figures) with the bound and without."""
    of, plain = ({name: values[None, :, i] for i, name in enumerate(FIGURES)} for values in (ours, without))
    work, jct, p99 = (
        f"{shown(iqm(plain[name]))} → {shown(iqm(of[name]))}"
        for name, shown in (("work", "{:.3f}".format), ("jct_s", duration), ("wait_p99_s", duration))
    )
    longest, rho = (
        f"{shown(plain[name].max())} → {shown(of[name].max())}"
        for name, shown in (("wait_max_s", duration), ("rho_max", digits))
    )
    told = change(of["jct_s"], plain["jct_s"])
    return cell.workload, str(cell.gpus), f"{cell.load:g}", who.label, work, jct, told, p99, longest, rho
