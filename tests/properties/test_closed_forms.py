"""Queueing theory knows these means; they must lie in 99 % intervals from the engine, and the intervals must be narrow.

Each interval is Student's, from independent replications that leave out their first tenth. Times are in units of
1,000 s, so that rounding to milliseconds does not show.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

import pointsman
from tests.free import simulate

REPLICATIONS, JOBS = 20, 20_000
UNIT_S = 1000.0
Times = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Times]


@dataclass(frozen=True)
class Replication:
    """Jobs after the warm-up, in units of time."""

    size: Times
    wait: Times
    sojourn: Times


def replicate(
    policy: str, arrivals_per_unit: float, draw: Draw, cluster: str = "1x1", params: dict[str, Any] | None = None
) -> list[Replication]:
    """Independent runs of Poisson arrivals of one-GPU jobs."""
    runs = []
    for seed in range(REPLICATIONS):
        random = np.random.default_rng(seed)
        size = draw(random, JOBS)
        submit = np.cumsum(random.exponential(1 / arrivals_per_unit, JOBS))
        frame = pl.DataFrame(
            {"submit_s": submit * UNIT_S, "gpus": np.ones(JOBS, np.int64), "duration_s": size * UNIT_S}
        )
        jobs = simulate(pointsman.Workload.of(frame), cluster, policy, params=params, log=False).jobs
        sojourn = jobs["jct_s"].to_numpy()[JOBS // 10 :] / UNIT_S
        size = size[JOBS // 10 :]
        runs.append(Replication(size, sojourn - size, sojourn))
    return runs


def interval(means: list[float]) -> tuple[float, float]:
    """The 99 % interval of the mean, which must be no wider than a fifth of it."""
    middle, error = float(np.mean(means)), stats.sem(means)
    half = float(stats.t.ppf(0.995, len(means) - 1) * error)
    assert half < 0.1 * middle, "too few jobs to tell anything"
    return middle - half, middle + half


def check_mean(runs: list[Replication], expected: float, measure: Callable[[Replication], Times]) -> None:
    low, high = interval([float(measure(run).mean()) for run in runs])
    assert low <= expected <= high, f"expected {expected:.4f}, simulated {low:.4f} .. {high:.4f}"


def waits(run: Replication) -> Times:
    return run.wait


def sojourns(run: Replication) -> Times:
    return run.sojourn


def exponential(random: np.random.Generator, n: int) -> Times:
    return random.exponential(1.0, n)


def erlang_c(servers: int, offered: float) -> float:
    """The probability of waiting in M/M/c."""
    terms = [offered**k / math.factorial(k) for k in range(servers)]
    last = offered**servers / math.factorial(servers) * servers / (servers - offered)
    return last / (sum(terms) + last)


@pytest.mark.parametrize(("servers", "cluster", "load"), [(1, "1x1", 0.7), (3, "3x1", 0.8), (6, "2x3", 0.8)])
@pytest.mark.parametrize("policy", ["fifo", "fifo-backfill"])
def test_m_m_c_is_erlang_c(policy: str, servers: int, cluster: str, load: float) -> None:
    offered = servers * load
    runs = replicate(policy, offered, exponential, cluster)
    check_mean(runs, erlang_c(servers, offered) / (servers - offered), waits)


@pytest.mark.parametrize("policy", ["fifo", "las", "tiresias"])
def test_m_m_1_is_the_same_in_mean_whoever_goes_first_without_knowing_durations(policy: str) -> None:
    """1 / (mu - lambda): memoryless jobs do not tell by their past how long they will take."""
    threshold = {"las": [1000.0], "tiresias": [500.0, 2000.0]}
    params = {"thresholds_gpu_s": threshold[policy]} if policy in threshold else None
    runs = replicate(policy, 0.7, exponential, params=params)
    check_mean(runs, 1 / (1 - 0.7), sojourns)
    if params:
        assert sum(np.count_nonzero(run.wait > 1e-6) for run in runs) > JOBS


def test_two_on_a_gpu_that_each_run_at_half_speed_are_one_server() -> None:
    """K = 2 and ξ = 2: together they get as much done as one alone, so M/M/1 has mean 1 / (mu - lambda), if those that
    wait come in their order. They do where all are thought to be of one length.
    """

    def run(random: np.random.Generator, n: int) -> Any:
        frame = pl.DataFrame(
            {
                "submit_s": np.cumsum(random.exponential(1 / 0.7, n)) * UNIT_S,
                "gpus": np.ones(n, np.int64),
                "duration_s": exponential(random, n) * UNIT_S,
                "time_limit_s": np.full(n, UNIT_S),
                "model": ["ncf"] * n,
            }
        )
        options: dict[str, Any] = {"estimate": "limit", "interference": "2", "log": False}
        return simulate(pointsman.Workload.of(frame), "1x1/gpu=v100", "sjf-ffs", **options).jobs

    runs = []
    for seed in range(REPLICATIONS):
        jobs = run(np.random.default_rng(seed), JOBS)
        times = [jobs[name].to_numpy()[JOBS // 10 :] / UNIT_S for name in ("run_s", "wait_s", "jct_s")]
        runs.append(Replication(*times))
    check_mean(runs, 1 / (1 - 0.7), sojourns)
    assert all((run.wait > 0).any() for run in runs)


GENERAL: dict[str, tuple[Draw, float, float]] = {
    "constant": (lambda random, n: np.ones(n), 1.0, 1.0),
    "uniform": (lambda random, n: random.uniform(0, 2, n), 1.0, 4 / 3),
    "gamma": (lambda random, n: random.gamma(0.5, 2.0, n), 1.0, 3.0),
}
"""Service times, their first and their second moment."""


@pytest.mark.parametrize("name", GENERAL)
def test_m_g_1_is_pollaczek_khinchine(name: str) -> None:
    draw, mean, second = GENERAL[name]
    load = 0.7
    check_mean(replicate("fifo", load / mean, draw), load / mean * second / (2 * (1 - load)), waits)


@dataclass(frozen=True)
class Service:
    """A service time by its density and its distribution function, and how to draw it."""

    density: Callable[[float], float]
    below: Callable[[float], float]
    draw: Draw
    longest: float
    """Beyond which nothing is worth integrating."""
    kinks: tuple[float, ...] = ()

    def integral(self, function: Callable[[float], float], upto: float) -> float:
        kinks = [k for k in self.kinks if k < upto]
        return integrate.quad(function, 0, upto, points=kinks or None, limit=200)[0]

    def mean_of(self, function: Callable[[float], float]) -> float:
        """The mean of a function of the service time."""
        return self.integral(lambda x: function(x) * self.density(x), self.longest)

    def load_below(self, x: float, arrivals: float) -> float:
        """Load of the jobs of at most `x`."""
        return arrivals * self.integral(lambda t: t * self.density(t), x)

    def truncated(self, x: float, moment: int) -> float:
        """The first or second moment of min(service time, x)."""
        return self.integral(lambda t: moment * t ** (moment - 1) * (1 - self.below(t)), x)


EXPONENTIAL = Service(lambda x: math.exp(-x), lambda x: 1 - math.exp(-x), exponential, 40.0)
UNIFORM = Service(lambda x: 0.5, lambda x: x / 2, GENERAL["uniform"][0], 2.0)
ARRIVALS = 0.7


@pytest.mark.parametrize("service", [EXPONENTIAL, UNIFORM], ids=["exponential", "uniform"])
@pytest.mark.parametrize("policy", ["sjf", "sjf-backfill"])
def test_sjf_is_phipps(policy: str, service: Service) -> None:
    """Phipps, Operations Research 4, 1956: priority by size, without preemption."""
    residual = ARRIVALS * service.mean_of(lambda x: x * x) / 2

    def wait(x: float) -> float:
        return residual / (1 - service.load_below(x, ARRIVALS)) ** 2

    check_mean(replicate(policy, ARRIVALS, service.draw), service.mean_of(wait), waits)


@pytest.mark.parametrize("service", [EXPONENTIAL, UNIFORM], ids=["exponential", "uniform"])
def test_srtf_is_schrage_and_miller(service: Service) -> None:
    """Schrage and Miller, Operations Research 14, 1966: shortest remaining processing time."""

    def sojourn(x: float) -> float:
        below = ARRIVALS * service.integral(lambda t: t * t * service.density(t), x)
        waiting = (below + ARRIVALS * x * x * (1 - service.below(x))) / 2 / (1 - service.load_below(x, ARRIVALS)) ** 2
        return waiting + integrate.quad(lambda t: 1 / (1 - service.load_below(t, ARRIVALS)), 0, x)[0]

    grid = np.linspace(1e-9, service.longest / (2 if service is EXPONENTIAL else 1), 201)
    values = np.array([sojourn(x) * service.density(x) for x in grid])
    check_mean(replicate("srtf", ARRIVALS, service.draw), float(integrate.simpson(values, x=grid)), sojourns)


THRESHOLD, RATE_BEFORE, RATE_AFTER = 0.5, 1.5, 0.75


def _two_phase(random: np.random.Generator, n: int) -> Times:
    work = random.exponential(1.0, n)
    first = RATE_BEFORE * THRESHOLD
    return np.where(work < first, work / RATE_BEFORE, THRESHOLD + (work - first) / RATE_AFTER)


def _two_phase_tail(x: float) -> float:
    first = RATE_BEFORE * min(x, THRESHOLD)
    return math.exp(-first - RATE_AFTER * max(0.0, x - THRESHOLD))


TWO_PHASE = Service(
    lambda x: (RATE_BEFORE if x < THRESHOLD else RATE_AFTER) * _two_phase_tail(x),
    lambda x: 1 - _two_phase_tail(x),
    _two_phase,
    40.0,
    (THRESHOLD,),
)
"""Hazard 1.5 up to the threshold and 0.75 beyond it."""


def test_two_level_las_is_kleinrock() -> None:
    """Kleinrock, Queueing Systems II, 1976, §4.7, two levels, first come first served in both.

    A job of x <= a waits for the work up to a of those before it: W_a + x. A longer one waits for all the work before
    it, and for the first a of everyone who comes while it is there: (W + x) / (1 - rho_a). Our second level is not
    quite first come first served (a job that sinks into it runs on until somebody of the first level comes), but
    beyond the threshold these jobs are memoryless, and who goes first changes no mean.
    """
    service, mean = TWO_PHASE, TWO_PHASE.truncated(40.0, 1)
    arrivals = 0.7 / mean

    def workload(x: float) -> float:
        return arrivals * service.truncated(x, 2) / 2 / (1 - arrivals * service.truncated(x, 1))

    short, long = workload(THRESHOLD), workload(service.longest)
    load_of_firsts = arrivals * service.truncated(THRESHOLD, 1)
    share_short = service.below(THRESHOLD)
    mean_short = service.integral(lambda x: x * service.density(x), THRESHOLD) / share_short
    mean_long = THRESHOLD + 1 / RATE_AFTER
    runs = replicate("las", arrivals, service.draw, params={"thresholds_gpu_s": [THRESHOLD * UNIT_S]})
    check_mean(runs, short + mean_short, lambda run: run.sojourn[run.size < THRESHOLD])
    check_mean(runs, (long + mean_long) / (1 - load_of_firsts), lambda run: run.sojourn[run.size >= THRESHOLD])
    fifo = replicate("fifo", arrivals, service.draw)
    low, high = interval([float(run.sojourn.mean()) for run in fifo])
    las = share_short * (short + mean_short) + (1 - share_short) * (long + mean_long) / (1 - load_of_firsts)
    assert not low <= las <= high, "the test could not tell las from fifo"


@pytest.mark.slow
def test_las_of_many_fine_levels_comes_near_to_foreground_background() -> None:
    """Kleinrock, Queueing Systems II, §4.6: T(x) = (W_x + x) / (1 - rho_x), all of service cut at x; of short jobs."""
    service = UNIFORM

    def sojourn(x: float) -> float:
        free = 1 - ARRIVALS * service.truncated(x, 1)
        return ARRIVALS * service.truncated(x, 2) / 2 / free**2 + x / free

    longest = 0.5
    share = service.below(longest)
    ideal = service.integral(lambda x: sojourn(x) * service.density(x), longest) / share
    away = []
    for levels in (1, 5, 60):
        thresholds = (np.arange(1, levels + 1) * 2 / (levels + 1) * UNIT_S).tolist()
        runs = replicate("las", ARRIVALS, service.draw, params={"thresholds_gpu_s": thresholds})
        means = [run.sojourn[run.size < longest].mean() for run in runs]
        away.append(float(np.mean(means)) / ideal - 1)
    assert away[0] > 2 * away[1] > 4 * away[2]
    assert abs(away[2]) < 0.05
