"""What policy and options of a run say together of places, speeds and what is known of jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pointsman.engine.rate_models.base.rates import Rates
from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.engine.rate_models.links.uplinks import SEPARATE_LINKS, LinkSharing
from pointsman.types import Placement


@dataclass(frozen=True)
class Terms:
    """The terms of a run; those of its policy are made by `pointsman.engine.run.policy_terms.terms_of`."""

    placement: Placement = Placement.CONSOLIDATED
    link_sharing: LinkSharing = SEPARATE_LINKS
    base_model: BaseModel = field(default_factory=Rates)
    factors: Sequence[Factor] = ()
    jobs_per_gpu: int = 1
    """At most."""
    knowledge: str = "none"
    """What policies are told of durations: ``none``, ``limit``, ``history``, ``oracle`` or ``lognormal:SIGMA``."""
    schedulers: int = 1
    """How many share the cluster."""
    decision_us: int = 0
    """µs that a scheduler takes to decide about a job."""
