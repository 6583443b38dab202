"""Part 3: the same slow-down for all, from none to 2.5: where sharing ceases to pay."""

from dataclasses import replace
from pathlib import Path

from benchmarks.network.runs import Measured, measure
from benchmarks.results.figures import markdown
from benchmarks.sharing.cells import Cell, run_cell
from benchmarks.sharing.entries import BACKFILL, BSBF, FFS, JOINT, SJF
from benchmarks.sharing.paper import CELLS, EQUAL, Found
from benchmarks.sharing.scope import Scope
from benchmarks.sharing.tables import marked
from benchmarks.sharing.traces import FEWER_JOBS, JOBS, MEDIUM
from pointsman.report.units import digits, duration, percent

SEEDS = 10
LOADS = (0.7, 1.0)
CONSTANTS = (1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5)
ENTRIES = (BSBF, JOINT, FFS, SJF[0], BACKFILL[0])
BASE = BACKFILL[0].label
FIGURE = Path("docs/results/sharing-xi.png")
HEAD = (
    "jobs", "ξ", "sjf-backfill", "its queueing", "sjf-bsbf", "its queueing", "shared", "slow-down",
    "against sjf-backfill", "sjf", "sjf-ffs", "joint against sjf-backfill", "sjf", "sjf-bsbf", "its shared",
    "sjf-ffs against sjf-backfill", "its slow-down",
)  # fmt: skip


def constants(scope: Scope) -> Found:
    """A table, and a picture of it."""
    jobs = FEWER_JOBS if scope.quick else JOBS
    logs = (Cell(name, MEDIUM, jobs, load=load) for name in scope.logs for load in scope.few(LOADS))
    swept = [replace(cell, interference=f"{xi:g}") for cell in (CELLS[0], EQUAL, *logs) for xi in scope.few(CONSTANTS)]
    found = measure("constants", swept, ENTRIES, scope.seeds(SEEDS), scope.data, run_cell)
    if not scope.quick:
        _draw(found)
    return {"constants": markdown(HEAD, [_row(one) for one in found], words=2)}, found


def told(cell: Cell) -> str:
    """The jobs, in a few words."""
    return f"{cell.workload}, load {cell.load:g}" if cell.load else cell.workload


def _row(one: Measured) -> tuple[str, ...]:
    def mean(label: str, figure: str) -> float:
        return one.mean(label, figure)

    own, joint, ffs, sjf, base = (entry.label for entry in ENTRIES)
    return (
        told(one.cell),
        one.cell.interference,
        *(duration(mean(label, figure)) for label in (base, own) for figure in ("jct_s", "queued_s")),
        percent(mean(own, "shared")),
        digits(mean(own, "slow_down")),
        *(marked(one, label) for label in (base, sjf, ffs)),
        *(marked(one, label, joint) for label in (base, sjf, own)),
        percent(mean(joint, "shared")),
        marked(one, base, ffs),
        digits(mean(ffs, "slow_down")),
    )


def _draw(found: list[Measured]) -> None:
    """Mean JCT against that of `sjf-backfill`, a panel for each kind of jobs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(told(one.cell) for one in found))
    figure, axes = plt.subplots(2, (len(names) + 1) // 2, figsize=(10, 6), sharex=True, layout="constrained")
    for axis, name in zip(axes.T.flat, names, strict=True):
        of_name = [one for one in found if told(one.cell) == name]
        for entry, marker in zip(ENTRIES[:-1], "osD^", strict=True):
            ratios = [one.mean(entry.label, "jct_s") / one.mean(BASE, "jct_s") for one in of_name]
            axis.plot([float(one.cell.interference) for one in of_name], ratios, marker=marker, ms=4, label=entry.label)
        axis.axhline(1.0, color="black", lw=0.8)
        axis.set(title=name, yscale="log")
        axis.set_yticks([0.5, 0.7, 1, 1.5, 2, 3, 4], labels=["0.5", "0.7", "1", "1.5", "2", "3", "4"])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("ξ, the same for all pairs")
    for axis in axes[:, 0]:
        axis.set_ylabel("mean JCT / that of sjf-backfill")
    axes[0, 0].legend(frameon=False, fontsize="small")
    figure.savefig(FIGURE, dpi=110, metadata={"Software": None})
    plt.close(figure)
