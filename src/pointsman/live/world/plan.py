"""What a policy decided in one turn, read from its plan log."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.types import Reason, Verb

ALL_GPUS = (1 << 64) - 1
"""The mask of the 64 GPUs of a node: the engine has masks with a sign."""


def with_sign(mask: int) -> int:
    """A mask as the engine has it."""
    return mask - (1 << 64) if mask >> 63 else mask


class Action(NamedTuple):
    """What is to be done with a job."""

    at_ms: int
    verb: Verb
    row: int
    attempt: int
    parts: tuple[tuple[int, int], ...]
    """(node, mask of its GPUs)."""
    reason: Reason


def actions_of(log: NDArray[np.void]) -> list[Action]:
    """The starts and preemptions in rows of a plan log (LOG), whose parts are joined by their sequence numbers."""
    actions: dict[int, Action] = {}
    decided = log[np.isin(log["kind"], (Verb.START, Verb.PREEMPT))]
    for at_ms, seq, kind, row, attempt, _, reason, node, mask in decided.tolist():
        before = actions.get(seq) or Action(at_ms, Verb(kind), row, attempt, (), Reason(reason))
        actions[seq] = before._replace(parts=(*before.parts, (node, mask & ALL_GPUS)))
    return list(actions.values())
