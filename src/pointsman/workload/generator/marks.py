"""What each job is: work, GPUs, duration, queue, user, status."""

from dataclasses import dataclass

import numpy as np

from pointsman.workload.generator.profile import Band, Floats, Ints, Profile, Status, Tier

_HEAVY = 0.9
"""Share of the GPU time that the heavy jobs hold, whose statuses are drawn by their GPU time."""


@dataclass(frozen=True)
class Marks:
    """One value a job, in order of arrival."""

    gpus: Ints
    duration_s: Floats
    queue: Ints
    """Index into the sorted names of the profile's queues."""
    campaign: Floats
    """Uniform in [0, 1), the same for jobs of one campaign: it picks their user."""


def draw_marks(
    tiers: list[Tier], daily: Ints, likeness: float, queues: list[str], shortest_s: float, rng: np.random.Generator
) -> Marks:
    """Marks for the jobs of a crowd in order of arrival, `daily[t, d]` of them of tier t on day d.

    Consecutive jobs are alike with probability `likeness`: a campaign, in which somebody submits variants of one
    job. On each day the lowest scores go to the first tier and so on; in a tier the k-th smallest score gets the k-th
    smallest work. So tiers and marginals are exact, whatever the campaigns are.
    """
    n = int(daily.sum())
    heads = _campaign_heads(n, likeness, rng)
    score, shape, campaign = (rng.random(n)[heads] for _ in range(3))
    score = score + rng.normal(0, 0.02, n)
    tier = _tiers(daily, score)
    marks = Marks(np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), campaign)
    for index, bands in enumerate(t.bands for t in tiers):
        rows = np.flatnonzero(tier == index)
        rows = rows[np.argsort(score[rows], kind="stable")]
        for band, part in zip(bands, np.split(rows, _cuts(bands, rows.size)), strict=True):
            work = _work(band, part.size)
            by_shape = np.argsort(shape[part], kind="stable")
            marks.queue[part[by_shape]], marks.gpus[part[by_shape]] = _shapes(band, queues, part.size)
            marks.duration_s[part] = np.maximum(shortest_s, np.rint(work / marks.gpus[part]))
    return marks


def _tiers(daily: Ints, score: Floats) -> Ints:
    """The tier of each job: within each day by score, `daily[t, d]` jobs to tier t."""
    day = np.repeat(np.arange(daily.shape[1]), daily.sum(axis=0))
    tier = np.empty(score.size, np.int64)
    tier[np.lexsort((score, day))] = np.repeat(np.tile(np.arange(daily.shape[0]), daily.shape[1]), daily.T.ravel())
    return tier


def _cuts(bands: list[Band], jobs: int) -> Ints:
    """Where to cut `jobs` jobs so that each band gets its share."""
    ends = np.cumsum([band.count for band in bands])
    return np.rint(ends[:-1] * (jobs / ends[-1])).astype(np.int64)


def _campaign_heads(n: int, likeness: float, rng: np.random.Generator) -> Ints:
    """The row of the first job of each job's campaign."""
    fresh = rng.random(n) >= likeness
    fresh[:1] = True
    return np.maximum.accumulate(np.where(fresh, np.arange(n), 0))


def _work(band: Band, count: int) -> Floats:
    """`count` values spread evenly over the band's distribution, ascending."""
    at = (np.arange(count) + 0.5) / max(count, 1) * (len(band.work_gpu_s) - 1)
    return np.exp(np.interp(at, np.arange(len(band.work_gpu_s)), np.log(band.work_gpu_s)))


def _shapes(band: Band, queues: list[str], count: int) -> tuple[Ints, Ints]:
    """Queue and GPUs of `count` jobs in the band's proportions, like ones together."""
    cells = [(queues.index(q), g, jobs) for q, by_gpus in band.jobs.items() for g, jobs in by_gpus.items()]
    cells.sort(key=lambda cell: (cell[1], cell[0]))
    share = np.cumsum([jobs for _, _, jobs in cells]) / band.count
    pick = np.searchsorted(share, (np.arange(count) + 0.5) / max(count, 1), side="right")
    pick = np.minimum(pick, len(cells) - 1)
    return np.array([q for q, _, _ in cells])[pick], np.array([g for _, g, _ in cells])[pick]


def draw_users(profile: Profile, queues: list[str], queue: Ints, campaign: Floats) -> Ints:
    """A user's number within the queue for each job, the k-th user submitting in proportion to 1/k (Zipf)."""
    user = np.zeros(queue.size, np.int64)
    for index, name in enumerate(queues):
        share = np.cumsum(1 / np.arange(1, profile.users[name] + 1))
        rows = queue == index
        user[rows] = np.searchsorted(share / share[-1], campaign[rows], side="right")
    return np.minimum(user, np.array([profile.users[name] for name in queues])[queue] - 1)


def draw_status(status: Status, work: Floats, rng: np.random.Generator) -> Ints:
    """An index into the names of `status` for each job, so that jobs and GPU time both have the published shares."""
    order = np.argsort(work, kind="stable")
    held = np.cumsum(work[order]) / max(work.sum(), 1e-300)
    heavy = np.zeros(work.size, bool)
    heavy[order] = held > 1 - _HEAVY
    by_jobs, by_time = (np.array(list(d.values())) / sum(d.values()) for d in (status.jobs, status.gpu_time))
    jobs, time = heavy.mean(), work[heavy].sum() / max(work.sum(), 1e-300)
    det = jobs * (1 - time) - time * (1 - jobs)
    if abs(det) < 1e-9:
        light = strong = by_jobs
    else:
        strong = (by_jobs * (1 - time) - by_time * (1 - jobs)) / det
        light = (jobs * by_time - time * by_jobs) / det
    cut = [np.cumsum(np.clip(p, 0, None) / np.clip(p, 0, None).sum()) for p in (light, strong)]
    coin = rng.random(work.size)
    drawn = np.where(heavy, *(np.searchsorted(c, coin, side="right") for c in (cut[1], cut[0])))
    return np.minimum(drawn, by_jobs.size - 1)
