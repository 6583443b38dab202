"""What policies that preempt let their users choose: what a preemption must gain, and how long a job may wait."""

from typing import Any

from pointsman.policies.sdk import CompiledPolicy, Standing, milliseconds, parameter

COST_WEIGHT_MEANING = "how many times what a preemption costs its gain must exceed; 0: costs do not count"
PATIENCE_MEANING = (
    "how long a job within a node may wait on a cluster where no other waits before it goes before all others; "
    "0: for ever"
)


class EvictingPolicy(CompiledPolicy):
    """A policy whose preemptions can be weighed against what they cost, and whose waits can be bounded."""

    cost_weight: float = parameter(0.0, COST_WEIGHT_MEANING, ge=0)
    patience_s: float = parameter(0.0, PATIENCE_MEANING, unit="s", ge=0)
    patience_growth: float = parameter(15.0, "by how much longer it may wait for each second that it has run", ge=0)
    grant_s: float = parameter(14_400.0, "time for which it then goes before all others", unit="s", gt=0)
    grant_share: float = parameter(
        0.25,
        "share of the GPUs that several such jobs request at most, and of the GPU time that goes to wider ones",
        gt=0,
        le=1,
    )

    def standing(self, state: Any, job: Any) -> Standing | None:
        """That a job with a grant goes first."""
        if job["granted"] > 0:
            return Standing("it goes before all others, for it has waited longer than its limit")
        return None

    def _bound_ms(self, preempts: bool = True) -> list[float]:
        """Parameters of `bounded_waiting`, times in ms."""
        patience_s = self.patience_s if preempts else 0.0
        return [milliseconds(patience_s), self.patience_growth, milliseconds(self.grant_s), self.grant_share]
