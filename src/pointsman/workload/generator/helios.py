"""The Helios profile, made from published figures because the log itself is not at hand.

Published (AcmeTrace and HeliosArtifact summaries, Hu et al., SC 2021): of 1,580,464 GPU jobs, April to September 2020,
the mean GPUs, the median, mean and longest duration, the GPU time and the statuses; and of one of the four clusters,
Venus, the number of GPU jobs every ten minutes and the GPUs of its virtual clusters.
Ours, for want of figures: the shares of the sizes between the published mean and median, that log-duration is normal
with a median that grows as a power of the size, that jobs choose virtual clusters in proportion to their GPUs.
"""

from typing import Any, Final

import numpy as np

from pointsman.workload.generator.cascade import LEVELS
from pointsman.workload.generator.fit import calibrated
from pointsman.workload.generator.profile import DAY_S, Floats, Profile

SOURCE: Final = "published figures of SenseTime Helios (Hu et al., SC 2021; CC-BY 4.0 and MIT), not its log"
JOBS, DAYS = 125_214, 181
"""GPU jobs of Venus from 2020-04-01, a Wednesday, to 2020-09-28."""
MEAN_GPUS, MEDIAN_S, MEAN_S, LONGEST_S = 3.716, 206.0, 6651.681, 4_320_009.0
MEAN_WORK_GPU_S = (39_994_296_320 + 30_715_109_125 + 7_288_334_702) / 1_580_464
STATUS: Final = {
    "jobs": {"COMPLETED": 0.624, "CANCELLED": 0.221, "FAILED": 0.155},
    "gpu_time": {"COMPLETED": 0.513, "CANCELLED": 0.394, "FAILED": 0.093},
}
HOURLY = (
    3.74, 2.74, 2.5, 1.6, 1.12, 0.86, 0.78, 0.93, 1.56, 3.32, 5.4, 6.14,
    4.85, 5.41, 6.5, 6.9, 7.23, 7.22, 5.34, 5.47, 5.6, 5.68, 4.79, 4.33,
)  # fmt: skip
WEEKDAYS = (14.7, 15.3, 18.3, 17.3, 13.6, 9.8, 11.1)
DISPERSION_10_MIN = 15.4
WEDNESDAY_H = 48.0
SIZES: Final = {1: 0.605, 2: 0.09, 4: 0.11, 8: 0.15, 16: 0.026, 32: 0.013, 64: 0.004, 128: 1e-3, 256: 2e-4, 512: 4e-5}
"""Shares before 1 and 8 are moved to meet the mean; the half of the jobs that the median is about have one GPU."""
QUEUE_GPUS: Final = {
    "vcEwI": 72, "vcWoR": 64, "vcHvQ": 64, "vcvGl": 80, "vc8Gr": 48, "vcKrE": 32, "vchbv": 72, "vcP2J": 48, "vcLTP": 64,
    "vcJLV": 16, "vcJsw": 64, "vcefl": 80, "vcvlY": 64, "vcOhe": 56, "vccJW": 32, "vc6YE": 88,
}  # fmt: skip
"""GPUs of the virtual clusters of Venus on 2020-04-01, those with more than ten and still there."""
SLICES: Final = (0.0, 0.5, 0.9, 0.99, 0.999, 1.0)
LIGHT_SLICES: Final = 2
"""The jobs below the 90th percentile of their size burst together."""
LIKENESS = 0.5
"""As in Philly and ITP, roughly."""
COARSE_LEVELS: Final = 5
"""Halvings of a day, down to 45 minutes, that burst little, so that every day has the published hours."""
FLOODS: Final = (717, 350, 300, 250, 200, 200, 200)
"""Short jobs of one GPU that come within ten minutes: the published maximum, and as many more, ours, as the published
variance has room for beside the published percentiles."""
FLOOD_LEVELS: Final = 7
"""Halvings of a day down to eleven minutes."""


def helios() -> Profile:
    """The profile, its bursts calibrated to the ten-minute counts of Venus."""
    shares = _sizes()
    median_s, growth, sigma = _durations(shares)
    counts = _portions(np.cumsum(list(shares.values())) * JOBS)
    bands = [_bands(g, n, median_s * g**growth, sigma) for g, n in zip(shares, counts, strict=True)]
    flood = bands[0][0]
    bands[0][0] = flood | dict(jobs=_by_queue(1, _jobs(flood) - sum(FLOODS)))
    light = [band for size in bands for band in size[:LIGHT_SLICES] if band["jobs"]]
    heavy = [band for size in bands for band in size[LIGHT_SLICES:] if band["jobs"]]
    profile = dict(
        name="helios",
        source=SOURCE,
        start="Wednesday, 0.00 h",
        start_hour_of_week=WEDNESDAY_H,
        hourly=_relative(HOURLY),
        weekdays=_relative(WEEKDAYS),
        day_s=float(DAY_S),
        lead_in_days=0,
        shortest_s=1.0,
        gaps_s=[],
        mean_gap_s=DAYS * DAY_S / JOBS,
        users={queue: gpus // 4 for queue, gpus in QUEUE_GPUS.items()},
        status=STATUS,
        streams=[_stream(light, together=True), _stream(heavy, together=False), _floods(flood)],
    )
    return calibrated(Profile.model_validate(profile), DISPERSION_10_MIN, window_s=600.0)


def _relative(shares: tuple[float, ...]) -> list[float]:
    return [round(share * len(shares) / sum(shares), 4) for share in shares]


def _sizes() -> dict[int, float]:
    """Shares by GPUs with the published mean."""
    shares = {g: share / sum(SIZES.values()) for g, share in SIZES.items()}
    move = (MEAN_GPUS - sum(g * share for g, share in shares.items())) / 7
    return shares | {1: shares[1] - move, 8: shares[8] + move}


def _durations(shares: dict[int, float]) -> tuple[float, float, float]:
    """Median of one-GPU jobs, exponent of its growth with the GPUs, σ: what meets median, mean and mean work."""

    def mean_work(growth: float) -> float:
        return _means(shares, *_fit_to_growth(shares, growth))[1]

    growth = _root(mean_work, MEAN_WORK_GPU_S, 0.0, 2.0)
    return _fit_to_growth(shares, growth)


def _fit_to_growth(shares: dict[int, float], growth: float) -> tuple[float, float, float]:
    """Fits median and deviation to a given growth, so that the median and the mean are met."""

    def median(sigma: float) -> float:
        return _root(lambda m: -_below(shares, m, growth, sigma), -0.5, 1.0, 10 * MEDIAN_S)

    sigma = _root(lambda s: _means(shares, median(s), growth, s)[0], MEAN_S, 1.0, 5.0)
    return median(sigma), growth, sigma


_SCORES: Final = np.linspace(-6, 6, 1201)
_DENSITY: Final = np.exp(-(_SCORES**2) / 2) / np.exp(-(_SCORES**2) / 2).sum()
_CUMULATIVE: Final = np.cumsum(_DENSITY) - _DENSITY / 2


def _means(shares: dict[int, float], median_s: float, growth: float, sigma: float) -> tuple[float, float]:
    """Mean duration and mean GPUs × duration."""
    by_size = {g: _quantile(median_s * g**growth, sigma, _SCORES) @ _DENSITY for g in shares}
    return sum(shares[g] * m for g, m in by_size.items()), sum(g * shares[g] * m for g, m in by_size.items())


def _below(shares: dict[int, float], median_s: float, growth: float, sigma: float) -> float:
    """Share of jobs shorter than the published median."""
    scores = [np.log(MEDIAN_S / (median_s * g**growth)) / sigma for g in shares]
    return float(np.interp(scores, _SCORES, _CUMULATIVE) @ np.array(list(shares.values())))


def _quantile(median_s: float, sigma: float, score: Floats) -> Floats:
    return np.clip(median_s * np.exp(sigma * score), 1.0, LONGEST_S)


def _root(f: Any, wanted: float, low: float, high: float) -> float:
    """Where the increasing `f` is `wanted`, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < wanted else (low, middle)
    return (low + high) / 2


def _bands(gpus: int, jobs: int, median_s: float, sigma: float) -> list[dict[str, Any]]:
    """Bands of one size, by slices of its durations."""
    counts = _portions(np.array(SLICES[1:]) * jobs)
    out = []
    for low, high, count in zip(SLICES[:-1], SLICES[1:], counts, strict=True):
        score = np.interp(np.linspace(low, high, 17), _CUMULATIVE, _SCORES)
        work = gpus * _quantile(median_s, sigma, score)
        out.append(dict(work_gpu_s=[float(f"{w:.4g}") for w in work], jobs=_by_queue(gpus, count)))
    return out


def _by_queue(gpus: int, jobs: int) -> dict[str, dict[int, int]]:
    """Jobs of one size shared among the queues wide enough, in proportion to their GPUs."""
    widest = max(QUEUE_GPUS.values())
    wide = {queue: g for queue, g in QUEUE_GPUS.items() if g >= min(gpus, widest)}
    counts = _portions(np.cumsum(list(wide.values())) / sum(wide.values()) * jobs)
    return {queue: {gpus: n} for queue, n in zip(wide, counts, strict=True) if n}


def _portions(ends: Floats) -> list[int]:
    """Whole numbers whose running total is `ends`, rounded."""
    return np.diff(np.rint(ends), prepend=0).astype(int).tolist()


def _jobs(band: dict[str, Any]) -> int:
    return sum(sum(by_gpus.values()) for by_gpus in band["jobs"].values())


def _stream(bands: list[dict[str, Any]], *, together: bool) -> dict[str, Any]:
    """Bands that make one tier, every day alike: how the days differ is not published."""
    daily = _portions(np.arange(1, DAYS + 1) / DAYS * sum(map(_jobs, bands)))
    return dict(
        together=together,
        clustering=[0.005] * COARSE_LEVELS + [0.05] * (LEVELS - COARSE_LEVELS),
        likeness=LIKENESS if together else 0.0,
        tiers=[dict(daily=daily, bands=bands)],
    )


def _floods(like: dict[str, Any]) -> dict[str, Any]:
    """A stream that is nothing but floods, at even distances."""
    daily = np.zeros(DAYS, np.int64)
    daily[((np.arange(len(FLOODS)) + 0.5) * DAYS / len(FLOODS)).astype(int)] = FLOODS
    band = like | dict(jobs=_by_queue(1, sum(FLOODS)))
    return dict(
        together=True,
        clustering=[1.0] * FLOOD_LEVELS + [0.05] * (LEVELS - FLOOD_LEVELS),
        likeness=0.9,
        tiers=[dict(daily=daily.tolist(), bands=[band])],
    )
