"""The all-reduce against measured collectives, and laws of two jobs on one link against measured slow-downs."""

from collections.abc import Callable
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from benchmarks.profile_fit_data import even, rows
from pointsman.speed import max_min_rates
from pointsman.speed.fitting.measurements import Step
from pointsman.speed.fitting.step_law import Cards, Rings

Numbers = NDArray[np.float64]
SOFT = 0.05
FOLDS = 10
ETA_OVER_B = 0.235 / 0.856
"""LWF's measured 10 GbE: b = 0.856 ms/MB, η = 0.235 ms/MB."""


class CollectiveError(NamedTuple):
    """An all-reduce layout of one cluster."""

    cluster: str
    layout: str
    rows: int
    own: float
    """Median error of a line through this layout alone: what any law linear in the bytes leaves."""
    large: float
    """Median error of the cluster's one law, sizes from 1 MB."""
    small: float
    """The same below 1 MB, where latency rules."""


def collective_errors() -> list[CollectiveError]:
    """One hierarchical ring law per cluster (bandwidth and latency in and between nodes), by layout."""
    found = []
    table = [r for r in rows("vidur_network.csv.gz") if r["collective"] == "all_reduce"]
    for cluster in sorted({r["cluster"] for r in table}):
        own = [r for r in table if r["cluster"] == cluster]
        steps = [_transfer(r) for r in own]
        time_s = np.array([float(r["median_ms"]) / 1e3 for r in own])
        errors = _law_errors(steps, time_s)
        for placement in sorted({step.placement for step in steps}):
            at = np.array([step.placement == placement for step in steps])
            here = [step for step in steps if step.placement == placement]
            large = np.array([step.gradient_bytes >= 1e6 for step in here])
            lone = np.median(_law_errors(here, time_s[at]))
            layout = "-".join(map(str, placement))
            of = [float(np.median(errors[at][part])) for part in (large, ~large)]
            found.append(CollectiveError(cluster, layout, len(here), float(lone), *of))
    return found


def _transfer(r: dict[str, str]) -> Step:
    workers, per_node = int(r["num_workers"]), int(r["devices_per_node"])
    return Step(0, "", "", even(workers, workers // per_node), 1.0, 1.0, nan, float(r["size_bytes"]))


def _law_errors(steps: list[Step], time_s: Numbers) -> Numbers:
    """Relative errors of the best law, whoever shares network cards in it; layouts weigh the same."""
    return min((_fitted_errors(steps, time_s, cards) for cards in ("node", "gpu")), key=lambda found: found[0])[1]


def _fitted_errors(steps: list[Step], time_s: Numbers, cards: Cards) -> tuple[float, Numbers]:
    rings = Rings.of(steps, cards)
    start = np.log([1e-11, 1e-10, 1e-5, 1e-4])
    fit = least_squares(lambda x: np.log(rings.time_s(*np.exp(x)) / time_s), start, loss="soft_l1", f_scale=SOFT)
    return float(fit.cost), np.abs(rings.time_s(*np.exp(fit.x)) / time_s - 1)


class SharingError(NamedTuple):
    """A law of two jobs on one link."""

    law: str
    median: float
    p90: float
    left_out: float
    """Median with pairs of jobs left out, a tenth at a time."""


def _persistent(mine: Numbers, other: Numbers) -> Numbers:
    return 1 / (1 + mine)


def _duty_cycle(mine: Numbers, other: Numbers) -> Numbers:
    return np.minimum(mine, np.maximum(0.5, 1 - other)) / mine


def _lwf(mine: Numbers, other: Numbers) -> Numbers:
    return 1 / (1 + mine * (1 + ETA_OVER_B))


def _lwf_by_chance(mine: Numbers, other: Numbers) -> Numbers:
    return 1 / (1 + mine * other * (1 + ETA_OVER_B))


def _by_chance(mine: Numbers, other: Numbers) -> Numbers:
    return 1 / (1 + mine * other)


LAWS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "no contention": lambda mine, other: np.ones_like(mine),
    "max–min fair, persistent demand: 1/(1 + u)": _persistent,
    "max–min fair, duty-cycle demand: min(u, max(1/2, 1 − v))/u": _duty_cycle,
    "halved while both communicate: 1/(1 + u·v)": _by_chance,
    "LWF, k = 2 throughout: 1/(1 + u·(1 + η/b))": _lwf,
    "LWF while both communicate: 1/(1 + u·v·(1 + η/b))": _lwf_by_chance,
}
"""Speed of a job that needs the link for a share u of its time, beside one that needs it for v of its own."""


def sharing_errors() -> list[SharingError]:
    """Each law with the shares u that fit it best: one unknown number for each of 36 jobs, 1,296 measured ratios."""
    table = rows("deepshare_network_sharing.csv")
    names = [tuple((r[f"model_{x}"], r[f"gpus_{x}"], r[f"gpus_per_node_{x}"]) for x in "ab") for r in table]
    jobs = sorted({job for pair in names for job in pair})
    pair = np.array([[jobs.index(job) for job in both] for both in names])
    ratio = np.array([float(r["ratio_a"]) for r in table])
    return [_sharing(law, predict, pair, ratio) for law, predict in LAWS.items()]


def _sharing(law: str, predict: Callable[[Numbers, Numbers], Numbers], pair: NDArray, ratio: Numbers) -> SharingError:
    everything = np.ones(len(ratio), bool)
    shares = _shares(predict, pair, ratio, everything)
    if predict is _duty_cycle:
        _assert_is_max_min(shares)
    seen = np.abs(predict(shares[pair[:, 0]], shares[pair[:, 1]]) / ratio - 1)
    left_out = np.empty_like(ratio)
    fold = np.random.default_rng(0).integers(0, FOLDS, (len(shares), len(shares)))
    of = fold[pair.min(axis=1), pair.max(axis=1)]  # A beside B and B beside A are one pair
    for k in range(FOLDS):
        without = _shares(predict, pair, ratio, of != k)
        out = of == k
        left_out[out] = np.abs(predict(without[pair[out, 0]], without[pair[out, 1]]) / ratio[out] - 1)
    return SharingError(law, *(float(np.quantile(seen, q)) for q in (0.5, 0.9)), float(np.median(left_out)))


def _shares(predict: Callable[[Numbers, Numbers], Numbers], pair: NDArray, ratio: Numbers, used: NDArray) -> Numbers:
    mine, other, measured = pair[used, 0], pair[used, 1], ratio[used]
    jobs = int(pair.max()) + 1

    def residuals(u: Numbers) -> Numbers:
        return predict(u[mine], u[other]) / measured - 1

    fits = [
        least_squares(residuals, np.full(jobs, start), bounds=(1e-3, 1.0), loss="soft_l1", f_scale=SOFT)
        for start in (0.3, 0.6, 0.9)
    ]
    return min(fits, key=lambda fit: fit.cost).x


def _assert_is_max_min(shares: Numbers) -> None:
    """The formula for two jobs is what `max_min_rates` says of them."""
    for u in shares:
        for v in shares:
            by_formula = _duty_cycle(np.array([u]), np.array([v]))[0] * u
            assert abs(max_min_rates([[0], [0]], [u, v], [1.0])[0] - by_formula) < 1e-12
