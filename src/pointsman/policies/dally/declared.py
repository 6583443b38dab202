"""What the policies of the family declare: their parameters, what they keep, and what they keep of each job."""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from pointsman.policies.parts.levels import NODE
from pointsman.policies.parts.moving import Moves
from pointsman.policies.parts.offers import Offered, delay_of
from pointsman.policies.parts.preemption.cost import Budget
from pointsman.policies.parts.preemption.evicting_policy import (
    COST_WEIGHT_MEANING,
    PATIENCE_MEANING,
    EvictingPolicy,
    WaitingMemory,
)
from pointsman.policies.sdk import (
    Delay,
    Knowledge,
    OfJob,
    Profile,
    Progress,
    Record,
    Standing,
    derived,
    milliseconds,
    number,
    numbers,
    parameter,
    part,
    rows,
    whole,
    wholes,
)

BINS, DEMANDS = 24, 18
BUCKETS, CLASSES, MOST_GROUPS = 64, 128, 32


class Waits(Record):
    """Waits of one level and demand in one bin of time (`tuner`)."""

    stamp = whole("number of the bin, from 1")
    count = number("waits")
    sum = number("of these", unit="s")
    seen = number("waits that ended at the level")
    seen_sum = number("of these", unit="s")
    seen_squares = number("of these", unit="s²")


class DelayMemory(WaitingMemory):
    """What policies with delay scheduling keep."""

    waits = rows(Waits, (2 * DEMANDS, BINS), "by level and demand, and by bin")
    moves = part(Moves, "of moves to better places")


class DelayKept(Offered):
    """What they keep of a job."""

    node_timer_ms = number("how long it holds out for one node", unit="ms")
    rack_timer_ms = number("how long it holds out for one rack", unit="ms")


class DelayScheduling(EvictingPolicy):
    """Each job waits for a node, then a rack, for at most a timer tuned from recent waits; jobs slowed by the network
    move when a better place becomes free.
    """

    needs: ClassVar[Knowledge] = "none"
    profiles: ClassVar[tuple[Profile, ...]] = ("places",)
    progress: ClassVar[Progress] = "work"
    placement: ClassVar[str] = "tightest"
    takes_whole_gpus: ClassVar[bool] = True
    needs_rates: ClassVar[bool] = True
    memory: ClassVar[type[Record]] = DelayMemory
    kept: ClassVar[type[OfJob]] = DelayKept

    node_timer_s: float = parameter(7200.0, "initial timer for waiting for one node", unit="s", ge=0)
    rack_timer_s: float = parameter(14_400.0, "initial timer for waiting for one rack", unit="s", ge=0)
    history_s: float = parameter(86_400.0, "span of recent waits that timers are tuned from", unit="s", gt=0)
    least_entries: int = parameter(5, "waits required before timers are tuned", ge=1)
    deviations: float = parameter(1.0, "standard deviations by which a timer exceeds the mean wait", ge=0)
    shortest_timer_s: float = parameter(0.0, "minimum of a tuned timer", unit="s", ge=0)
    longest_timer_s: float = parameter(86_400.0, "maximum of a tuned timer", unit="s", ge=0)
    epsilon: float = parameter(0.0, "wait for a level only if the next one is slower by more than this share", ge=0)
    quantum_s: float = parameter(1800.0, "minimum run time before a job can be preempted", unit="s", ge=0)
    round_s: float = parameter(60.0, "interval at which better placements are searched", unit="s", gt=0)

    def delay_of(self, job: Any) -> Delay | None:
        """Until the timer of its level ends."""
        K = DelayKept(job)
        return delay_of(job, K.node_timer_ms if K.level == NODE else K.rack_timer_ms)

    @derived
    def tuned(self) -> bool:
        """Whether timers are tuned from recent waits."""
        return True

    @derived
    def preempts(self) -> bool:
        """Whether jobs are preempted."""
        return True

    @derived
    def node_timer_ms(self) -> float:
        """The initial timer for one node."""
        return milliseconds(self.node_timer_s)

    @derived
    def rack_timer_ms(self) -> float:
        """The initial timer for one rack, no shorter."""
        return milliseconds(max(self.node_timer_s, self.rack_timer_s))


class DallyKept(DelayKept):
    """What Dally keeps of a job, whose `level` is that of its service."""

    victim_level = whole("its level as a victim: that of its service less what preemptions cost")


class Dally(DelayScheduling):
    """Each job waits for a node, then a rack, for at most a timer tuned from recent waits; jobs that received the least
    service run first and may preempt; jobs slowed by the network move when a better place becomes free.
    """

    name: ClassVar[str] = "dally"
    hooks: ClassVar[str] = "pointsman.policies.dally.dally"
    source: ClassVar[str] = "Sharma et al., GPU Cluster Scheduling for Network-Sensitive Deep Learning, 2024"
    kept: ClassVar[type[OfJob]] = DallyKept

    first_level_gpu_s: float = parameter(
        3250.0, "service at which a job leaves the first level; each further level is twice as much", unit="GPU-s", gt=0
    )
    levels: int = parameter(12, "number of times that a job can move down a level", ge=0, le=40)
    sensitive: bool = parameter(False, "service is GPUs times nominal work done; else GPUs times time they were held")


class Hazards(Record):
    """How long jobs last (`hazards`)."""

    refitted = whole("1 + the instant of the last refit; 0: there was none", unit="ms")
    ends = whole("jobs that have ended")
    ends_before = whole("as of the last refit")
    bucket_begins = numbers(BUCKETS, "at which progress a bucket begins", unit="ms")
    class_begins = numbers(CLASSES, "at which estimate a class begins", unit="ms")
    ended = numbers((CLASSES, BUCKETS), "jobs that have ended, by class and bucket")
    gpu_ms = numbers(CLASSES, "their GPU time", unit="GPU-ms")
    score = numbers(CLASSES, "by how much the group's hazards have predicted better than the pooled ones")
    group = wholes(CLASSES, "the group of a class")
    index = numbers((MOST_GROUPS, BUCKETS), "Gittins index", unit="ms")
    log_chance = numbers((MOST_GROUPS + 1, BUCKETS), "ln of the chance to end in a bucket; behind the groups, pooled")
    dead = numbers((MOST_GROUPS + 1, BUCKETS), "while refitting: ended jobs")
    alive = numbers((MOST_GROUPS + 1, BUCKETS), "while refitting: jobs that have not ended")
    hazard = numbers((MOST_GROUPS + 1, BUCKETS), "the share of jobs that end in a bucket of those that reach it")
    number = numbers(CLASSES, "while refitting: jobs, unfinished ones included")
    work = numbers(CLASSES, "while refitting: their GPU time", unit="GPU-ms")


class Losses(Record):
    """What leaving a node, then a rack, has cost gangs (`whole_nodes`)."""

    node_loss = number("share by which it slows them, times their GPUs")
    node_gpus = number("their GPUs")
    rack_loss = number("likewise of racks")
    rack_gpus = number("their GPUs")


class GittinsMemory(DelayMemory):
    """What `gittins` keeps."""

    hazards = part(Hazards, "how long jobs last")
    budget = part(Budget, "of preemptions")
    losses = part(Losses, "what the network costs gangs")


class GittinsKept(DelayKept):
    """What it keeps of a job, whose `level` is its rank."""

    class_number = whole("1 + its class; 0: it has none yet")


class Gittins(DelayScheduling):
    """Learns the distribution of durations from completed jobs, and runs next the job that is most likely to end soon
    per GPU time; placement and preemption are those of `dally`.
    """

    name: ClassVar[str] = "gittins"
    hooks: ClassVar[str] = "pointsman.policies.dally.gittins"
    source: ClassVar[str] = "ours; index: Gittins, Bandit processes and dynamic allocation indices, 1979"
    memory: ClassVar[type[Record]] = GittinsMemory
    kept: ClassVar[type[OfJob]] = GittinsKept
    learns: ClassVar[bool] = True

    predictor: Literal["history", "estimate", "none"] = parameter(
        "history", "what sorts jobs into groups: earlier jobs of their queue and user, the run's --estimate, or nothing"
    )
    preempt: bool = parameter(True, "whether jobs are preempted")
    ageing: float = parameter(
        0.0,
        "GPU seconds of rank that a job loses for each second since its submission",
        unit="GPUs",
        ge=0,
    )
    quantum_s: float = parameter(600.0, "minimum run time before a job can be preempted", unit="s", ge=0)
    refit_s: float = parameter(43_200.0, "interval between fits of the distribution", unit="s", ge=1)
    least_ends: int = parameter(200, "completed jobs required before the first fit", ge=1)
    groups: int = parameter(24, "number of groups of jobs, by their estimates", ge=1, le=MOST_GROUPS)
    cost_weight: float = parameter(8.0, COST_WEIGHT_MEANING, ge=0)
    loss_budget: float = parameter(
        0.02, "share of all GPU time from which on preemptions count for more than they cost", gt=0, le=1
    )
    memory_jobs: float = parameter(
        7000.0, "number of completed jobs that older ones count for together; 0: all count alike", unit="jobs", ge=0
    )
    whole_nodes_loss: float = parameter(
        0.05,
        "mean share by which leaving a node slows gangs from which on they are placed on whole nodes, if leaving the "
        "rack slows them less; 0: never",
        ge=0,
    )
    whole_nodes_gpus: int = parameter(100, "GPUs that gangs must have requested first", unit="GPUs", ge=1)
    patience_s: float = parameter(43_200.0, PATIENCE_MEANING, unit="s", ge=0)
    strength: float = parameter(5.0, "weight of the distribution of all jobs in that of a group", unit="jobs", gt=0)

    @model_validator(mode="after")
    def _has_nothing_to_weigh(self) -> Self:
        defaults = {name: type(self).model_fields[name].default for name in ("cost_weight", "patience_s")}
        asked = [name for name, default in defaults.items() if getattr(self, name) not in (0, default)]
        if not self.preempt and asked:
            raise ValueError(f"nothing is preempted, and {asked[0]} is about preemption: leave it out, or preempt")
        return self

    @property
    def durations(self) -> Knowledge | Literal["history"]:
        return self.predictor

    @derived
    def preempts(self) -> bool:
        """Whether jobs are preempted."""
        return self.preempt

    def forget_jobs(self, memory: NDArray[np.float64]) -> None:
        """No job is overdue, or has a grant."""
        M = GittinsMemory(memory)
        M.overdue.first = M.overdue.last = M.granted_gpus = M.none_until_ms = 0

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing:
        """Its rank, and when it goes first."""
        turn = super().standing(state, job, now_ms)
        if job["granted"] > 0 and turn:
            return turn
        rank = f"its rank is {int(job['level']) / 3.6e6:,.1f} GPU hours, and the least goes first"
        return Standing(f"{rank}; {turn.said}" if turn else rank)

    @property
    def _bounds_waits(self) -> bool:
        return self.preempt and self.patience_s > 0

    def _dearness(self, state: Any) -> float:
        return float(max(1.0, GittinsMemory(state.memory).budget.scarcity))
