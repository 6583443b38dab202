"""What Slurm says of its jobs and nodes, as facts about attempts."""

from typing import Final, NamedTuple

from pointsman.live.backends.facts import AttemptFact, AttemptId, Exit, NodeFact, Parts, Phase
from pointsman.live.backends.slurm.records import NodeGpus, SlurmJob, SlurmNode
from pointsman.live.backends.slurm.states import state_of_end
from pointsman.types import NodeState

_LAUNCH_FAILED: Final = "launch failed"


class Mark(NamedTuple):
    """What is written into AdminComment of a job when it is launched."""

    attempt: AttemptId
    restarts: int
    """How often the job had been requeued then: if it is more by now, the attempt is over."""


def node_fact(name: str, declared: int, node: SlurmNode | None, ours: int) -> NodeFact:
    """A node with GPUs of jobs that are not `ours` takes none of ours: when they end is not known. Nor does
    one that is not as it was `declared`.
    """
    if node is None:
        return NodeFact(name, NodeState.DRAIN, "Slurm has no such node")
    if node.state == NodeState.UP and (gpus := sum(many for _, many in node.gpus)) < declared:
        return NodeFact(name, NodeState.DRAIN, f"it has {gpus} GPUs, not {declared}")
    if node.state == NodeState.UP and node.gpus_in_use > ours:
        return NodeFact(node.name, NodeState.DRAIN, "jobs of others have GPUs there")
    return NodeFact(node.name, node.state, node.why)


def fact_of(mark: Mark, job: SlurmJob, *, is_back: bool) -> AttemptFact:
    """What a job says of the attempt for which it was launched; `is_back`: it waits at the gate again."""
    parts = _parts_of(job)
    began_ms, ended_ms = (None if s is None else 1000 * s for s in (job.start_unix_s, job.end_unix_s))
    if job.phase == Phase.RUNNING:  # which it does until its GPUs are free, even if it is requeued
        return AttemptFact(mark.attempt, Phase.RUNNING, parts, None, began_ms)
    if job.restarts > mark.restarts:
        return AttemptFact(mark.attempt, Phase.ENDED, parts, Exit(None, 15, asked=True, detail="it was requeued"))
    if job.phase == Phase.ENDED:
        exit_ = Exit(job.ending.code, job.ending.signal or None, state=state_of_end(job.state))
        return AttemptFact(mark.attempt, Phase.ENDED, parts, exit_, began_ms, ended_ms)
    if is_back or job.reason.startswith(_LAUNCH_FAILED):
        return AttemptFact(mark.attempt, Phase.ENDED, parts, Exit(ran=False, detail=job.reason))
    return AttemptFact(mark.attempt, Phase.ACCEPTED, parts)


def _parts_of(job: SlurmJob) -> Parts:
    """The GPUs that it has, had last, or waits for: the lowest of its nodes, where it is not known which."""
    each = job.gpus.per_node or 0
    held = job.held or tuple(NodeGpus(node, each) for node in job.required_nodes)
    return tuple((part.node, _mask_of(part, each)) for part in held)


def _mask_of(part: NodeGpus, each: int) -> int:
    if part.indexes:
        return sum(1 << index for index in part.indexes)
    return (1 << (part.count or each)) - 1
