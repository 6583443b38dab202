"""What policies that preempt let their users choose: what a preemption must gain, and how long a job may wait."""

from typing import Any, ClassVar

from pointsman.policies.sdk import CompiledPolicy, Standing, milliseconds, parameter

COST_WEIGHT_MEANING = "how many times what a preemption costs its gain must exceed; 0: costs do not count"
PATIENCE_MEANING = (
    "how long a job within a node may wait on a cluster where no other waits before it goes before all others; "
    "0: for ever"
)


class EvictingPolicy(CompiledPolicy):
    """A policy whose preemptions can be weighed against what they cost, and whose waits can be bounded."""

    grants_by_work: ClassVar[bool] = False
    """Whether limits and grants go by work that is done, not by time for which jobs have run."""

    cost_weight: float = parameter(0.0, COST_WEIGHT_MEANING, ge=0)
    patience_s: float = parameter(0.0, PATIENCE_MEANING, unit="s", ge=0)
    patience_growth: float = parameter(15.0, "by how much longer it may wait for each second of its progress", ge=0)
    grant_s: float = parameter(14_400.0, "progress during which it then goes before all others", unit="s", gt=0)
    grant_share: float = parameter(0.25, "share of the GPUs that several such jobs request at most", ge=0, le=1)

    def standing(self, state: Any, job: Any) -> Standing | None:
        """That a job with a grant goes first."""
        if job["granted"] > 0:
            return Standing("it goes before all others, for it has waited longer than its limit")
        return None

    def _bound_ms(self, preempts: bool = True) -> list[float]:
        """Parameters of `bounded_waiting`, times in ms."""
        patience_s = self.patience_s if preempts else 0.0
        waits = [milliseconds(patience_s), self.patience_growth, milliseconds(self.grant_s), self.grant_share]
        return [*waits, float(self.grants_by_work)]
