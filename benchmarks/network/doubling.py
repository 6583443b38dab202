"""Part 3: a load that doubles, and how the auto-tuner follows."""

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.network.cells import BASE
from benchmarks.network.dally import Found
from benchmarks.network.jobs import cluster, doubled, fitting, sample
from benchmarks.network.runs import WORKERS
from benchmarks.network.scope import Scope
from benchmarks.network.sensitivity import CONSOLIDATED, DEFAULT, MANUAL, NOWAIT
from benchmarks.network.tables import between
from benchmarks.results.figures import markdown
from pointsman.api import open_simulation, simulate
from pointsman.engine.run.simulation import Simulation
from pointsman.experiment import RunOptions
from pointsman.parallel.pool import Processes
from pointsman.policies.dally import tuner
from pointsman.policies.parts import levels
from pointsman.policies.registry import get_policy
from pointsman.report.metrics.confidence import mean_interval
from pointsman.report.units import NOTHING, duration, percent
from pointsman.workload import Workload
from pointsman.workload.generator.profile import DAY_S

TIMERS = ((levels.NODE, 2), (levels.NODE, 4), (levels.NODE, 8), (levels.RACK, 16))
"""Level and width of gang."""

BEFORE, SHOWN, LOAD, CONGESTION = 10, range(-5, 9), 0.5, 16.0
"""The load goes from 0.5 to 1 after so many days; the days shown, counted from then."""

FOLLOWED = (BASE, MANUAL, NOWAIT, CONSOLIDATED)


def doubling(scope: Scope) -> Found:
    """JCT, queueing and communication of the jobs of each day around a doubling of the load."""
    calls = [(scope.workloads[0], scope.gpus, seed, scope.data) for seed in range(scope.doubling_seeds)]
    runs = np.array(list(Processes(WORKERS)(_followed, calls)), dtype=np.float64)
    tables = {
        f"doubling-{figure}": _by_day(runs[..., i]) for i, figure in enumerate(("jct", "queueing", "communication"))
    }
    timers = np.array(list(Processes(WORKERS)(_timers, calls)), dtype=np.float64)
    return {"doubling-timers": _timers_by_day(timers), **tables}, []


def _jobs(name: str, gpus: int, seed: int, data: Path) -> tuple[Workload, int]:
    """The jobs, and how many of them come before the load doubles."""
    mean_gpu_s = float(fitting(name, data, gpus).select((pl.col("gpus") * pl.col("duration_s")).mean()).item())
    before = round(BEFORE * LOAD * gpus * DAY_S / mean_gpu_s)
    return doubled(sample(name, data, gpus, 3 * before, seed, ("typical", 0)), gpus, LOAD, seed, before), before


def _followed(name: str, gpus: int, seed: int, data: Path) -> list[list[tuple[float, ...]]]:
    """(policies, days, 3) means of JCT, queueing and communication of the jobs submitted on each day."""
    jobs, before = _jobs(name, gpus, seed, data)
    run = partial(simulate, jobs, cluster(gpus, "ib"), seed=seed, congestion={"network": CONGESTION},
                  overheads="none", log=False)  # fmt: skip
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


def _timers(name: str, gpus: int, seed: int, data: Path) -> list[list[float]]:
    """(days, timers) seconds in force under Dally at the beginning of each day, NaN where the default is."""
    jobs, before = _jobs(name, gpus, seed, data)
    spec = get_policy("dally")
    options = RunOptions(seed=seed, congestion={"network": CONGESTION}, overheads="none", log=False)
    simulation, _ = open_simulation(jobs, cluster(gpus, "ib"), spec, spec.make(), options)
    days = []
    for day in SHOWN:
        simulation.run(round(1000 * (float(jobs.jobs["submit_s"][before]) + day * DAY_S)))
        days.append([_timer_s(simulation, level, width) for level, width in TIMERS])
    return days


def _timer_s(simulation: Simulation, level: int, gpus: int) -> float:
    """As the tuner computes it (`policies.dally.tuner`), read off its memory."""
    memory = np.asarray(simulation.handle.state.memory)[: tuner.TUNER_MEMORY]
    bins = memory.reshape(-1, tuner.DEMANDS, tuner.BINS, tuner.FIELDS)[level - levels.NODE, (gpus - 1).bit_length()]
    oldest = simulation.now_ms * tuner.BINS // round(1000 * DEFAULT.history_s) + 1 - tuner.BINS
    held = bins[(bins[:, tuner.STAMP] > oldest) & (bins[:, tuner.STAMP] > 0)].sum(axis=0)
    if held[tuner.COUNT] < DEFAULT.least_entries:
        return float("nan")
    seen = max(held[tuner.SEEN], 1.0)
    squares = seen * held[tuner.SEEN_SQUARES] - held[tuner.SEEN_SUM] ** 2
    timer_s = held[tuner.SUM] / held[tuner.COUNT] + DEFAULT.deviations * np.sqrt(max(squares, 0.0)) / seen
    return min(timer_s, DEFAULT.longest_timer_s)


def _timers_by_day(values: np.ndarray) -> str:
    """Of (seeds, days, timers): the median of those that are tuned, and how many are not."""
    head = ("day", *(f"{'node' if level == levels.NODE else 'rack'}, {width} GPUs" for level, width in TIMERS))
    return markdown(head, [(f"{day:+d}", *map(_told, values[:, i].T)) for i, day in enumerate(SHOWN)])


def _told(timers: np.ndarray) -> str:
    tuned = timers[~np.isnan(timers)]
    median = duration(float(np.median(tuned))) if len(tuned) else NOTHING
    return f"{median} ({percent(1 - len(tuned) / len(timers))})"
