"""The generator against the logs it is like: ``python -m benchmarks.generator_fit [--data DIR] [--seeds N]``.

For each log and seed: the Kolmogorov-Smirnov distances of sizes, durations and gaps, the hourly index of dispersion,
and the mean wait under strict FIFO at loads 0.7 and 0.85. The cluster has 8-GPU nodes, as many as give the log that
load at its own pace; then the gaps of the log and of the generated workload are scaled so that both have that load
exactly.

The logs are compared whole: Philly with its nearly empty first weeks, ITP with its seven clusters pooled (as if they
were one cluster). Below that, for information: Philly without its lead-in and in its busiest four weeks, cut out of the
log and of the generated workloads alike; and one ITP cluster by itself, from a profile fitted to it here and now.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import pointsman
from pointsman.workload import generate
from pointsman.workload.generator import helios
from pointsman.workload.generator.fit import dispersion, fit
from pointsman.workload.generator.generate import generate_from
from pointsman.workload.generator.profile import DAY_S
from pointsman.workload.rescale import at_load
from pointsman.workload.table import Workload

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    if not (options.data / "traces").is_dir():
        print(f"skipped: {options.data}/traces is not there")
        return
    print(f"{'figure':34}{'log':>12}{'generated: median (from, to)':>36}   median within the limit; seeds")
    for case in _cases(options.data / "traces", range(options.seeds)):
        _print_case(case)
    _print_helios(range(options.seeds))


def _cases(traces: Path, seeds: range) -> list[Case]:
    philly, itp = (_log(traces / f"{name}.csv.gz") for name in ("philly_2017", "ms_itp_2021"))
    like_philly = [generate("philly", jobs=philly.jobs.height, cluster_gpus=ANY_GPUS, seed=s) for s in seeds]
    like_itp = [generate("itp", jobs=itp.jobs.height, cluster_gpus=ANY_GPUS, seed=s) for s in seeds]
    one = Workload.of(itp.jobs.filter(pl.col("queue") == "cluster04"))
    profile = fit(one.jobs, "cluster04", "ITP cluster04")
    like_one = [generate_from(profile, jobs=one.jobs.height, cluster_gpus=ANY_GPUS, seed=s) for s in seeds]
    return [
        Case("Philly, whole", philly, like_philly),
        Case("ITP, whole, clusters pooled", itp, like_itp),
        _cut("for information: Philly from 2017-09-24", PHILLY_DENSE, philly, like_philly),
        _cut("for information: Philly 2017-10-02 to 10-29", PHILLY_OCTOBER, philly, like_philly),
        Case("for information: ITP cluster04, its own profile", one, like_one),
    ]


def _log(path: Path) -> Workload:
    return Workload.of(pl.read_csv(path).select("submit_s", "gpus", "duration_s", queue="vc"))


def _cut(name: str, days: tuple[float, float], real: Workload, generated: list[Workload]) -> Case:
    seconds = pl.col("submit_s").is_between(days[0] * DAY_S, days[1] * DAY_S)
    window, *windows = (Workload.of(w.jobs.filter(seconds)) for w in (real, *generated))
    return Case(name, window, windows)


def _print_case(case: Case) -> None:
    print(f"\n{case.name}: {case.real.jobs.height:,} jobs")
    for column, limit in (("gpus", 0.03), ("duration_s", 0.05)):
        ks = [_ks(_values(case.real, column), _values(w, column)) for w in case.generated]
        _print_row(f"KS {column}", None, ks, lambda value, limit=limit: value <= limit)
    ks = [_ks(np.diff(_values(case.real, "submit_s")), np.diff(_values(w, "submit_s"))) for w in case.generated]
    _print_row("KS gaps", None, ks, lambda value: value <= 0.05)
    real = dispersion(_values(case.real, "submit_s"))
    _print_row(
        "hourly dispersion", real, [dispersion(_values(w, "submit_s")) for w in case.generated], _near(real, 0.25)
    )
    _print_row("Spearman(GPUs, duration)", _spearman(case.real), [_spearman(w) for w in case.generated], None)
    for load in LOADS:
        nodes = _nodes(case.real, load)
        real = _wait_s(case.real, nodes, load)
        waits = [_wait_s(w, nodes, load) for w in case.generated]
        _print_row(
            f"FIFO mean wait s, {nodes}x{NODE_GPUS} at {load}",
            real,
            waits,
            lambda value, real=real: real / 1.5 <= value <= real * 1.5,
        )


def _near(real: float, share: float) -> Callable[[float], bool]:
    return lambda value: abs(value - real) <= share * real


def _print_row(name: str, real: float | None, made: list[float], good: Callable[[float], bool] | None) -> None:
    middle = float(np.median(made))
    spread = f"{middle:,.4g} ({min(made):,.4g}, {max(made):,.4g})"
    verdict = "" if good is None else f"{'yes' if good(middle) else 'NO'}; {sum(map(good, made))} of {len(made)} seeds"
    print(f"{name:34}{'' if real is None else format(real, ',.4g'):>12}{spread:>36}   {verdict}")


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
    result = pointsman.simulate(scaled, f"{nodes}x{NODE_GPUS}", "fifo", log=False)
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
        _print_row(name, published, [figure(w) for w in made], None)


def _per_10_min(workload: Workload, percentile: float) -> float:
    return float(np.percentile(np.bincount((_values(workload, "submit_s") // 600).astype(int)), percentile))


def _hours(workload: Workload) -> np.ndarray:
    hour = (_values(workload, "submit_s") // 3600).astype(int) % 24
    return 100 * np.bincount(hour, minlength=24) / hour.size


if __name__ == "__main__":
    main()
