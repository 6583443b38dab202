"""Workloads like a real log's, of any length, load and seed."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from pointsman.errors import UsageError
from pointsman.inputs.bounds import check_load, check_seed
from pointsman.workload.columns import complete
from pointsman.workload.generator.cascade import scatter
from pointsman.workload.generator.clock import Clock
from pointsman.workload.generator.dl2 import SIZES, dl2
from pointsman.workload.generator.gaps import with_gaps
from pointsman.workload.generator.marks import draw_marks, draw_status, draw_users
from pointsman.workload.generator.profile import Floats, Ints, Profile, Tier, load_profile
from pointsman.workload.generator.topdrl import WIDEST, generate_topdrl
from pointsman.workload.provenance import Provenance, Quality
from pointsman.workload.table import Workload


def generate(like: str, *, jobs: int, cluster_gpus: int, load: float | None = None, seed: int = 0) -> Workload:
    """A workload of `jobs` jobs like a real log's, for a cluster of `cluster_gpus` GPUs.

    Args:
        like: ``philly``, ``itp`` or ``helios``, or a profile's YAML file; ``topdrl``: as `generate_topdrl` draws them;
            ``dl2-philly``, ``dl2-1-8``, ``dl2-1-16``: as `dl2` does.
        jobs: how many jobs, at least 2. As many as the log has span its whole season of busy and quiet days; fewer
            are a piece of it, at a place chosen by the seed; more repeat it.
        cluster_gpus: GPUs of the cluster. Wider gangs are narrowed to it and counted in the quality report.
        load: Σ gpus · duration / (cluster_gpus · submit span), realised exactly by rescaling the gaps while the
            rhythm of day and week stays with the clock. None: the log's own pace, in whole seconds.
        seed: everything random follows from it, the same on every machine and in every process.

    Returns:
        A workload with `job_id, user, queue, status, submit_s, gpus, duration_s`; submit times begin at 0, the hour
        of the week at which the log begins.

    Raises:
        UsageError: an unknown profile, fewer than 2 jobs or 1 GPU, a load or a seed out of range.
    """
    _check(jobs, cluster_gpus, load, seed)
    if like in SIZES:
        return dl2(like, jobs, seed, cluster_gpus=cluster_gpus, load=load)
    if like == "topdrl":
        return generate_topdrl(jobs, seed, widest=min(WIDEST, cluster_gpus), cluster_gpus=cluster_gpus, load=load)
    made = generate_from(load_profile(like), jobs=jobs, cluster_gpus=cluster_gpus, load=load, seed=seed)
    command = f"generate({like=}, {jobs=}, {cluster_gpus=}, {load=}, {seed=})"
    return replace(made, provenance=replace(made.provenance, command=command))


def generate_from(
    profile: Profile, *, jobs: int, cluster_gpus: int, load: float | None = None, seed: int = 0
) -> Workload:
    """As `generate`, from a profile in memory."""
    _check(jobs, cluster_gpus, load, seed)
    arrivals, bodies, endings = (np.random.default_rng((seed, k)) for k in range(3))
    drawn = _draw(profile, jobs, arrivals, bodies)
    wide = int((drawn.gpus > cluster_gpus).sum())
    gpus = np.minimum(drawn.gpus, cluster_gpus)
    submit_s = _pace(profile, drawn.submit_s, gpus * drawn.duration_s, cluster_gpus, load)
    table = _table(profile, drawn, gpus, submit_s, endings)
    quality = Quality(jobs, jobs, {}, {"narrowed to the GPUs of the cluster": wide} if wide else {}, _notes(profile))
    command = f"generate_from({profile.name!r}, {jobs=}, {cluster_gpus=}, {load=}, {seed=})"
    return Workload(table, quality, Provenance(f"generated like {profile.name}", "", "generated", command, seed=seed))


@dataclass(frozen=True)
class _Drawn:
    submit_s: Floats
    gpus: Ints
    duration_s: Floats
    queue: Ints
    campaign: Floats


def _check(jobs: int, cluster_gpus: int, load: float | None, seed: int) -> None:
    if jobs < 2:
        raise UsageError(f"cannot generate {jobs} jobs: at least 2 make a workload")
    if cluster_gpus < 1:
        raise UsageError(f"a cluster of {cluster_gpus} GPUs runs nothing: give at least 1")
    if load is not None:
        check_load(load)
    check_seed(seed)


def _draw(profile: Profile, jobs: int, arrivals: np.random.Generator, bodies: np.random.Generator) -> _Drawn:
    """`jobs` jobs at the log's own pace: whole seasons are drawn, and a stretch of them is kept."""
    seasons = 1 + max(0, -(-(jobs - profile.jobs) // _jobs_of_later_season(profile)))
    queues = sorted(profile.users)
    even_s, marks = [], []
    for stream in profile.streams:
        for tiers in stream.crowds:
            daily = _daily(tiers, seasons, profile.lead_in_days)
            even_s.append(scatter(daily.sum(axis=0), profile.day_s, np.array(stream.clustering), arrivals))
            marks.append(draw_marks(tiers, daily, stream.likeness, queues, profile.shortest_s, bodies))
    order = np.argsort(np.concatenate(even_s), kind="stable")
    whole = np.concatenate(even_s)[order]
    submit_s = _with_rhythm(profile, whole)
    first = int(arrivals.integers(max(profile.jobs - jobs, 0) + 1))
    kept = slice(first, first + jobs)
    columns = (np.concatenate([getattr(m, name) for m in marks])[order][kept] for name in _FIELDS)
    return _Drawn(submit_s[kept] - submit_s[first], *columns)


_FIELDS = ("gpus", "duration_s", "queue", "campaign")


def _with_rhythm(profile: Profile, even_s: Floats) -> Floats:
    """Clock times, in whole seconds, with the log's gaps if they are known."""
    clock = Clock.of(profile.hourly, profile.weekdays, profile.start_hour_of_week)
    times_s = clock.clock(even_s)
    times_s[0] = 0.0
    if not profile.gaps_s:
        return np.floor(times_s)
    return with_gaps(times_s, np.array(profile.gaps_s), profile.mean_gap_s)


def _jobs_of_later_season(profile: Profile) -> int:
    """Jobs of a season after the first."""
    return sum(sum(tier.daily[profile.lead_in_days :]) for stream in profile.streams for tier in stream.tiers)


def _daily(tiers: list[Tier], seasons: int, lead_in_days: int) -> Ints:
    """Counts the jobs of each tier on each day of `seasons` seasons (tiers × days)."""
    season = np.array([tier.daily for tier in tiers], np.int64)
    return np.concatenate([season] + [season[:, lead_in_days:]] * (seasons - 1), axis=1)


def _pace(profile: Profile, natural_s: Floats, work: Floats, cluster_gpus: int, load: float | None) -> Floats:
    """Submit times with the span that `load` asks for, the rhythm of the clock kept."""
    if load is None:
        return natural_s
    span_s = work.sum() / (cluster_gpus * load)
    clock = Clock.of(profile.hourly, profile.weekdays, profile.start_hour_of_week)
    even_s = clock.even(natural_s)
    if even_s[-1] == 0:  # a handful of jobs of one second: nothing to stretch
        even_s = np.arange(natural_s.size, dtype=float)
    paced = clock.clock(even_s * (clock.even(np.array(span_s)) / even_s[-1]))
    return paced * (span_s / paced[-1])


def _table(profile: Profile, drawn: _Drawn, gpus: Ints, submit_s: Floats, rng: np.random.Generator) -> pl.DataFrame:
    queues = sorted(profile.users)
    user = draw_users(profile, queues, drawn.queue, drawn.campaign)
    frame = pl.DataFrame({"queue": pl.Series(queues).gather(drawn.queue), "user": user}).with_columns(
        pl.format("{}-{}", "queue", pl.col("user") + 1).alias("user")
    )
    frame = frame.with_columns(submit_s=submit_s, gpus=gpus, duration_s=drawn.duration_s)
    if profile.status is not None:
        drawn_status = draw_status(profile.status, gpus * drawn.duration_s, rng)
        frame = frame.with_columns(status=pl.Series(list(profile.status.jobs)).gather(drawn_status))
    return complete(frame)


def _notes(profile: Profile) -> tuple[str, ...]:
    ours = "users are synthetic, with Zipf-distributed shares of each queue: those of the log were not published"
    return (f"generated from tables of {profile.source}", ours)
