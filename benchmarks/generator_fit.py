"""The generator against the logs it is like: ``python -m benchmarks.generator_fit [--data DIR] [--seeds N]``.

``python -m benchmarks generator`` measures the same, of whole logs alone, and compares it with its limits.

For each log and seed: the Kolmogorov-Smirnov distances of sizes, durations and gaps, the hourly index of dispersion,
and the mean wait under strict FIFO at loads 0.7 and 0.85. The cluster has 8-GPU nodes, as many as give the log that
load at its own pace; then the gaps of the log and of the generated workload are scaled so that both have that load
exactly.

The logs are compared whole: Philly with its nearly empty first weeks, ITP with its seven clusters pooled (as if they
were one cluster). Below that, for information: Philly without its lead-in and in its busiest four weeks, cut out of the
log and of the generated workloads alike; and one ITP cluster by itself, from a profile fitted to it here and now.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import pointsman
from benchmarks.measures import Measure
from pointsman.workload import generate
from pointsman.workload.generator import helios
from pointsman.workload.generator.fit import dispersion, fit_profile
from pointsman.workload.generator.generate import generate_from
from pointsman.workload.generator.profile import DAY_S
from pointsman.workload.table import Workload
from pointsman.workload.transforms.rescale import at_load

LOADS = (0.7, 0.85)
NODE_GPUS = 8
ANY_GPUS = 1 << 20
PHILLY_DENSE = (20.0, 110.0)
PHILLY_OCTOBER = (27.56, 55.56)
"""Days from the first submission: from 2017-09-24 on, and from 2017-10-02 to 10-29."""


@dataclass(frozen=True)
class Case:
    name: str
    real: Workload
    generated: list[Workload]


def _apart(value: float) -> float:
    """Of a distance: itself."""
    return value


@dataclass(frozen=True)
class Figure:
    """One figure of each generated workload, beside the log's."""

    name: str
    real: float | None
    made: list[float]
    limit: float | None = None
    off: Callable[[float], float] = _apart
    """How far a value is from the log's, to be at most `limit`."""

    @property
    def median(self) -> float:
        return float(np.median(self.made))


def generator(data: Path, seeds: int = 5) -> Iterator[Measure]:
    """How far the figures of whole logs are off, by the median over the seeds."""
    if not _is_there(data):
        return
    for name, case in _whole(data / "traces", range(seeds)).items():
        for figure in _figures(case):
            if figure.limit is not None:
                yield Measure(f"generator/{name}/{figure.name.replace(' ', '_')}", figure.off(figure.median))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    if not _is_there(options.data):
        return
    print(f"{'figure':34}{'log':>12}{'generated: median (from, to)':>36}   median within the limit; seeds")
    whole = _whole(options.data / "traces", range(options.seeds))
    for case in (*whole.values(), *_parts(whole, range(options.seeds))):
        print(f"\n{case.name}: {case.real.jobs.height:,} jobs")
        for figure in _figures(case):
            _print_row(figure)
    _print_helios(range(options.seeds))


def _is_there(data: Path) -> bool:
    found = (data / "traces").is_dir()
    if not found:
        print(f"generator: skipped, for {data}/traces is not there")
    return found


def _whole(traces: Path, seeds: range) -> dict[str, Case]:
    """The logs, each with as many jobs like it."""
    cases = {}
    for like, file, name in (
        ("philly", "philly_2017", "Philly, whole"),
        ("itp", "ms_itp_2021", "ITP, whole, clusters pooled"),
    ):
        log = _log(traces / f"{file}.csv.gz")
        made = [generate(like, jobs=log.jobs.height, cluster_gpus=ANY_GPUS, seed=seed) for seed in seeds]
        cases[like] = Case(name, log, made)
    return cases


def _parts(whole: dict[str, Case], seeds: range) -> list[Case]:
    """For information: stretches of Philly, and one cluster of ITP with its own profile."""
    philly, itp = whole["philly"], whole["itp"]
    one = Workload.of(itp.real.jobs.filter(pl.col("queue") == "cluster04"))
    profile = fit_profile(one.jobs, "cluster04", "ITP cluster04")
    like_one = [generate_from(profile, jobs=one.jobs.height, cluster_gpus=ANY_GPUS, seed=s) for s in seeds]
    return [
        _cut("for information: Philly from 2017-09-24", PHILLY_DENSE, philly.real, philly.generated),
        _cut("for information: Philly 2017-10-02 to 10-29", PHILLY_OCTOBER, philly.real, philly.generated),
        Case("for information: ITP cluster04, its own profile", one, like_one),
    ]


def _log(path: Path) -> Workload:
    return Workload.of(pl.read_csv(path).select("submit_s", "gpus", "duration_s", queue="vc"))


def _cut(name: str, days: tuple[float, float], real: Workload, generated: list[Workload]) -> Case:
    seconds = pl.col("submit_s").is_between(days[0] * DAY_S, days[1] * DAY_S)
    window, *windows = (Workload.of(w.jobs.filter(seconds)) for w in (real, *generated))
    return Case(name, window, windows)


def _figures(case: Case) -> Iterator[Figure]:
    for column, limit in (("gpus", 0.03), ("duration_s", 0.05)):
        real = _values(case.real, column)
        yield Figure(f"KS {column}", None, [_ks(real, _values(w, column)) for w in case.generated], limit)
    submits, made = _values(case.real, "submit_s"), [_values(w, "submit_s") for w in case.generated]
    yield Figure("KS gaps", None, [_ks(np.diff(submits), np.diff(times)) for times in made], 0.05)
    real = dispersion(submits)
    yield Figure("hourly dispersion", real, [dispersion(times) for times in made], 0.25, _relative(real))
    yield Figure("Spearman(GPUs, duration)", _spearman(case.real), [_spearman(w) for w in case.generated])
    for load in LOADS:
        nodes = _nodes(case.real, load)
        real = _wait_s(case.real, nodes, load)
        waits = [_wait_s(w, nodes, load) for w in case.generated]
        yield Figure(f"FIFO wait at {load}", real, waits, 1.5, _factor(real))


def _relative(real: float) -> Callable[[float], float]:
    return lambda value: abs(value / real - 1)


def _factor(real: float) -> Callable[[float], float]:
    return lambda value: max(value / real, real / value)


def _print_row(figure: Figure) -> None:
    spread = f"{figure.median:,.4g} ({min(figure.made):,.4g}, {max(figure.made):,.4g})"
    verdict = ""
    if figure.limit is not None:
        good = [figure.off(value) <= figure.limit for value in (figure.median, *figure.made)]
        verdict = f"{'yes' if good[0] else 'NO'}; {sum(good[1:])} of {len(figure.made)} seeds"
    real = "" if figure.real is None else format(figure.real, ",.4g")
    print(f"{figure.name:34}{real:>12}{spread:>36}   {verdict}")


def _values(workload: Workload, column: str) -> np.ndarray:
    return workload.jobs[column].to_numpy()


def _ks(a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance between the two empirical distribution functions."""
    both = np.unique(np.concatenate((a, b)))
    share = [np.searchsorted(np.sort(x), both, side="right") / x.size for x in (a, b)]
    return float(np.abs(share[0] - share[1]).max())


def _spearman(workload: Workload) -> float:
    return float(workload.jobs.select(pl.corr("gpus", "duration_s", method="spearman")).item())


def _nodes(workload: Workload, load: float) -> int:
    """Nodes on which the log has about that load at its own pace, and its widest gang fits."""
    jobs = workload.jobs
    busy = (jobs["gpus"] * jobs["duration_s"]).sum() / (jobs["submit_s"][-1] - jobs["submit_s"][0])
    return max(round(busy / load / NODE_GPUS), -(-jobs["gpus"].max() // NODE_GPUS))


def _wait_s(workload: Workload, nodes: int, load: float) -> float:
    scaled = at_load(workload, nodes * NODE_GPUS, load)
    result = pointsman.simulate(scaled, f"{nodes}x{NODE_GPUS}", "fifo", overheads="none", log=False)
    return float(result.jobs["wait_s"].mean())


def _print_helios(seeds: range) -> None:
    made = [generate("helios", jobs=helios.JOBS, cluster_gpus=6220, seed=seed) for seed in seeds]
    print(f"\nHelios, published figures: {helios.JOBS:,} jobs")
    figures: list[tuple[str, float, Callable[[Workload], float]]] = [
        ("mean GPUs", helios.MEAN_GPUS, lambda w: _values(w, "gpus").mean()),
        ("median duration s", helios.MEDIAN_S, lambda w: float(np.median(_values(w, "duration_s")))),
        ("mean duration s", helios.MEAN_S, lambda w: _values(w, "duration_s").mean()),
        ("mean GPUs × duration s", helios.MEAN_WORK_GPU_S, lambda w: (w.jobs["gpus"] * w.jobs["duration_s"]).mean()),
        ("10-minute dispersion", helios.DISPERSION_10_MIN, lambda w: dispersion(_values(w, "submit_s"), 600.0)),
        ("10-minute p50", 3, lambda w: _per_10_min(w, 50)),
        ("10-minute p90", 11, lambda w: _per_10_min(w, 90)),
        ("10-minute p99", 26, lambda w: _per_10_min(w, 99)),
        ("10-minute most", 717, lambda w: _per_10_min(w, 100)),
        ("worst hour, % of jobs off", 0, lambda w: float(np.abs(_hours(w) - np.array(helios.HOURLY)).max())),
    ]
    figures += [
        (f"{name} % of jobs", 100 * share, lambda w, name=name: 100 * float((w.jobs["status"] == name).mean()))
        for name, share in helios.STATUS["jobs"].items()
    ]
    for name, published, figure in figures:
        _print_row(Figure(name, published, [figure(w) for w in made]))


def _per_10_min(workload: Workload, percentile: float) -> float:
    return float(np.percentile(np.bincount((_values(workload, "submit_s") // 600).astype(int)), percentile))


def _hours(workload: Workload) -> np.ndarray:
    hour = (_values(workload, "submit_s") // 3600).astype(int) % 24
    return 100 * np.bincount(hour, minlength=24) / hour.size


if __name__ == "__main__":
    main()
