"""Values in the JSON of Slurm's commands and of slurmrestd, whose types changed from version to version: a number may
be ``{"set": true, "infinite": false, "number": 7}``, a state a list.
"""

from typing import Any

Job = dict[str, Any]
"""What Slurm says of one job."""


def number(value: Any) -> Any:
    """A plain number of one in any of Slurm's forms; None where none is set, ``UNLIMITED`` of an infinite one."""
    if type(value) is int:
        return value
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        value = value.get("number") if value.get("set", True) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        return int(value) if value.strip().isascii() and value.strip().isdigit() and len(value) < 20 else value or None
    return int(value) if value == value and abs(value) < 1e18 and value == int(value) else value


def instant(value: Any) -> int | None:
    """Returns seconds since 1970; None of 0, and of what is no whole number."""
    found = number(value)
    return found if isinstance(found, int) and found > 0 else None


def text_of(value: Any) -> str | None:
    """Returns text, or what a number would be as text; None of lists and objects."""
    if type(value) is str:
        return value
    return None if value is None or isinstance(value, dict | list) else str(value)


def state_of(value: Any) -> str | None:
    """Returns the state itself, without the flags that may follow it."""
    return text_of(value[0] if isinstance(value, list) and value else value)


def object_of(value: Any) -> Job:
    """Returns an object; an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def job_ids(job: Job, array: Job, het: Job) -> tuple[str | None, str | None]:
    """The number of a job, and how it is shown: ``12_3`` of an array, ``12_[4-9]`` of its rest, ``12+1`` of a gang."""
    raw = text_of(number(job.get("job_id")))
    of_array, of_gang = number(array.get("job_id")), number(het.get("job_id"))
    element, offset = number(array.get("task_id")), number(het.get("job_offset"))
    if of_array and (element is not None or array.get("task")):
        return raw, f"{of_array}_{element}" if element is not None else f"{of_array}_[{array['task']}]"
    return raw, f"{of_gang}+{offset or 0}" if of_gang else raw
