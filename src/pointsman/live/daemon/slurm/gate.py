"""What jobs at the gate ask for, and what may become of them."""

from dataclasses import replace
from typing import Final

from pointsman.errors import InputError
from pointsman.live.backends.slurm.array_tasks import TOO_MANY
from pointsman.live.backends.slurm.marks import Partitions
from pointsman.live.observe.sight import SeenJob
from pointsman.live.world.kind import Kind

ALL: Final = "*"
"""In place of the QOS whose jobs may be preempted: all of them."""


def kind_at_gate(seen: SeenJob, partitions: Partitions) -> Kind:
    """The kind of a job, in the partition in which it will run.

    Raises:
        InputError: only Slurm can say where it runs.
    """
    kind = seen.kind._replace(partition=partitions.target)
    if "+" in seen.shown:
        raise InputError("it is a part of a heterogeneous job")
    if seen.names_nodes:
        raise InputError("it says on which nodes it must run")
    if kind.gpus_per_node is not None:
        return kind
    if seen.nodes != 1:
        raise InputError("it does not say how many GPUs it takes of each node")
    return kind._replace(nodes_requested=1, gpus_per_node=kind.gpus)


def may_preempt(seen: SeenJob, kind: Kind, allowed: frozenset[str]) -> bool:
    """Whether a job may be preempted, by its own leave and by that of its QOS, which is `allowed`."""
    return seen.requeues and (ALL in allowed or kind.queue in allowed)


def is_held(seen: SeenJob) -> bool:
    """Whether its user, or anything but the gate, holds it."""
    return seen.held not in ("", "PartitionDown", "PartitionInactive")


def throttle(seen: SeenJob) -> SeenJob:
    """A task of an array of which as many run as may at once."""
    return seen if is_held(seen) else replace(seen, held=TOO_MANY)
