"""What a run has by its policy and its options together, and which of them do not go together."""

from collections.abc import Mapping
from typing import Any, Protocol

from pointsman.engine.rate_models.factors.gpu_sharing import jobs_per_gpu
from pointsman.engine.rate_models.links.uplinks import parse_link_sharing
from pointsman.engine.rate_models.profile_error import check_profile_error
from pointsman.engine.rate_models.registry import base_model_of, factors_of
from pointsman.engine.run.contract import CompiledPolicy, Policy, title
from pointsman.engine.setup.prepare import sigma_of
from pointsman.engine.setup.terms import Terms
from pointsman.errors import UsageError
from pointsman.types import PLACEMENT_NAMES, Knowledge


class Asked(Protocol):
    """A policy as it was asked for."""

    @property
    def title(self) -> str:
        """The name it goes by."""
        ...

    @property
    def needs(self) -> Knowledge:
        """What it must be told of durations."""
        ...

    @property
    def round_s(self) -> float:
        """It decides only at multiples of this; 0: at every instant with an event."""
        ...


def terms_of(
    policy: CompiledPolicy | Policy, asked_for: Asked, options: Mapping[str, Any], *, has_limits: bool
) -> Terms:
    """The terms of a run.

    Args:
        policy: what decides.
        asked_for: how it was asked for.
        options: the options of the run, by name.
        has_limits: whether each job has a time limit.

    Raises:
        UsageError: an option is wrong, or does not go with the policy or another option.
    """
    contention, gpu_sharing = options["contention"], options["gpu_sharing"]
    check_profile_error(policy, options["profile_error"])
    base = base_model_of(policy, options["rate_model"], contention, {**options["congestion"]}, gpu_sharing)
    return Terms(
        placement=PLACEMENT_NAMES[placement_of(policy, options["placement"])],
        link_sharing=parse_link_sharing(contention),
        base_model=base,
        factors=factors_of(options, policy, base),
        jobs_per_gpu=jobs_per_gpu(policy, gpu_sharing),
        knowledge=knowledge_for(asked_for, options["estimate"], has_limits, getattr(policy, "durations", None)),
        schedulers=getattr(policy, "divides_among", 1),
        decision_us=_decision_us(policy, float(options["decision_time"]), asked_for.round_s),
    )


def placement_of(policy: CompiledPolicy | Policy, asked: str | None) -> str:
    """The placement of a run: what was asked for, or the policy's own, else ``consolidated``.

    Raises:
        UsageError: it is not the only one that the policy works with.
    """
    own = getattr(policy, "placement", None)
    if asked is not None and getattr(policy, "places_itself", False):
        raise UsageError(f"policy {title(policy)!r} places by itself: leave out the placement {asked!r}")
    if asked is None:
        return own or "consolidated"
    if own not in (None, asked):
        raise UsageError(f"policy {title(policy)!r} places by itself ({own}): leave out the placement {asked!r}")
    return asked


def knowledge_for(asked_for: Asked, estimate: str | None, has_limits: bool, durations: str | None = None) -> str:
    """What a policy is told of durations: what was asked for, or what it needs.

    `durations`: what it needs by its parameters, if these are known.

    Raises:
        UsageError: an unknown estimate, or ``none`` for a policy that needs one.
    """
    needs = durations or asked_for.needs
    if estimate not in (None, "none", "limit", "history", "oracle"):
        sigma_of(estimate)
    if needs in ("none", "history"):
        return needs
    if estimate is None:
        return "limit" if needs == "estimate" and has_limits else "oracle"
    if estimate == "none":
        raise UsageError(
            f"policy {asked_for.title!r} requires durations ({needs}), which --estimate none does not provide"
        )
    return estimate


def _decision_us(policy: CompiledPolicy | Policy, decision_s: float, round_s: float) -> int:
    """The decision time in microseconds.

    Raises:
        UsageError: the policy is not one of schedulers that decide about one job after another, at any time.
    """
    if 0 < decision_s < 1e-6:
        raise UsageError(f"decision_time = {decision_s:g} s: it must be 0, or at least a microsecond")
    if decision_s > 0 and round_s > 0:
        raise UsageError(f"decision_time: in rounds every {round_s:g} s decisions would end late; leave it out")
    if decision_s > 0 and not getattr(policy, "takes_turns", False):
        raise UsageError(
            f"policy {title(policy)!r} has no schedulers that take time to decide: leave out decision_time"
        )
    return round(1e6 * decision_s)
