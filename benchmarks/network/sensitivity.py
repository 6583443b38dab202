"""Part 3: timers that are wrong, parameters of the tuner, and a load that doubles."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.classical.tables import markdown
from benchmarks.network.cells import BASE, VARIANTS, Entry
from benchmarks.network.dally import Found
from benchmarks.network.jobs import cluster, doubled, fitting, sample
from benchmarks.network.runs import WORKERS, measure
from benchmarks.network.scope import Scope
from benchmarks.network.tables import against, between
from pointsman.api import simulate
from pointsman.policies.dally import Dally
from pointsman.report.confidence import mean_interval
from pointsman.report.units import NOTHING, duration
from pointsman.workers import side_by_side
from pointsman.workload.generator.profile import DAY_S

DEFAULT = Dally()
CONSOLIDATED, NOWAIT, MANUAL, _ = VARIANTS


def _manual(factor: float) -> Entry:
    timers = {name: factor * getattr(DEFAULT, name) for name in ("node_timer_s", "rack_timer_s")}
    return Entry(f"manual × {factor:g}", "dally-manual", timers)


TIMERS = (BASE, NOWAIT, _manual(0.1), _manual(1), _manual(10), CONSOLIDATED)
KNOBS = (
    BASE,
    *(Entry(f"deviations = {value:g}", "dally", {"deviations": value}) for value in (0.0, 2.0)),
    *(Entry(f"epsilon = {value:g}", "dally", {"epsilon": value}) for value in (0.02, 0.1)),
    *(Entry(f"quantum = {value // 60} min", "dally", {"quantum_s": value}) for value in (300, 7200)),
)


def sensitivity(scope: Scope) -> Found:
    """What other timers and other parameters do."""
    opened = [cell for cell in scope.over_sizes() if cell.gpus == scope.gpus]
    cells = [each for cell in opened for each in (cell, replace(cell, load=None))]
    timers = measure("timers", cells, TIMERS, scope.seeds, scope.data)
    knobs = measure("knobs", cells, KNOBS, scope.seeds, scope.data)
    labels, others = ([entry.label for entry in entries[1:]] for entries in (TIMERS, KNOBS))
    tables = {
        "timers": against(timers, "jct_s", labels),
        "timers-communication": against(timers, "comm_s", labels),
        "knobs": against(knobs, "jct_s", others),
        "knobs-communication": against(knobs, "comm_s", others),
    }
    return tables, []


BEFORE, SHOWN, LOAD, CONGESTION = 10, range(-5, 9), 0.5, 16.0
"""The load goes from 0.5 to 1 after so many days; the days shown, counted from then."""

FOLLOWED = (BASE, MANUAL, NOWAIT, CONSOLIDATED)


def doubling(scope: Scope) -> Found:
    """JCT, queueing and communication of the jobs of each day around a doubling of the load."""
    calls = [(scope.workloads[0], scope.gpus, seed, scope.data) for seed in range(scope.doubling_seeds)]
    runs = np.array(list(side_by_side(_followed, calls, WORKERS)), dtype=np.float64)
    tables = {
        f"doubling-{figure}": _by_day(runs[..., i]) for i, figure in enumerate(("jct", "queueing", "communication"))
    }
    return tables, []


def _followed(name: str, gpus: int, seed: int, data: Path) -> list[list[tuple[float, ...]]]:
    """(policies, days, 3) means of JCT, queueing and communication of the jobs submitted on each day."""
    mean_gpu_s = float(fitting(name, data, gpus).select((pl.col("gpus") * pl.col("duration_s")).mean()).item())
    before = round(BEFORE * LOAD * gpus * DAY_S / mean_gpu_s)
    jobs = doubled(sample(name, data, gpus, 3 * before, seed, ("typical", 0)), gpus, LOAD, seed, before)
    run = partial(simulate, jobs, cluster(gpus, "ib"), seed=seed, congestion={"network": CONGESTION}, log=False)
    return [_days(run(entry.policy, params=entry.params).jobs, before) for entry in FOLLOWED]


def _days(jobs: pl.DataFrame, before: int) -> list[tuple[float, ...]]:
    day = ((pl.col("submit_s") - jobs["submit_s"][before]) / DAY_S).floor().cast(pl.Int64)
    queued = pl.col("jct_s") - pl.col("run_s")
    means = jobs.group_by(day=day).agg(pl.col("jct_s").mean(), queued=queued.mean(), comm=pl.col("comm_s").mean())
    shown = pl.DataFrame({"day": SHOWN}).join(means, on="day", how="left", maintain_order="left")
    return shown.drop("day").rows()


def _by_day(values: np.ndarray) -> str:
    """Of (seeds, policies, days): means, and how Dally's differ from those of the fixed timers."""
    rows = []
    for i, day in enumerate(SHOWN):
        on_day = values[~np.isnan(values[:, :, i]).any(axis=1), :, i]  # the last days may lack jobs
        interval, base = mean_interval(on_day[:, 0] - on_day[:, 1]), float(on_day[:, 1].sum()) / max(1, len(on_day))
        told = between((interval[0] / base, interval[1] / base)) if interval and base else NOTHING
        rows.append((f"{day:+d}", *(duration(float(value)) for value in on_day.mean(axis=0)), told))
    return markdown(("day", *(entry.label for entry in FOLLOWED), "dally to dally-manual, 95 % CI"), rows)
