"""What is changed of Slurm's jobs, by `scontrol`."""

from typing import Final

from pointsman.live.backends.facts import Refused, Unsure
from pointsman.live.backends.slurm.commands import Commands

_TOO_LATE: Final = ("already completed", "already finished", "invalid job id", "job is no longer pending")
_DENIED: Final = ("access/permission denied", "operation denied", "user not permitted", "invalid user")
MOST_NICE: Final = 2_147_483_645
"""Slurm's limit, both ways."""


def set_nice(commands: Commands, unit: str, nice: int) -> None:
    """Lower the priority of a job, or of the waiting tasks of an array, by so much compared with its own.

    Raises:
        Refused: it is not changed: it has begun or ended, or this user may not. Unsure: it may be, or not.
    """
    value = max(-MOST_NICE, min(MOST_NICE, nice))
    answer = commands.run("scontrol", "update", f"JobId={unit}", f"Nice={value}")
    said = answer.errors.casefold()
    if answer.code == 0 and not said:
        return
    if any(words in said for words in _DENIED):
        raise Refused(f"{answer.errors:.200}; run the daemon as root, as SlurmUser or as an operator of Slurm")
    if any(words in said for words in _TOO_LATE):
        raise Refused(f"{answer.errors:.200}")
    raise Unsure(f"scontrol update failed with {answer.code}: {answer.errors[:200] or 'it said nothing'}")
