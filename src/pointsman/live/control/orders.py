"""What users and operators want of jobs and nodes that are there."""

from enum import StrEnum
from typing import NamedTuple

from pointsman.live.records.job import Job
from pointsman.types import NodeState


class Verb(StrEnum):
    """What is to become of a job."""

    CANCEL = "cancel"
    HOLD = "hold"
    """It waits, and does not start until it is released."""
    RELEASE = "release"
    REQUEUE = "requeue"
    """It stops, and waits again."""


class JobOrder(NamedTuple):
    """A job that has ended, or is in no state for it, stays as it is."""

    verb: Verb
    job: int
    uid: int = -1
    """Who wants it."""


class NodeOrder(NamedTuple):
    """A node is to be in a state, as far as its backend lets it: DRAIN takes no new jobs, UP is whatever it is."""

    node: str
    wanted: NodeState
    reason: str = ""
    uid: int = -1


UserOrder = JobOrder | NodeOrder


class Changed(NamedTuple):
    """A job asks for something else than when it came, in another scheduler's queue."""

    job: int
    asked: Job


Order = UserOrder | Changed
