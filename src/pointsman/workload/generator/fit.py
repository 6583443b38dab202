"""Fit a profile to a job log: ``python -m pointsman.workload.generator.fit LOG NAME > NAME.yaml``."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import yaml

from pointsman.errors import PointsmanError, UsageError
from pointsman.workload.generator import cascade, gaps
from pointsman.workload.generator.clock import Clock
from pointsman.workload.generator.generate import generate_from
from pointsman.workload.generator.profile import DAY_S, HOUR_S, Floats, Ints, Profile

LIGHT_SHARES = (0.02, 0.05, 0.1, 0.15, 0.2)
"""Light tiers are cut where the jobs below hold these shares of the GPU time."""
LIGHT_JOBS = (0.25, 0.5, 0.75)
"""And where they are these shares of all jobs."""
HEAVY_SHARE = 0.03
"""Share of the GPU time in one tier of heavy jobs."""
HEAVY_WIDTHS = (4, 8, 16)
"""Numbers of GPUs above which jobs are in another heavy tier."""
WIDTHS = (1, 2, 4, 8)
"""Numbers of GPUs above which jobs are in another band."""
MIN_TIER, MIN_BAND = 6, 12
"""Fewest jobs of a tier and of a band; a smaller one joins its neighbour, so that no table is a job's own line."""
GAP_POINTS = 201
CALIBRATION_SEEDS = range(100, 108)
CALIBRATION_ROUNDS = 6
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def fit_profile(
    jobs: pl.DataFrame,
    name: str,
    source: str,
    *,
    start_hour_of_week: float = 0.0,
    lead_in_days: int = 0,
    status: dict[str, dict[str, float]] | None = None,
) -> Profile:
    """The profile of a job table (`submit_s`, `gpus`, `duration_s`, `queue`).

    Args:
        jobs: the log; jobs without GPUs are left out.
        name: of the profile.
        source: what log this is and its licence, for the reports of generated workloads.
        start_hour_of_week: hours from Monday 00:00 to the first submission, if the log has a clock.
        lead_in_days: days at the start that belong to no typical season (a log that begins almost empty).
        status: shares of `jobs` and of `gpu_time` by status, if known.

    Raises:
        UsageError: no two jobs come at different times.
    """
    jobs = jobs.sort("submit_s", maintain_order=True).filter(pl.col("gpus") > 0)
    if jobs["submit_s"].n_unique() < 2:
        raise UsageError(f"no profile can be fitted to {source}: it needs jobs submitted at different times")
    submit_s = jobs["submit_s"].to_numpy() - jobs["submit_s"][0]
    gpus, duration_s = jobs["gpus"].to_numpy(), np.maximum(jobs["duration_s"].to_numpy(), 1.0)
    queue = jobs["queue"].fill_null("default").to_numpy()
    hourly, weekdays = _rhythm(submit_s, start_hour_of_week)
    even_s = Clock.of(hourly, weekdays, start_hour_of_week).even(submit_s)
    days = int(even_s[-1] // DAY_S) + 1
    day_s = _short(even_s[-1] / days * (1 + 1e-9), 12)
    first = Profile.model_validate(
        dict(
            name=name,
            source=source,
            start=f"{WEEKDAYS[int(start_hour_of_week // 24)]}, {start_hour_of_week % 24:.2f} h",
            start_hour_of_week=_short(start_hour_of_week, 6),
            hourly=hourly,
            weekdays=weekdays,
            day_s=day_s,
            lead_in_days=lead_in_days,
            shortest_s=float(duration_s.min()),
            gaps_s=gaps.quantiles(np.diff(submit_s), GAP_POINTS).tolist(),
            mean_gap_s=_short(submit_s[-1] / (submit_s.size - 1), 10),
            users={str(q): max(2, round(float(np.sqrt((queue == q).sum())))) for q in np.unique(queue)},
            status=status,
            streams=_streams(even_s, day_s, gpus * duration_s, gpus, queue),
        )
    )
    return calibrated(first, dispersion(submit_s))


def dispersion(submit_s: Floats, window_s: float = HOUR_S) -> float:
    """Index of dispersion: variance over mean of the submissions in each whole window since the first (Poisson: 1)."""
    index = ((submit_s - submit_s[0]) // window_s).astype(np.int64)
    counts = np.bincount(index)
    return float(counts.var() / counts.mean())


def calibrated(profile: Profile, wanted: float, window_s: float = HOUR_S) -> Profile:
    """The profile with the clustering of its first stream scaled until workloads of it are as dispersed as wanted.

    The moments are measured stream by stream, and on pieces of time that the log's bursts straddle, so that bursts
    come out some 10 to 25 % too flat without this.
    """
    factor = 1.0
    scaled = profile
    for _ in range(CALIBRATION_ROUNDS):
        made = [
            generate_from(scaled, jobs=profile.jobs, cluster_gpus=1 << 20, seed=seed).jobs["submit_s"].to_numpy()
            for seed in CALIBRATION_SEEDS
        ]
        factor *= (wanted - 1) / max(float(np.mean([dispersion(times, window_s) for times in made])) - 1, 1e-3)
        scaled = _scale_clustering(profile, factor)
    return scaled


def _scale_clustering(profile: Profile, factor: float) -> Profile:
    """The odds of the first stream's clustering times `factor`."""
    first, *others = profile.streams
    clustering = [_short(c * factor / (1 - c + c * factor), 3) for c in first.clustering]
    return profile.model_copy(update=dict(streams=[first.model_copy(update=dict(clustering=clustering)), *others]))


def _rhythm(submit_s: Floats, start_hour_of_week: float) -> tuple[list[float], list[float]]:
    """Relative rates by hour and by weekday, the mean of each 1."""
    hours = np.floor(submit_s / HOUR_S + start_hour_of_week).astype(np.int64)
    seen = np.arange(hours[0], hours[-1] + 1)
    by_hour = np.bincount(hours % 24, minlength=24) / np.maximum(np.bincount(seen % 24, minlength=24), 1)
    by_day = np.bincount(hours // 24 % 7, minlength=7) / np.maximum(np.bincount(seen // 24 % 7, minlength=7), 1)
    return _relative(by_hour), _relative(by_day)


def _relative(rate: Floats) -> list[float]:
    rate = np.maximum(rate, rate.mean() / 20)
    return [_short(r, 4) for r in rate / rate.mean()]


def _streams(even_s: Floats, day_s: float, work: Floats, gpus: Ints, queue: Any) -> list[dict[str, Any]]:
    """The light jobs, whose tiers burst together, and the heavy ones, each tier by itself."""
    day = np.floor_divide(even_s, day_s).astype(np.int64)
    bounds = _bounds(work, LIGHT_SHARES, work.sum())
    bounds = np.unique(np.minimum(np.concatenate((bounds, np.quantile(work, LIGHT_JOBS))), bounds[-1]))
    tier = np.searchsorted(bounds, work, side="right")
    light = tier < bounds.size
    tier[~light] = _heavy_tiers(work[~light], gpus[~light], work.sum())
    streams = []
    for together, rows in ((True, light), (False, ~light)):
        members = [np.flatnonzero(rows & (tier == t)) for t in np.unique(tier[rows])]
        crowds = [rows] if together else members
        streams.append(
            dict(
                together=together,
                clustering=[_short(c, 3) for c in cascade.measure([even_s[m] for m in crowds], day_s)],
                likeness=_likeness(work[rows]) if together else 0.0,
                tiers=[_tier(np.bincount(day[m], minlength=day[-1] + 1), work[m], gpus[m], queue[m]) for m in members],
            )
        )
    return [stream for stream in streams if stream["tiers"]]


def _bounds(work: Floats, shares: Sequence[float], total: float) -> Floats:
    """The work of the jobs at which the jobs up to them hold `shares` of `total`."""
    ordered = np.sort(work)
    return ordered[np.searchsorted(np.cumsum(ordered), np.array(shares) * total)]


def _heavy_tiers(work: Floats, gpus: Ints, total: float) -> Ints:
    """A number for each job, the same in one tier: by width, then by work, the tiers of one width of equal GPU time."""
    width = np.searchsorted(HEAVY_WIDTHS, gpus, side="left")
    tier = np.zeros(work.size, np.int64)
    for w in np.unique(width):
        rows = np.flatnonzero(width == w)
        rows = rows[np.argsort(work[rows], kind="stable")]
        cuts = max(1, round(work[rows].sum() / total / HEAVY_SHARE))
        part = (np.cumsum(work[rows]) / work[rows].sum() * cuts * (1 - 1e-12)).astype(np.int64)
        parts = np.split(rows, np.searchsorted(part, np.arange(1, cuts)))
        for index, members in enumerate(_merge(parts, MIN_TIER)):
            tier[members] = w * 1000 + index
    return tier


def _merge(parts: list[Ints], fewest: int) -> list[Ints]:
    """The parts in order, those too small joined to a neighbour."""
    out = [parts[0]]
    for rows in parts[1:]:
        if min(rows.size, out[-1].size) < fewest:
            out[-1] = np.concatenate((out[-1], rows))
        else:
            out.append(rows)
    return out


def _likeness(work: Floats) -> float:
    """Lag-one rank correlation of the work, no less than 0."""
    if work.size < 3:
        return 0.0
    rank = np.argsort(np.argsort(work, kind="stable"), kind="stable")
    return _short(min(0.98, max(0.0, float(np.corrcoef(rank[1:], rank[:-1])[0, 1]))), 3)


def _tier(daily: Ints, work: Floats, gpus: Ints, queue: Any) -> dict[str, Any]:
    return dict(
        daily=daily.tolist(),
        bands=[_band(work[rows], gpus[rows], queue[rows]) for rows in _bands(work, gpus)],
    )


def _bands(work: Floats, gpus: Ints) -> list[Ints]:
    """Rows of each band: by width, and large crowds in up to four parts by work."""
    parts: list[Ints] = []
    width = np.searchsorted(WIDTHS, gpus, side="left")
    for w in np.unique(width):
        rows = np.flatnonzero(width == w)
        rows = rows[np.argsort(work[rows], kind="stable")]
        parts += np.array_split(rows, int(np.clip(rows.size // 400, 1, 4)))
    return _merge(parts, MIN_BAND)


def _band(work: Floats, gpus: Ints, queue: Any) -> dict[str, Any]:
    points = int(np.clip(work.size // 8, 3, 33))
    cells: dict[str, dict[int, int]] = {}
    for q, g, n in pl.DataFrame({"q": queue, "g": gpus}).group_by("q", "g").len().sort("q", "g").iter_rows():
        cells.setdefault(str(q), {})[int(g)] = int(n)
    return dict(work_gpu_s=[_short(v, 4) for v in np.quantile(work, np.linspace(0, 1, points))], jobs=cells)


def _short(value: float, digits: int) -> float:
    return float(f"{float(value):.{digits}g}")


def render(profile: Profile) -> str:
    """The profile as YAML, its tables in lines."""
    return yaml.safe_dump(profile.model_dump(), sort_keys=False, default_flow_style=None, width=118)


def main() -> None:
    """Print the profile of a log."""
    from pointsman.workload import read_workload

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", help="a job log that Pointsman reads")
    parser.add_argument("name", help="what to call the profile")
    options = parser.parse_args()
    try:
        sys.stdout.write(render(fit_profile(read_workload(options.log).jobs, options.name, source=options.log)))
    except PointsmanError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_code) from None


if __name__ == "__main__":
    main()
