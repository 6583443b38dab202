"""Slurm's words for the states of jobs and nodes, and what they mean here."""

from collections.abc import Iterable
from typing import Final

from pointsman.live.backends.facts import Phase
from pointsman.types import JobState, NodeState

WAITS: Final = frozenset({
    "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "RESERVATION_DEL_HOLD", "SPECIAL_EXIT",
})  # fmt: skip
STARTS: Final = frozenset({"CONFIGURING", "POWER_UP_NODE"})
"""It has nodes, which are being made ready."""
ENDED: Final = frozenset({
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",
    "STAGE_OUT", "TIMEOUT",
})  # fmt: skip
_ENDS: Final = {
    "COMPLETED": JobState.COMPLETED,
    "CANCELLED": JobState.CANCELLED,
    "DEADLINE": JobState.TIMEOUT,
    "NODE_FAIL": JobState.NODE_FAIL,
    "PREEMPTED": JobState.CANCELLED,
    "REVOKED": JobState.CANCELLED,
    "TIMEOUT": JobState.TIMEOUT,
}
"""What Slurm's words for how jobs end mean; all others are failures."""
COMPLETING: Final = "COMPLETING"
"""Its processes may live, and its GPUs are not free: whatever else its state is."""
DOWN: Final = frozenset({"DOWN", "FUTURE", "POWERED_DOWN"})
DRAIN: Final = frozenset({
    "BLOCKED", "DRAIN", "DRAINED", "DRAINING", "ERROR", "FAIL", "FAILING", "INVAL", "INVALID_REG", "MAINT",
    "NOT_RESPONDING", "NO_RESPOND", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_DRAIN", "POWER_UP", "REBOOT",
    "REBOOT_ISSUED", "REBOOT_REQUESTED", "RESERVED", "UNKNOWN",
})  # fmt: skip
"""It takes no jobs of everybody's now, and those that it has may run on."""
_MARKS: Final = {"*": "NOT_RESPONDING", "~": "POWERED_DOWN", "#": "POWERING_UP", "!": "POWER_DOWN",
    "%": "POWERING_DOWN", "$": "MAINT", "@": "REBOOT", "^": "REBOOT_ISSUED", "-": "PLANNED"}  # fmt: skip
"""What ``sinfo`` puts behind a word."""


def phase_of(words: Iterable[str]) -> Phase:
    """How far a job is by its state and flags; a word that nobody knows is that of a job that may run."""
    said = {*words}
    if COMPLETING in said:
        return Phase.RUNNING
    if said & (WAITS | STARTS):
        return Phase.ACCEPTED
    return Phase.ENDED if said & ENDED else Phase.RUNNING


def state_of_end(word: str) -> JobState:
    """How a job ended."""
    return _ENDS.get(word, JobState.FAILED)


def node_words(text: str) -> tuple[str, ...]:
    """``IDLE``, ``DRAIN`` and ``NOT_RESPONDING`` of ``idle*+drain``."""
    found: list[str] = []
    for part in text.strip().upper().split("+"):
        bare = part.rstrip("".join(_MARKS))
        found += [bare, *(_MARKS[mark] for mark in part[len(bare) :])]
    return tuple(dict.fromkeys(word for word in found if word))


def node_state(words: Iterable[str]) -> NodeState:
    """Whether a node in these states takes work; of one that is not known yet, jobs may run on."""
    said = {*words}
    if said & DOWN:
        return NodeState.DOWN
    return NodeState.DRAIN if said & DRAIN or not said else NodeState.UP
