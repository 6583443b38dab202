"""Cost per event as the log and the cluster grow, at equal load.

As the cluster grows no gang takes more than an eighth of it. One as wide as the cluster empties it before it starts:
a strict queue cannot keep up with such gangs at this load, and what is measured is a queue that grows without end.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from benchmarks.measures import Measure, cpu_s
from benchmarks.runs import Case, open_case, touch

POLICIES = ("fifo", "fifo-backfill", "srtf", "las")
LOAD = 0.9
NODES, JOBS = 800, 200_000
GPUS_SWEEP = (8, 32, 128, 512, 2048, 8192)  # nodes of 8 GPUs: 64 to 65,536 GPUs
FIGURE = Path(__file__).parent.parent / "docs" / "results" / "scaling.svg"


def scaling(jobs: int) -> Iterator[Measure]:
    """What an event costs by size, and the most over the least expensive one of each sweep."""
    sizes = [n for n in (1000, 10_000, 100_000, 1_000_000) if n <= jobs]
    by_jobs = {p: [(n, _ns_per_event(Case(n, NODES, LOAD), p)) for n in sizes] for p in POLICIES}
    by_gpus = {p: [(8 * m, _ns_per_event(Case(JOBS, m, LOAD, widest=m), p)) for m in GPUS_SWEEP] for p in POLICIES}
    for sweep, curves in (("jobs", by_jobs), ("gpus", by_gpus)):
        for policy, curve in curves.items():
            for size, costs in curve:
                yield Measure(f"scaling/{sweep}/{policy}/{size}", costs, "ns/event")
            typical = [median(costs) for _, costs in curve]
            yield Measure(f"scaling/{sweep}/{policy}", max(typical) / min(typical), "x")


def _ns_per_event(case: Case, policy: str) -> list[float]:
    """CPU nanoseconds per event, by run; a preemption counts as one."""
    found = []
    for _ in range(max(3, min(30, 200_000 // case.jobs))):
        simulation, _ = open_case(case, policy)
        touch(simulation)
        seconds = cpu_s(simulation.run)
        handle = simulation.handle
        events = int(handle.world.clock[0]["events"]) + int(handle.state.g[0]["preempts"])
        found.append(1e9 * seconds / events)
    return found


def draw(medians: Mapping[str, float]) -> None:
    """The figure in the docs: both sweeps as SVG, of the ns of an event by the names of the figures."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "pointsman"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    titles = (f"{8 * NODES:,} GPUs", f"{JOBS:,} jobs")
    for axis, sweep, label, title in zip(axes, ("jobs", "gpus"), ("jobs", "GPUs"), titles, strict=True):
        for policy, marker in zip(POLICIES, "os^D", strict=True):
            curve = _curve(medians, f"scaling/{sweep}/{policy}/")
            axis.plot([size for size, _ in curve], [ns for _, ns in curve], marker=marker, label=policy)
        axis.set(xscale="log", xlabel=label, title=title)
        axis.grid(alpha=0.3)
    axes[0].set_ylim(bottom=0)
    axes[0].set_ylabel("CPU time per event (ns)")
    axes[1].legend(frameon=False)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)


def _curve(medians: Mapping[str, float], sweep: str) -> list[tuple[int, float]]:
    """Sizes, and what an event costs there (ns)."""
    return sorted((int(name.removeprefix(sweep)), ns) for name, ns in medians.items() if name.startswith(sweep))
