"""How a daemon is started."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pointsman.cluster import Cluster
from pointsman.live.backends.local.backend import Local
from pointsman.live.backends.protocol import Backend
from pointsman.live.control.clock import Clock
from pointsman.live.control.limits import Limits
from pointsman.live.observe.advising import Scope
from pointsman.live.records.store import Store

DECIDING: Final = "deciding"
SORT: Final = "sort"
"""Under which names a store keeps by which policy it goes on, and what becomes of its jobs."""

RUN, SIMULATED, OBSERVED, ACTED = "run", "simulated", "observed", "acted"
PARTITIONS: Final = "partitions"
"""Under which name the store of a daemon that starts Slurm's jobs keeps where they wait and run."""
SORTS: Final = {
    RUN: "really run",
    SIMULATED: "are simulated",
    OBSERVED: "are of a daemon that observes or advises",
    ACTED: "are of a daemon that starts Slurm's jobs (--act)",
}
"""What becomes of jobs."""


@dataclass(frozen=True)
class Setting:
    """What its owner says."""

    folder: Path
    """Where its store and the records of attempts are."""
    cluster: str
    policy: str | None = None
    """None: the one that decided last with its parameters, or else the default one."""
    params: Mapping[str, Any] = field(default_factory=dict)
    overheads: str | None = None
    """That the policy assumes; None: as last, or else the realistic ones."""
    min_run_s: float | None = None
    """How long an attempt runs before it may be preempted; None: as last, or else not at all."""
    backend: Callable[[Cluster, Path], Backend] = Local
    """What runs jobs on a cluster, and keeps its records in a folder."""
    clock: Callable[[Store, int], Clock] = Clock
    compile: Callable[[str], None] = lambda policy: None
    """Makes what a policy needs, before a world is made."""
    poll_s: float = 0.1
    """How often the backend is looked at."""
    simulates: bool = False
    """Whether nothing really runs: a store is of daemons of one sort only."""
    longest_turn_s: float = 60.0
    """After which a policy counts as hung."""
    observes: str | None = None
    """The policy that stands for another scheduler, which decides, and is observed; None: nobody else decides."""
    limits: Limits = field(default_factory=Limits)
    """How often jobs may be preempted."""
    preempts: frozenset[str] | None = None
    """The QOS whose jobs may be preempted, if the daemon says which of Slurm's jobs start; None: it does not say so."""
    advises: Scope | None = None
    """Which jobs may get other priorities from that scheduler; None: none."""
    gather_s: float = 0.005
    """How long it waits for more after something came, so that a burst is one turn."""
