"""What policies that preempt let their users choose: what a preemption must gain, and how long a job may wait."""

from typing import Any, ClassVar

from pointsman.inputs.durations import duration
from pointsman.policies.parts.offers import Offered
from pointsman.policies.parts.preemption.overdue import OverdueJobs
from pointsman.policies.parts.said_of_waits import said_of_limit
from pointsman.policies.sdk import (
    RUNNING,
    CompiledPolicy,
    OfJob,
    Record,
    Standing,
    derived,
    milliseconds,
    parameter,
    part,
    whole,
)

DOUBLING_COST_MS = 1_800_000.0
"""What a preemption costs each GPU where limits are twice as long as where it costs nothing."""

COST_WEIGHT_MEANING = "how many times what a preemption costs its gain must exceed; 0: costs do not count"
PATIENCE_MEANING = (
    "how long a job within a node may wait on a cluster where no other waits before it goes before all others; "
    "0: for ever"
)


class WaitingMemory(Record):
    """What is kept about jobs that wait (`bounded_waiting`)."""

    overdue = part(OverdueJobs, "those that have waited longer than their limits")
    granted_gpus = whole("what jobs with a grant request")
    none_until_ms = whole("until when there is no other grant", unit="ms")


class EvictingPolicy(CompiledPolicy):
    """A policy whose preemptions can be weighed against what they cost, and whose waits can be bounded."""

    memory: ClassVar[type[Record]] = WaitingMemory
    kept: ClassVar[type[OfJob]] = Offered

    cost_weight: float = parameter(0.0, COST_WEIGHT_MEANING, ge=0)
    patience_s: float = parameter(0.0, PATIENCE_MEANING, unit="s", ge=0)
    patience_growth: float = parameter(15.0, "by how much longer it may wait for each second that it has run", ge=0)
    grant_s: float = parameter(14_400.0, "time for which it then goes before all others", unit="s", gt=0)
    grant_share: float = parameter(
        0.25,
        "share of the GPUs that several such jobs request at most, and of the GPU time that goes to wider ones",
        ge=0.001,
        le=1,
    )

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing | None:
        """That a job goes first, or when it will."""
        if job["granted"] > 0:
            return Standing("it goes before all others, for it has waited longer than its limit")
        return Standing(said_of_limit(state, job, now_ms, self._limit_ms(state, job))) if self._bounds_waits else None

    def protection(self, state: Any, job: Any, now_ms: int) -> str | None:
        """For how much longer a running job goes first."""
        if job["granted"] <= 0:
            return None
        running_ms = now_ms - job["settled"] if job["state"] == RUNNING else 0
        left_ms = job["granted"] - job["executed"] - running_ms
        left = duration(max(0.0, float(left_ms)) / 1000)
        return f"no job may preempt it for another {left}, for it waited longer than its limit"

    @property
    def _bounds_waits(self) -> bool:
        return self.patience_s > 0

    def _limit_ms(self, state: Any, job: Any) -> float:
        """As `bounded_waiting.limit_ms`."""
        g = state.g[0]
        lost = g["lost_ms"] + (0.5 * g["checkpoint_ms"] if g["loses_since_checkpoint"] else 0.0)
        cost = 1.0 + (lost + g["stop_ms"] + g["start_ms"] + g["restore_ms"]) / DOUBLING_COST_MS
        patience = milliseconds(self.patience_s) + self.patience_growth * job["executed"]
        return float(patience * job["crowding"] * cost * self._dearness(state))

    def _dearness(self, state: Any) -> float:
        """How many times longer limits are because preemptions have taken too much GPU time."""
        return 1.0

    @derived
    def patience_ms(self) -> int:
        """The patience, where waits are bounded; else 0."""
        return int(milliseconds(self.patience_s)) if self._bounds_waits else 0
