"""What Slurm says of its jobs, nodes and partitions at one moment. Times are seconds since 1970 by its clock."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from pointsman.live.backends.facts import Phase
from pointsman.live.backends.slurm.states import phase_of
from pointsman.types import NodeState


class GpuDemand(NamedTuple):
    """The GPUs that a job asks for."""

    total: int | None = 0
    """None: that is known once it runs, such as where it asks by the socket."""
    per_node: int | None = 0
    """None: it does not say."""
    gpu_type: str = ""
    """As our catalogue names it; empty: any."""


NO_GPUS: Final = GpuDemand()


class NodeGpus(NamedTuple):
    """The GPUs of one node that a job holds."""

    node: str
    count: int | None
    """None: not known yet."""
    indexes: tuple[int, ...] | None = None
    """None: not known; GPUs that are devices without files have none."""


class Ending(NamedTuple):
    """How the script of a job ended."""

    code: int = 0
    signal: int = 0


DONE: Final = Ending()
"""With 0, or not yet."""


@dataclass(frozen=True)
class SlurmJob:
    """A job, a task of an array, the tasks of an array that wait, or a component of a heterogeneous job."""

    id: str
    """As Slurm prints it: ``12``, ``8_3``, ``8_[4-9%2]``, ``12+1``."""
    number: int
    """The JobId of this record, which no other has until Slurm begins to count again."""
    name: str = ""
    user: str = ""
    uid: int = -1
    account: str = ""
    partitions: tuple[str, ...] = ()
    """Several while it waits, if it may run in any of them."""
    qos: str = ""
    state: str = ""
    flags: tuple[str, ...] = ()
    """Further states that hold beside the first, as JSON has them: ``COMPLETING`` beside ``COMPLETED``."""
    reason: str = ""
    priority: int = 0
    """0: held."""
    nice: int = 0
    """By which that was lowered."""
    submit_unix_s: int | None = None
    eligible_unix_s: int | None = None
    start_unix_s: int | None = None
    """When it started; None while it waits, although Slurm may say when it expects that."""
    end_unix_s: int | None = None
    """When it ended; None before."""
    time_limit_s: float | None = None
    """None: it has none, or its partition's."""
    nodes_asked: int = 1
    gpus: GpuDemand = NO_GPUS
    held: tuple[NodeGpus, ...] = ()
    """What it runs on, or ran on last if it has ended."""
    restarts: int = 0
    requeues: bool = False
    """Whether Slurm may run it again."""
    dependency: str = ""
    required_nodes: tuple[str, ...] = ()
    """ReqNodeList."""
    excluded_nodes: tuple[str, ...] | None = None
    """ExcNodeList; None: not asked yet."""
    features: str = ""
    admin_comment: str = ""
    ending: Ending = DONE

    @property
    def gpus_each(self) -> int:
        """That it takes of each node, if it does not say how many of which: at least as many as there are."""
        return self.gpus.per_node or -(-(self.gpus.total or 0) // self.nodes_asked)

    @property
    def gpus_by_node(self) -> dict[str, int]:
        """Those of the nodes on which it runs, or ran last."""
        return {part.node: part.count or self.gpus_each for part in self.held}

    @cached_property
    def phase(self) -> Phase:
        """Where it is: ``ENDED`` means that its GPUs are free, so a job that is COMPLETING runs."""
        return phase_of((self.state, *self.flags))


@dataclass(frozen=True)
class SlurmNode:
    """A node."""

    name: str
    state: NodeState = NodeState.UP
    """DOWN only where Slurm says so, because that ends jobs; what takes no new ones is DRAIN."""
    words: tuple[str, ...] = ()
    """Its states as Slurm names them."""
    reason: str = ""
    gpus: tuple[tuple[str, int], ...] = ()
    """(type, number), types as our catalogue names them."""
    gpus_in_use: int = 0
    used_indexes: tuple[int, ...] | None = None
    partitions: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Why it takes no jobs: the Reason that somebody or Slurm gave, else its states."""
        return "" if self.state == NodeState.UP else self.reason or "+".join(self.words).lower()


@dataclass(frozen=True)
class SlurmPartition:
    """A partition."""

    name: str
    state: str = "UP"
    """UP, DOWN, DRAIN or INACTIVE."""
    default: bool = False
    max_time_s: float | None = None
    """None: no limit."""
    priority_tier: int = 1
    preempt_mode: str = ""
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Controller:
    """The daemon that answers."""

    version: str
    boot_unix_s: int
    asked_unix_s: int
    """When it was asked, by its own clock."""
    cluster: str = ""
    scheduler: str = ""
    """SchedulerType, such as ``sched/backfill``."""
    priority: str = ""
    """PriorityType."""
    weights: tuple[tuple[str, int], ...] = ()
    """(``PriorityWeightAge``, 1000) and the like, as ``scontrol show config`` names them."""
    min_job_age_s: float = 300.0
    """How long jobs that ended are listed."""
    slurm_uid: int = 0
    """The uid of SlurmUser."""
    private: tuple[str, ...] = ()
    """PrivateData: what users see only of their own."""
    has_accounts: bool = False
    """Whether slurmdbd knows its users, and may give them rights."""


@dataclass(frozen=True)
class EndedRun:
    """How a run of a job ended, by Slurm's accounting."""

    id: str
    number: int
    state: str
    ending: Ending = DONE
    submit_unix_s: int | None = None
    start_unix_s: int | None = None
    end_unix_s: int | None = None
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """Everything, at one moment."""

    unix_s: float
    """When it was begun, by the controller's clock."""
    jobs: tuple[SlurmJob, ...]
    """All that Slurm lists, also those that ended lately."""
    nodes: tuple[SlurmNode, ...]
    partitions: tuple[SlurmPartition, ...]
    controller: Controller
    doubts: tuple[str, ...] = ()
    """Why nothing may be concluded from what is absent, a sentence each."""
    skew_s: float = 0.0
    """By how much the controller's clock is ahead of this machine's."""

    @property
    def complete(self) -> bool:
        """Whether a job that is absent is gone."""
        return not self.doubts
