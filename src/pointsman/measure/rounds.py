"""Rounds: jobs run at the same time for a while, and what is disturbed is measured again."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple, TypeVar

from pointsman.measure.messages import Run, Steps
from pointsman.measure.pool import name_job
from pointsman.measure.process import JobFailed, JobProcess, TimeIsOver
from pointsman.speed.measured_rows import SPREAD_LIMIT

LEAST_STEPS: Final = 3
T = TypeVar("T")
_TICKS_PER_S: Final = 100.0
_BUSY: Final = (1, 2, 3, 6, 7, 8)
"""Columns of ``/proc/stat``: all but idle and waiting for disks."""


class Limits(NamedTuple):
    """How much is measured."""

    rounds: int = 5
    round_s: float = 1.0
    spread: float = SPREAD_LIMIT
    """A round is disturbed if a step time is further than this share from the median of all rounds, or if other
    processes take more than this share of the cores."""
    most_rounds: int = 15


class Measured(NamedTuple):
    """What several rounds say of jobs that ran at the same time."""

    step_s: tuple[float, ...]
    """For each job, the median over the rounds of its mean step time."""
    memory_bytes: tuple[int, ...]
    rounds: int
    """Rounds that count."""
    disturbed: int
    """Rounds that were repeated."""
    spread: float
    """The largest distance of a step time from its median, or share of the cores that others took, over the rounds that
    count.
    """


class Round(NamedTuple):
    """One round."""

    step_s: tuple[float, ...]
    memory_bytes: tuple[int, ...]
    others: float
    """Share of the cores that other processes took."""


def measure(jobs: Sequence[JobProcess], limits: Limits, meanwhile: Callable[[], None] = lambda: None) -> Measured:
    """Run jobs at the same time until enough rounds agree, or there were too many.

    Args:
        jobs: prepared ones.
        limits: how much is measured.
        meanwhile: called once while all of them run.

    Raises:
        JobFailed: a job has failed; the text says which, if there are several.
        TimeIsOver: there is not enough for the rounds that are asked for, whether they agree or not.
    """
    seen: list[Round] = []
    calm: list[Round] = []
    begin_s = time.monotonic()
    while len(calm) < limits.rounds and len(seen) < limits.most_rounds:
        try:
            seen.append(_run_once(jobs, limits.round_s, (lambda: None) if seen else meanwhile))
        except TimeIsOver:
            if len(seen) < limits.rounds:
                raise
            break
        calm = calm_rounds(seen, limits.spread)
        round_s = (time.monotonic() - begin_s) / len(seen)
        if len(seen) < limits.rounds and time.monotonic() + (limits.rounds - len(seen)) * round_s > jobs[0].until_s:
            raise TimeIsOver
    counted = calm if len(calm) >= limits.rounds else seen
    times = list(zip(*(each.step_s for each in counted), strict=True))
    medians = tuple(median(of_job) for of_job in times)
    memory = tuple(max(of_job) for of_job in zip(*(each.memory_bytes for each in seen), strict=True))
    spreads = [abs(t / mid - 1) for of_job, mid in zip(times, medians, strict=True) for t in of_job]
    spread = max(*spreads, *(each.others for each in counted))
    return Measured(medians, memory, len(counted), len(seen) - len(calm), spread)


def calm_rounds(rounds: Sequence[Round], spread: float) -> list[Round]:
    """The rounds near the median of all."""
    middle = [median(of_job) for of_job in zip(*(each.step_s for each in rounds), strict=True)]
    return [
        each
        for each in rounds
        if each.others <= spread and all(abs(t / mid - 1) <= spread for t, mid in zip(each.step_s, middle, strict=True))
    ]


def _run_once(jobs: Sequence[JobProcess], round_s: float, meanwhile: Callable[[], None]) -> Round:
    cores = sorted({core for job in jobs for core in job.slot.cores})
    run = Run(round_s, LEAST_STEPS)
    busy_s = _busy_s(cores)
    for job in jobs:
        job.begin(run)
    meanwhile()
    _each(jobs, lambda job: job.wait_until_enough(run))
    steps = _each(jobs, JobProcess.stop)
    others_s = _busy_s(cores) - busy_s - sum(of_job.cpu_s for of_job in steps)
    span_s = max(of_job.times_s[-1] for of_job in steps) - min(of_job.times_s[0] for of_job in steps)
    others = min(max(0.0, others_s / (len(cores) * span_s)), 1.0) if cores else 0.0  # what counts them is coarse
    return Round(tuple(mean_step_s(steps)), tuple(of_job.memory_bytes for of_job in steps), others)


def _each(jobs: Sequence[JobProcess], ask: Callable[[JobProcess], T]) -> list[T]:
    answers = []
    for i, job in enumerate(jobs):
        try:
            answers.append(ask(job))
        except JobFailed as failure:
            raise name_job(failure, jobs, i) from None
    return answers


def mean_step_s(steps: Sequence[Steps]) -> list[float]:
    """The mean step time of each job while all of them ran, over whole steps."""
    begin = max(of_job.times_s[0] for of_job in steps)
    end = min(of_job.times_s[-1] for of_job in steps)
    means = []
    for of_job in steps:
        inside = [t for t in of_job.times_s if begin <= t <= end]
        whole = inside if len(inside) > 1 else of_job.times_s
        means.append((whole[-1] - whole[0]) / (len(whole) - 1))
    return means


def _busy_s(cores: Sequence[int]) -> float:
    """How long these cores have been busy since the machine began; 0 where that is not known."""
    busy = 0.0
    with suppress(OSError):
        for line in Path("/proc/stat").read_text().splitlines():
            words = line.split()
            if words and words[0] in {f"cpu{core}" for core in cores}:
                busy += sum(float(words[column]) for column in _BUSY if column < len(words)) / _TICKS_PER_S
    return busy
