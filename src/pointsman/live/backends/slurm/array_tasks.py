"""Tasks of arrays that wait, which Slurm lists as one job."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from pointsman.live.backends.facts import Phase
from pointsman.live.backends.slurm.records import SlurmJob

MOST_TASKS: Final = 1_000
"""Tasks of an array that wait and are seen one by one; the others are not until these have begun."""
_WAITING_TASKS: Final = re.compile(r"(?P<array>\d+)_\[(?P<tasks>[\d,:-]+)(?:%(?P<most>\d+))?\]")
TOO_MANY: Final = "JobArrayTaskLimit"
"""Slurm's reason for tasks that wait because as many of their array run as may at once."""


def task_ids(id_: str) -> list[str]:
    """``8_4``, ``8_5`` of ``8_[4-5%2]``; the id itself of any other."""
    found = _WAITING_TASKS.fullmatch(id_)
    if found is None:
        return [id_]
    tasks: list[str] = []
    for part in found["tasks"].split(","):
        tasks += [f"{found['array']}_{number}" for number in _span(part)[: MOST_TASKS - len(tasks)]]
    return tasks


def beyond_limits(jobs: Iterable[SlurmJob], waits: Callable[[SlurmJob], bool]) -> set[str]:
    """Tasks that may not start yet: of the array ``8_[4-9%2]``, two may run at once. Slurm shows that as long as tasks
    wait of which it has made no jobs. `waits`: whether a job has not been launched.
    """
    most: dict[str, int] = {}
    waiting: defaultdict[str, list[str]] = defaultdict(list)
    busy: Counter[str] = Counter()
    for job in jobs:
        found = _WAITING_TASKS.fullmatch(job.id)
        if found is not None and found["most"]:
            most[found["array"]] = int(found["most"])
        if waits(job):
            waiting[job.id.partition("_")[0]] += task_ids(job.id)
        elif job.phase != Phase.ENDED:
            busy[job.id.partition("_")[0]] += 1
    return {id_ for array, many in most.items() for id_ in waiting[array][max(0, many - busy[array]) :]}


def is_named(id_: str, name: str) -> bool:
    """Whether `id_` may mean what Slurm calls `name`: it, a task of it, or the array or job of which it is a part."""
    return id_ in (name, *task_ids(name)) or name.startswith((f"{id_}_", f"{id_}+"))


def unit_of(id_: str) -> str:
    """What has one priority: a job, or all tasks of an array that wait and have none of their own; ``8`` of
    ``8_[4-5%2]``.
    """
    found = _WAITING_TASKS.fullmatch(id_)
    return id_ if found is None else found["array"]


def target_of(id_: str) -> str:
    """By which `scontrol` changes just these, which knows no steps; ``8_[4-5]`` of ``8_[4-5%2]``."""
    found = _WAITING_TASKS.fullmatch(id_)
    if found is None:
        return id_
    parts = (part if ":" not in part else ",".join(map(str, _span(part))) for part in found["tasks"].split(","))
    return f"{found['array']}_[{','.join(parts)}]"


def _span(part: str) -> range:
    """The numbers of ``4``, ``4-9`` or ``4-9:2``."""
    span, _, step = part.partition(":")
    first, _, last = span.partition("-")
    return range(int(first), int(last or first) + 1, int(step or 1))
