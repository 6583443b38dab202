"""What users of Slurm type, where a daemon beside it does not take orders."""

from collections.abc import Mapping
from typing import Final, NoReturn

from pointsman.errors import UsageError
from pointsman.live.control.orders import NodeOrder, UserOrder, Verb
from pointsman.types import NodeState

SUBMIT: Final = "sbatch"
HANDS_BACK: Final = (
    "the queue is being handed back, and no more jobs are started: try 'pointsman live stop --hand-back' again, or use "
    "'pointsman live stop' and start the daemon again"
)
_OF_JOBS: Final[Mapping[Verb, str]] = {
    Verb.CANCEL: "scancel",
    Verb.HOLD: "scontrol hold",
    Verb.RELEASE: "scontrol release",
    Verb.REQUEUE: "scontrol requeue",
}


def refuse(order: UserOrder, shown: str, does: str) -> NoReturn:
    """An order that Slurm takes; `shown`: what it calls the job, `does`: what the daemon does.

    Raises:
        UsageError: always, with the command to use instead.
    """
    raise UsageError(f"this daemon {does}: use '{_command(order, shown)}'")


def _command(order: UserOrder, shown: str) -> str:
    if isinstance(order, NodeOrder):
        state = "RESUME" if order.wanted == NodeState.UP else "DRAIN Reason=TEXT"
        return f"scontrol update NodeName={order.node} State={state}"
    return f"{_OF_JOBS[order.verb]} {shown}"
