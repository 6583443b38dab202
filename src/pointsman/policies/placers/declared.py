"""What placers declare: the parameters that all have, what they keep, and what they keep of each job, node and GPU."""

from typing import Any, ClassVar, Literal

from pointsman.policies.parts.chance import Draws
from pointsman.policies.parts.levels import NETWORK
from pointsman.policies.parts.reserving.overdue_heads import ReservingMemory, ReservingPolicy
from pointsman.policies.sdk import (
    Delay,
    Knowledge,
    Locality,
    OfGpu,
    OfJob,
    Owner,
    Record,
    choice,
    derived,
    number,
    numbers,
    parameter,
    part,
    rows,
    whole,
    wholes,
)

MOST_SCHEDULERS = 1000
MOST_CANDIDATES = 32
SINCE_STEP = 1024
"""A forwarded job's `level` is the time of forwarding (ms) times this, plus 1 + the scheduler that it came from."""


class Features(Record):
    """What speaks against a candidate placement, each the less the better (ours; ``docs/papers/marl.md``)."""

    slow_down = number("own slow-down, 1 / rate - 1")
    harm = number("delay of running jobs, over the job's own work")
    servers = number("servers beyond the first")
    racks = number("racks beyond the first")
    left = number("GPUs left over on its servers, in eights")
    broken = number("sockets broken, in quarters")


FEATURES = Features.layout.width


class PlacerMemory(ReservingMemory):
    """What placers keep."""

    forwards = whole("jobs that were forwarded")
    turns_us = numbers(
        MOST_SCHEDULERS,
        "of each scheduler, when the decision that it is at ends; minus that, when it has ended; 0 before the first",
        unit="µs",
    )
    phase = whole("of this cycle, where jobs have waited too long (`waiting.heads`)")
    next_overdue = whole("1 + the slot of the overdue job that is tried next")
    ratio = number("how many times its estimate a job runs")
    listed = whole("number of the last list of neighbours")
    listed_before = whole("that of the last one before this decision")
    candidates = wholes(MOST_CANDIDATES, "numbers of the candidates (`candidates.places`)")
    features = rows(Features, MOST_CANDIDATES, "of each candidate")
    draws = part(Draws, "of places drawn by chance")


class WhileWaiting(OfJob):
    """What is kept of a job that waits."""

    level = whole("while it is patient, the level of a compact place; then NETWORK")
    again_ms = whole("when a job that an agent lets wait is asked for again", unit="ms")
    had_choice = whole("1 where it could be placed compactly, or forwarded, as it was last asked for")


class WhileRunning(OfJob):
    """What is kept of a job that runs, in the room of the other."""

    beside = number("rate beside the trial")
    before = number("rate without a trial, worked out once a decision; 0: not yet")
    listed = whole("number of the last list of neighbours that it was in")


class Scored(OfGpu):
    """What is kept of a GPU."""

    score = number("of its node, whose first GPU it is: the less the better")


def owner(job: Any, schedulers: int) -> Owner:
    """Whose a job, a record of ``State.jobs``, is."""
    mine, note = int(job["cls"]) % schedulers, int(job["level"])
    return Owner(mine, note % SINCE_STEP - 1, note // SINCE_STEP) if note else Owner(mine)


Order = Literal["fifo", "sjf"]
IN_WHAT_ORDER = "in what order jobs are tried: fifo, by submission, or sjf, shortest first"


class Placer(ReservingPolicy):
    """Jobs are tried in order and start if they fit; none waits for a job ahead of it."""

    needs: ClassVar[Knowledge] = "none"
    memory: ClassVar[type[Record]] = PlacerMemory
    kept: ClassVar[type[OfJob]] = WhileWaiting
    placement: ClassVar[str] = "tightest"  # under which any free GPUs will do
    takes_whole_gpus: ClassVar[bool] = True
    source: ClassVar[str] = "a baseline of Zhao and Wu (MARL), IEEE TNSM 2022, arXiv 2112.13354"

    schedulers: int = parameter(
        1,
        "number of schedulers, each with racks of its own; a job belongs to one of them, drawn by chance",
        ge=1,
        le=MOST_SCHEDULERS,
    )
    order: Order = parameter("fifo", IN_WHAT_ORDER)
    forward: bool = parameter(
        True, "a scheduler that cannot place a job now hands it over, once, to one that can, if there is one"
    )

    @property
    def takes_turns(self) -> bool:  # ty: ignore[incompatible-property-override]
        """Unless jobs that have waited too long go before others."""
        return self.patience_s == 0

    @property
    def durations(self) -> Knowledge | Literal["history"]:
        """Shortest jobs first needs them."""
        return "oracle" if self.order == "sjf" else super().durations

    @property
    def divides_among(self) -> int:
        return self.schedulers

    def owner_of(self, job: Any) -> Owner | None:
        return owner(job, self.schedulers) if self.schedulers > 1 else None

    def forwards(self, memory: Any) -> int:
        return int(PlacerMemory(memory).forwards)

    @derived
    def patient_share(self) -> float:
        """Share of its duration for which a job waits for a compact place."""
        return 0.0


class PatientPlacer(Placer):
    """A placer whose jobs wait a while for a compact place. Its subclasses have a parameter `patience`."""

    needs: ClassVar[Knowledge] = "oracle"

    patience: float

    @derived
    def patient_share(self) -> float:
        """Share of its duration for which a job waits for a compact place."""
        return self.patience

    def delay_of(self, job: Any) -> Delay | None:
        """Until its patience ends a job takes no GPUs beyond one node, or rack, if one could hold it."""
        level = WhileWaiting(job).level
        return None if level >= NETWORK else Delay(Locality(int(level)), int(job["aux"]))


FIFO, SJF = choice(Placer, "order", "fifo"), choice(Placer, "order", "sjf")
