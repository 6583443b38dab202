"""What `pollux` declares: its parameters, and what it keeps of GPU types, queues, jobs and nodes."""

from typing import ClassVar

from pointsman.policies.sdk import (
    CompiledPolicy,
    Knowledge,
    OfJob,
    OfNode,
    Profile,
    Progress,
    Record,
    numbers,
    parameter,
    whole,
)

TYPES, QUEUES = 64, 8000
"""Types of GPU; queues: of those beyond nothing is foreseen."""


class PolluxMemory(Record):
    """What it keeps while a round is planned."""

    free = numbers(TYPES, "GPUs to give away, by type")
    seeking = numbers(TYPES, "jobs, by type of GPU")
    total = numbers(TYPES, "GPUs, by type")
    left = numbers(QUEUES, "GPUs that jobs of a queue may yet have")


class Planned(OfJob):
    """What it keeps of a job, whose `level` is how often it was restarted."""

    most_held = whole("the most GPUs that it ever held")
    gpus = whole("GPUs that it is to have; `DONE`: that has been carried out")
    node = whole("the node that it is to be on, `NOWHERE` or `WHOLE_NODES`")
    gpu_type = whole("its type of GPU")


class Divided(OfNode):
    """What it keeps of a node."""

    left = whole("GPUs not yet given away; -1 - job: that job is to have all of it")


class Pollux(CompiledPolicy):
    """Every minute all jobs get the GPUs with which they learn fastest together: elastic ones any number, adapting
    their batch; a restart must pay. Priorities are ignored.
    """

    name: ClassVar[str] = "pollux"
    needs: ClassVar[Knowledge] = "none"
    profiles: ClassVar[tuple[Profile, ...]] = ("goodput",)
    progress: ClassVar[Progress] = "work"
    hooks: ClassVar[str] = "pointsman.policies.pollux.pollux"
    memory: ClassVar[type[Record]] = PolluxMemory
    kept: ClassVar[type[OfJob]] = Planned
    rate_model: ClassVar[str] = "goodput"
    places_itself: ClassVar[bool] = True
    takes_whole_gpus: ClassVar[bool] = True
    keeps_shapes: ClassVar[bool] = False
    source: ClassVar[str] = "Qiao et al., Pollux: Co-adaptive Cluster Scheduling, OSDI 2021"

    interval_s: float = parameter(60.0, "interval between rounds", unit="s", source="paper", gt=0)
    power: float = parameter(
        -1.0, "p of the power mean of speedups: the lower, the fairer", source="paper", ge=-10, le=1
    )
    restart_s: float = parameter(30.0, "cost of a restart that the search assumes", unit="s", source="paper", ge=0)
