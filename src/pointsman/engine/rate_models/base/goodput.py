"""The rate model ``goodput``: jobs tune their batches to the GPUs they have (``docs/reference/semantics.md`` §11)."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pointsman.engine.rate_models.contract import BaseModel

if TYPE_CHECKING:
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.engine.state.records import State


@dataclass(frozen=True)
class Goodput(BaseModel):
    """Jobs of known models tune their batches to the GPUs they have (Qiao et al., OSDI 2021)."""

    name = "goodput"
    meaning = "rate includes the batch size, which jobs tune to their GPUs"
    form = "goodput"
    units = ("pointsman.engine.rate_models.progress_phases",)
    shares_gpus = False
    may_exceed_nominal = True
    adapts_gangs = True
    slowed = "iterations take"

    def speeds(self, named: "NamedModels") -> "Speeds":
        """The tables of `rates`, with rates by number of GPUs and progress."""
        from pointsman.engine.rate_models.speeds import rounded, speeds_of_rates

        speeds = speeds_of_rates(named)
        if named.nameless:
            return speeds
        from pointsman.speed.tables.goodput import BINS, MOST_GPUS, goodput_table

        layout, demands, tables = named.congested, named.demands, named.tables
        named.assumptions.append(
            "jobs whose noise scale is known tune their batches; their waits for communication are not counted"
        )
        widest = max(min(MOST_GPUS, int(layout.node_gpus.sum())), *(demand.gpus for demand in demands))
        rates = goodput_table(layout, demands, named.catalogue, tables, widest)
        return replace(speeds, goodputs=rounded(rates), stages=BINS)

    def with_computing(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Adds the iterations of the batches that jobs choose; factors do not change the choice."""
        if named.nameless:
            return speeds
        from pointsman.engine.rate_models.tabulated import rate_steps
        from pointsman.speed.tables.goodput import iteration_table
        from pointsman.types import LOCALITIES

        widest = speeds.goodputs.shape[1] // LOCALITIES - 1
        steps = iteration_table(named.congested, named.demands, named.catalogue, widest)
        return replace(speeds, rate_steps=rate_steps(steps[..., 0], steps[..., 1]))

    def install(self, state: "State", *, admits: bool) -> None:
        """The stages of progress, if any job's rate depends on them."""
        from pointsman.engine.jit.loaded import address_of

        if state.g["stages"][0]:
            state.g["staging"] = address_of("pointsman.engine.rate_models.progress_phases.stages")

    def described(self, text: str) -> str:
        """The sentence of a report."""
        return "a job's rate depends on its GPUs, its place and the batch that it chooses (goodput)"
