"""How the jobs that wait are brought into the order of a policy, by their nice values alone: they exchange the
priorities that they have among themselves, so that nothing changes for any other job.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

LOWEST: Final = 1
"""Slurm's lowest priority of a job that is not held: jobs that have it stay in Slurm's order."""
MOST_NICE: Final = 2_147_483_645
"""Slurm's limit of nice values, both ways: what a job that is so far from the others has stays as it is."""


class Standing(NamedTuple):
    """How a job that waits, or all waiting tasks of an array, stands with its scheduler."""

    priority: int
    """The highest goes first."""
    nice: int
    """By which its user, or we, have lowered it."""


def nice_values(order: Sequence[str], standings: Mapping[str, Standing]) -> dict[str, int]:
    """The nice values that bring these jobs into `order`, the first first; only of those that must change.

    Where both orders begin with the same jobs, each such part is put in order for itself.
    """
    wanted = [job for job in order if job in standings]
    present = sorted(wanted, key=lambda job: -standings[job].priority)
    changes: dict[str, int] = {}
    above: int | None = None
    for part_now, part in _parts(present, wanted):
        falling = _strictly_falling([standings[one].priority for one in part_now], above)
        for job, priority in zip(part, falling, strict=True):
            above, stands = priority, standings[job]
            nice = stands.nice + stands.priority - priority
            if nice != stands.nice and abs(nice) <= MOST_NICE:
                changes[job] = nice
    return changes


def _parts(present: Sequence[str], wanted: Sequence[str]) -> list[tuple[Sequence[str], Sequence[str]]]:
    """The shortest parts in which both orders have the same jobs."""
    parts, first = [], 0
    apart: set[str] = set()
    for k, (one, other) in enumerate(zip(present, wanted, strict=True)):
        apart ^= {one}
        apart ^= {other}
        if not apart:
            parts.append((present[first : k + 1], wanted[first : k + 1]))
            first = k + 1
    return parts


def _strictly_falling(priorities: Sequence[int], above: int | None) -> list[int]:
    """Priorities in falling order, each lower than the one before and than `above`, as far as there are such."""
    found: list[int] = []
    for priority in sorted(priorities, reverse=True):
        found.append(priority if above is None else max(LOWEST, min(priority, above - 1)))
        above = found[-1]
    return found
