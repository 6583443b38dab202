"""How jobs ended that Slurm does not list any more, by its accounts."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Final

from pointsman.errors import PointsmanError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.records import EndedRun
from pointsman.live.backends.slurm.states import ENDED, state_of_end
from pointsman.live.observe.sight import SeenJob, Sight

MOST: Final = 200
"""Jobs that are asked about at once."""


def with_ends(seen: Sight, runs_of: Callable[[Collection[str]], list[EndedRun] | None]) -> Sight:
    """Let jobs that are not listed any more have ended as and when the accounts say; without accounts, or while they do
    not answer, that remains unknown.
    """
    shown = Counter(job.shown for job in seen.jobs.values())
    gone = [job for job in seen.jobs.values() if job.is_gone and shown[job.shown] == 1]
    ended = {job.key: job for begin in range(0, len(gone), MOST) for job in _ended(gone[begin : begin + MOST], runs_of)}
    return replace(seen, jobs={**seen.jobs, **ended}) if ended else seen


def _ended(gone: list[SeenJob], runs_of: Callable[[Collection[str]], list[EndedRun] | None]) -> Iterator[SeenJob]:
    try:
        runs = runs_of([job.shown for job in gone]) or []
    except (Unsure, PointsmanError):
        return
    dated = [run for run in runs if run.submit_unix_s is not None]
    last = {run.id: run for run in sorted(dated, key=attrgetter("submit_unix_s"))}
    for job in gone:
        run = last.get(job.shown)
        if run is not None and run.end_unix_s is not None and run.state in ENDED:
            yield replace(job, ended=state_of_end(run.state), end_unix_ms=1000 * run.end_unix_s)
