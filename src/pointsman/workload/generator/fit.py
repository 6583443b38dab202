"""Fit a profile to a job log: ``python -m pointsman.workload.generator.fit LOG NAME > NAME.yaml``."""

import sys
from typing import Any

import numpy as np
import polars as pl
import yaml

from pointsman.workload.generator import cascade, gaps
from pointsman.workload.generator.clock import Clock
from pointsman.workload.generator.profile import DAY_S, HOUR_S, Floats, Ints, Profile

STREAMS = ((0.02, 0.05, 0.1), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
"""Tiers are cut where the jobs below hold these shares of the GPU time; the light ones make one stream, the heavy ones
another."""
WIDTHS = (1, 2, 5, 9)
"""Bands are cut at these numbers of GPUs."""
MIN_BAND = 12
"""Fewest jobs of a band; a smaller one joins its neighbour."""
GAP_POINTS = 201
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def fit(
    jobs: pl.DataFrame,
    name: str,
    source: str,
    *,
    start_hour_of_week: float = 0.0,
    lead_in_days: int = 0,
    status: dict[str, Any] | None = None,
) -> Profile:
    """The profile of a job table (`submit_s`, `gpus`, `duration_s`; `queue` if it has one)."""
    jobs = jobs.sort("submit_s", maintain_order=True).filter(pl.col("gpus") > 0)
    submit_s = jobs["submit_s"].to_numpy() - jobs["submit_s"][0]
    gpus, duration_s = jobs["gpus"].to_numpy(), np.maximum(jobs["duration_s"].to_numpy(), 1.0)
    queue = jobs["queue"].fill_null("default").to_numpy()
    hourly, weekdays = _rhythm(submit_s, start_hour_of_week)
    even_s = Clock.of(hourly, weekdays, start_hour_of_week).even(submit_s)
    days = int(even_s[-1] // DAY_S) + 1
    work = gpus * duration_s
    tier = _tiers(work)
    light = len(STREAMS[0])
    streams = [_stream(even_s[m], days, work[m], gpus[m], queue[m], tier[m]) for m in (tier < light, tier >= light)]
    hour = start_hour_of_week
    return Profile.model_validate(
        dict(
            name=name,
            source=source,
            start=f"{WEEKDAYS[int(hour // 24)]} {int(hour % 24):02d}:{int(hour * 60 % 60):02d}",
            start_hour_of_week=round(hour, 4),
            hourly=hourly,
            weekdays=weekdays,
            lead_in_days=lead_in_days,
            shortest_s=float(duration_s.min()),
            gaps_s=gaps.quantiles(np.diff(submit_s), GAP_POINTS).tolist(),
            mean_gap_s=_short(submit_s[-1] / (submit_s.size - 1), 10),
            users={str(q): max(2, round(float(np.sqrt((queue == q).sum())))) for q in np.unique(queue)},
            status=status,
            streams=streams,
        )
    )


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


def _tiers(work: Floats) -> Ints:
    """The tier of each job, light ones first."""
    ordered = np.sort(work)
    bounds = ordered[np.searchsorted(np.cumsum(ordered), np.concatenate(STREAMS) * ordered.sum())]
    return np.searchsorted(bounds, work, side="right")


def _stream(even_s: Floats, days: int, work: Floats, gpus: Ints, queue: Any, tier: Ints) -> dict[str, Any]:
    return dict(
        clustering=[_short(c, 3) for c in cascade.measure(even_s)],
        likeness=_likeness(work, gpus),
        tiers=[_tier(even_s[m], days, work[m], gpus[m], queue[m]) for m in (tier == t for t in np.unique(tier))],
    )


def _tier(even_s: Floats, days: int, work: Floats, gpus: Ints, queue: Any) -> dict[str, Any]:
    return dict(
        daily=np.bincount((even_s // DAY_S).astype(np.int64), minlength=days).tolist(),
        bands=[_band(work[rows], gpus[rows], queue[rows]) for rows in _bands(work, gpus)],
    )


def _likeness(work: Floats, gpus: Ints) -> float:
    """Lag-one rank correlation of the work, no less than 0."""
    if work.size < 3:
        return 0.0
    rank = np.argsort(np.argsort(work, kind="stable"), kind="stable")
    return _short(min(0.98, max(0.0, float(np.corrcoef(rank[1:], rank[:-1])[0, 1]))), 3)


def _bands(work: Floats, gpus: Ints) -> list[Ints]:
    """Rows of each band: by width, and wide crowds in up to four parts by work."""
    parts: list[Ints] = []
    width = np.searchsorted(WIDTHS, gpus, side="right")
    for w in np.unique(width):
        rows = np.flatnonzero(width == w)
        rows = rows[np.argsort(work[rows], kind="stable")]
        parts += np.array_split(rows, int(np.clip(rows.size // 400, 1, 4)))
    out = [parts[0]]
    for rows in parts[1:]:
        if min(rows.size, out[-1].size) < MIN_BAND:
            out[-1] = np.concatenate((out[-1], rows))
        else:
            out.append(rows)
    return out


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


if __name__ == "__main__":
    from pointsman.workload import read_workload

    log, name = sys.argv[1:]
    sys.stdout.write(render(fit(read_workload(log).jobs, name, source=f"fitted to {log}")))
