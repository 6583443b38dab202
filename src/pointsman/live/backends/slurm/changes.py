"""What is changed of Slurm's jobs, by `scontrol`."""

from collections.abc import Sequence
from typing import Final

from pointsman.cluster.hostlist import compress
from pointsman.errors import UsageError
from pointsman.live.backends.facts import Denied, Refused, Unsure
from pointsman.live.backends.slurm.commands import Answer, Commands
from pointsman.live.backends.slurm.records import SlurmJob

_TOO_LATE: Final = ("already completed", "already finished", "invalid job id", "job is no longer pending")
_DENIED: Final = ("access/permission denied", "operation denied", "user not permitted", "invalid user")
_IMPOSSIBLE: Final = ("invalid node name", "invalid partition", "node configuration is not available", "job is pending")
_RIGHTS: Final = "run the daemon as SlurmUser, or as an operator (to advise) or administrator (to act) of Slurm"
_SOME_DONE: Final = ": no error"


def set_nice(commands: Commands, target: str, nice: int) -> None:
    """Lower the priority of a job, or of tasks of an array, by so much compared with its own.

    Raises:
        Refused: it is not changed: it has begun or ended, or this user may not. Unsure: it may be, or not.
    """
    _change(commands, "update", f"JobId={target}", f"Nice={nice}")


def hold(commands: Commands, target: str, *, by_user: bool) -> None:
    """A waiting job, or tasks of an array, may not start; `by_user`: its user can release it.

    Raises:
        Refused: it surely is not held. Unsure: it may be, or not.
    """
    _change(commands, "uhold" if by_user else "hold", target)


def move(commands: Commands, job: str, partition: str, nodes: Sequence[str], mark: str) -> None:
    """Have a waiting job wait in another partition, for these nodes, with a mark in AdminComment: by one request.

    Raises:
        Refused: it surely was not moved. Unsure: it may be, or not.
    """
    listed = compress(nodes)
    where = (f"Partition={partition}", f"ReqNodeList={listed}", f"AdminComment={mark}")
    _change(commands, "update", f"JobId={job}", *where)


def leave(commands: Commands, target: str, partition: str) -> None:
    """Have a waiting job, or tasks of an array, wait in another partition, with all that their users asked for: lists
    of nodes can be changed of single jobs only.

    Raises:
        Refused: it surely was not moved. Unsure: it may be, or not.
    """
    _change(commands, "update", f"JobId={target}", f"Partition={partition}")


def let_start(commands: Commands, job: SlurmJob) -> None:
    """A job that is held, or was requeued, may start, but not in the second in which it was requeued: its nodes would
    refuse what they have stopped then, whereupon Slurm ends it.

    Raises:
        Refused: it is not released. Unsure: it may be, or not.
    """
    start = "now" if job.submit_unix_s is None else f"uts{job.submit_unix_s + 1}"  # by the controller's own clock
    _change(commands, "update", f"JobId={job.id}", f"StartTime={start}")  # first, or it may start before
    if job.priority == 0:
        _change(commands, "release", job.id)


def requeue_and_hold(commands: Commands, job: str) -> None:
    """A job that runs is stopped, and is held then; one that has ended is not run again.

    Raises:
        Refused: it is not stopped. Unsure: it may be, or not.
    """
    _change(commands, "requeuehold", "Incomplete", job)


def cancel(commands: Commands, job: str) -> None:
    """A job ends.

    Raises:
        Refused: it had ended. Unsure: it may have, or not.
    """
    answer = _run(commands, "scancel", job)
    if answer.code != 0 or answer.errors:
        raise _failure("scancel", answer)


def _change(commands: Commands, verb: str, *words: str) -> None:
    answer = _run(commands, "scontrol", verb, *words)
    if _SOME_DONE in answer.errors.casefold():  # of tasks of an array, others of which have ended meanwhile
        return
    if answer.code != 0 or answer.errors:
        raise _failure(f"scontrol {verb}", answer)


def _run(commands: Commands, *command: str) -> Answer:
    """That a command is missing may pass: it is being replaced."""
    try:
        return commands.run(*command)
    except UsageError as error:
        raise Unsure(str(error)) from None


def _failure(command: str, answer: Answer) -> Exception:
    said = answer.errors.casefold()
    if any(words in said for words in _DENIED):
        return Denied(f"{answer.errors:.200}; {_RIGHTS}")
    if any(words in said for words in (*_TOO_LATE, *_IMPOSSIBLE)):
        return Refused(f"{answer.errors:.200}")
    return Unsure(f"{command} failed with {answer.code}: {answer.errors[:200] or 'it said nothing'}")
