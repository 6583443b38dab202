"""The vocabulary of Pointsman on one page.

Times inside the engine are int64 milliseconds since the first submit (``_ms``); files and
screens use seconds (``_s``). Work is float64 nominal milliseconds: the time a job would run
on the GPUs it asks for at their best locality, alone.
"""

from enum import IntEnum
from typing import Final, Literal

NEVER_MS: Final = 1 << 62
"""A time that does not come."""

MAX_NODE_GPUS: Final = 64
"""GPUs of one node fit in one int64 mask."""

MAX_SHARING: Final = 8
"""Jobs that one GPU has slots for; the limit in force is 1 unless sharing is on."""

AS_LOGGED: Final = "as-logged"
"""What tables call the scheduler that made a log."""
GAP_S: Final = 1.0
"""Seconds by which a job in a log may last longer than it ran and count as never interrupted: clocks are rounded."""

DEADLINE: Final = "deadline_s"
"""The kept column of a log that says by when a job should end, on the clock of its submissions."""

NO_GPU: Final = "asks for no GPU"
JOB_STEP: Final = "a job step, not a job"
"""Why rows of a log are left out that are no jobs on GPUs."""

TOO_WIDE: Final = "wider than the cluster or its queue"
NARROWED: Final = "narrowed to the GPUs that they can have at once"
"""What the quality report says of gangs that never fit, under ``--oversized drop`` and ``clamp``."""

Knowledge = Literal["none", "estimate", "oracle"]
"""What a policy must be told about durations."""

Profile = Literal["places", "pairs", "goodput", "iterations", "nodes"]
"""What of model profiles a policy is told: rates by place, slowdowns of pairs on a GPU, goodput by GPUs, the computing
and communication of an iteration, what jobs take of a node and how they slow each other there."""

Progress = Literal["none", "service", "work"]
"""What a policy observes of jobs that run or have run: nothing, the GPU time they received, or their progress."""


class JobState(IntEnum):
    """Slurm's words, and STARTING and STOPPING besides."""

    FUTURE = 0
    PENDING = 1
    STARTING = 2
    RUNNING = 3
    STOPPING = 4
    COMPLETED = 5
    FAILED = 6
    CANCELLED = 7
    TIMEOUT = 8
    NODE_FAIL = 9
    PREEMPTED = 10
    SUSPENDED = 11
    HELD = 12
    """It neither waits nor runs until it is released."""


STATE_CODES: Final[dict[JobState, str]] = {
    JobState.PENDING: "PD",
    JobState.STARTING: "CF",
    JobState.RUNNING: "R",
    JobState.STOPPING: "CG",
    JobState.COMPLETED: "CD",
    JobState.FAILED: "F",
    JobState.CANCELLED: "CA",
    JobState.TIMEOUT: "TO",
    JobState.NODE_FAIL: "NF",
    JobState.PREEMPTED: "PR",
    JobState.SUSPENDED: "S",
    JobState.HELD: "PD",
}
"""Codes for narrow tables, as ``squeue`` prints them."""


class Event(IntEnum):
    """What can happen, in the order in which events of one instant are applied."""

    FINISH = 0
    FAIL = 1
    CANCEL = 2
    STOPPED = 3
    NODE_DOWN = 4
    NODE_UP = 5
    STARTED = 6
    START_FAILED = 7
    RESIZED = 8
    LEVEL = 9
    TIMER = 10
    SUBMIT = 11
    TRANSFER = 12  # or a step of a job, which no policy hears of; applied after TIMER


class Outside(IntEnum):
    """What of a run happens outside of it, and is told."""

    NOTHING = 0
    EVENTS = 1
    """Starts, stops, ends and speeds of jobs."""
    DECISIONS = 2
    """These, and which jobs are started and stopped: the policy is told of all, and not asked."""


class Told(IntEnum):
    """What a live world can be told of a job besides events; numbered apart from them, and applied after them."""

    WITHDRAW = 20
    """It is to give up its GPUs, for its own sake; what becomes of it is told later."""
    HOLD = 21
    RELEASE = 22
    ESTIMATE = 23
    """How long it will run."""
    OBSERVE = 24
    """How many times as long its computing takes as alone."""
    PIN = 25
    """It may not be preempted from now on."""
    UNPIN = 26


class Verb(IntEnum):
    """What a policy can do. Numbered apart from `Event`, for both share the plan log."""

    START = 32
    PREEMPT = 33
    RESIZE = 34
    REBATCH = 35
    MOVE = 36
    ADMIT = 37
    WAKE_AT = 38


class Reason(IntEnum):
    """Why an action was taken or refused, or why a job is pending."""

    OK = 0
    Resources = 1
    Priority = 2
    Fragmentation = 3
    Topology = 4
    QuotaExceeded = 5
    GangIncomplete = 6
    HeldByDelay = 7
    MinRuntimeProtected = 8
    Dependency = 9
    Reserved = 10
    NotPending = 16
    NotRunning = 17
    StartedThisPass = 18
    GpuTaken = 19
    GpuNotEligible = 20
    SharingLimit = 21
    Memory = 22
    NotSupported = 23
    NoTransfer = 24
    Backfilled = 32
    Evicted = 33
    Promoted = 34
    OutOfSlots = 35
    Migrated = 36


class NodeState(IntEnum):
    """Whether a node takes work."""

    UP = 0
    DRAIN = 1
    DOWN = 2


class Locality(IntEnum):
    """The tightest level of the cluster that holds a whole gang."""

    GPU = 0
    NODE = 1
    RACK = 2
    POD = 3
    CLUSTER = 4


LOCALITIES: Final = len(Locality)


class Placement(IntEnum):
    """How GPUs are chosen for a job that names none (``docs/reference/semantics.md`` §3)."""

    CONSOLIDATED = 0
    FIRST_FIT = 1
    SPREAD = 2
    TIGHTEST = 3
    FEW_RACKS = 4


class Contention(IntEnum):
    """Who shares the network with whom (``docs/reference/semantics.md`` §8)."""

    NONE = 0
    LEVEL = 1
    MAX_MIN = 2
    DUTY_CYCLE = 3
    NODE_LINK = 4


CONTENTION_NAMES: Final[dict[str, Contention]] = {
    "none": Contention.NONE,
    "level": Contention.LEVEL,
    "max-min": Contention.MAX_MIN,
    "duty-cycle": Contention.DUTY_CYCLE,
    "node-link": Contention.NODE_LINK,
}

SCATTERED: Final = (Placement.SPREAD, Placement.TIGHTEST)
"""Placements that take any free GPUs if need be."""

PLACEMENT_NAMES: Final[dict[str, Placement]] = {
    placement.name.lower().replace("_", "-"): placement for placement in Placement
}
