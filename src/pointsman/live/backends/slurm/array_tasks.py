"""Tasks of arrays that wait, which Slurm lists as one job."""

import re
from typing import Final

MOST_TASKS: Final = 1_000
"""Tasks of an array that wait and are seen one by one; the others are not until these have begun."""
_WAITING_TASKS: Final = re.compile(r"(?P<array>\d+)_\[(?P<tasks>[\d,:-]+)(?:%\d+)?\]")


def task_ids(id_: str) -> list[str]:
    """``8_4``, ``8_5`` of ``8_[4-5%2]``; the id itself of any other."""
    found = _WAITING_TASKS.fullmatch(id_)
    if found is None:
        return [id_]
    tasks: list[str] = []
    for part in found["tasks"].split(","):
        tasks += [f"{found['array']}_{number}" for number in _span(part)[: MOST_TASKS - len(tasks)]]
    return tasks


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
