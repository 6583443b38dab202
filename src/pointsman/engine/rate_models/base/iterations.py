"""The rate model ``iterations``: jobs are chains of iterations, with one transfer each (``docs/reference/semantics.md``
§9).
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from pointsman.engine.rate_models.contract import BaseModel
from pointsman.errors import UsageError
from pointsman.types import MAX_SHARING

if TYPE_CHECKING:
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.engine.state.records import State

LEAST_B, MOST_PENALTY = 1e-4, 1000.0
"""ms/MB, and how many times as much a further transfer may cost: beyond, rates in whole 1/2^30 mean nothing."""


@dataclass(frozen=True)
class Iterations(BaseModel):
    """What a transfer of M megabytes (10^6 bytes) takes on a node where k are under way: ``a + k·b·M + (k-1)·η·M``."""

    a: float = 0.0
    """ms; 0 in the authors' simulator (Wang et al., arXiv 2002.10105)."""
    b: float = 0.856
    """ms/MB; 10 Gb Ethernet, from their simulator."""
    eta: float = 0.235
    """ms/MB; likewise."""
    sharing: int = MAX_SHARING
    """Jobs on a GPU at most, if its memory holds them; ours, theirs has no limit but memory."""

    name = "iterations"
    meaning = "jobs are chains of iterations on shared GPUs, each with one transfer"
    form = "iterations[:PARAM=VALUE,...]"
    units = ("pointsman.engine.rate_models.chains.unit",)
    counts_iterations = True
    instead_of_congestion = "for a congested one give a larger b"

    def __post_init__(self) -> None:
        for name in ("a", "b", "eta"):
            if not 0 <= getattr(self, name) < 1e6:
                raise UsageError(f"rate model iterations: {name} = {getattr(self, name)} is no number from 0")
        if self.b < LEAST_B or self.eta > MOST_PENALTY * self.b:
            raise UsageError(
                f"rate model iterations: b = {self.b:g}, eta = {self.eta:g}; b must be at least "
                f"{LEAST_B:g} and eta at most {MOST_PENALTY:g} b"
            )
        if self.sharing not in range(1, MAX_SHARING + 1):
            raise UsageError(f"rate model iterations: sharing = {self.sharing}; a GPU has 1 to {MAX_SHARING} jobs")

    def most_jobs_per_gpu(self, asked: int) -> int:
        """Its own limit."""
        return self.sharing

    def speeds(self, named: "NamedModels") -> "Speeds":
        """The tables of `rates`, with the tasks and transfers of iterations."""
        from pointsman.engine.rate_models.chains.step_table import steps_of, steps_without_models
        from pointsman.engine.rate_models.speeds import speeds_of_rates

        speeds = speeds_of_rates(named)
        if named.nameless:
            return replace(speeds, steps=steps_without_models(named.layout))
        if named.layout.cards_apart:
            raise UsageError(
                "rate model iterations does not support clusters whose nodes have two network cards (bcube): "
                "use --rate-model rates, or another topology, such as fat-tree:8"
            )
        steps = steps_of(named.congested, named.demands, named.catalogue, named.tables, self.b, self.a)
        return replace(speeds, steps=steps)

    def install(self, state: "State", *, admits: bool) -> None:
        """The law of transfers, and the code that takes the steps of iterations."""
        from pointsman.engine.jit.loaded import address_of

        g = state.g
        g["penalty"] = self.eta / self.b
        g["latency"], g["admits"] = ceil(self.a), admits
        g["network"] = address_of("pointsman.engine.rate_models.chains.unit.iterations")

    def described(self, text: str) -> str:
        """The sentence of a report."""
        return f"jobs are chains of iterations ({text})"
