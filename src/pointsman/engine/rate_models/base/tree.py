"""The rate model ``tree``: a gang's rate falls with the racks, nodes and GPUs that it spans
(``docs/reference/semantics.md`` §12).
"""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pointsman.engine.rate_models.contract import BaseModel
from pointsman.errors import UsageError

if TYPE_CHECKING:
    from pointsman.cluster.layout import Layout
    from pointsman.cluster.tree_cost import TreeCost
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.engine.state.records import State

LEAST_COST, MOST_COST = 1e-3, 1000.0
"""The least cost of a gang's communication, and the most of an edge: beyond, rates in whole 1/2^30 mean nothing."""


@dataclass(frozen=True)
class Tree(BaseModel):
    """The communication of a gang costs the edges of the tree that it spans (Proximity-DRL, likely TopDRL)."""

    rack: float = 0.5
    """The edge from the centre to a rack; of these weights, `cluster.tree_cost.TreeCost`."""
    node: float = 0.25
    gpu: float = 0.025
    clamp: float = 0.0
    """Below which the cost does not fall: with 1, no gang runs faster than its model would."""

    name = "tree"
    meaning = "rate falls with the numbers of racks, nodes and GPUs that a job spans"
    form = "tree[:PARAM=VALUE,...]"
    units = ("pointsman.engine.rate_models.tree",)
    shares_gpus = False
    instead_of_congestion = "for a dearer network give larger weights"
    recorded = "a recorded duration is the time on the GPUs asked for, where their place costs 1"
    without_models = "no job has a model: all pay alike for their places, and reduce nothing"
    unknown_models = "pay for communication, and reduce nothing"
    tells_done = True
    slowed = "iterations take"

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) <= MOST_COST:
                raise UsageError(
                    f"rate model tree: {field.name} = {getattr(self, field.name)} is no number from 0 to {MOST_COST:g}"
                )
        if self.rack + self.node + self.gpu + self.clamp < LEAST_COST:
            raise UsageError(
                f"rate model tree: the cost of a GPU (its edges, or clamp) must be at least {LEAST_COST:g}"
            )

    @property
    def costs(self) -> "TreeCost":
        """The weights of the edges."""
        from pointsman.cluster.tree_cost import TreeCost

        return TreeCost(self.rack, self.node, self.gpu)

    def speeds(self, named: "NamedModels") -> "Speeds":
        """Rates by the racks, nodes and GPUs that gangs are on; their iterations are of no other use."""
        import numpy as np

        from pointsman.engine.rate_models.speeds import Speeds, rounded, speeds_without_models
        from pointsman.engine.rate_models.subbatches import subbatches_of
        from pointsman.speed.tables.tree import rack_rates, usual_rates

        layout, demands, types = named.layout, named.demands, len(named.layout.gpu_types)
        if named.nameless:
            return replace(speeds_without_models(layout), goodputs=np.ones((types, int(layout.node_rack.max()) + 2)))
        named.assumptions.append(
            "gangs are as fast as the tree that they span lets them; their waits for it are not counted"
        )
        by_racks = rack_rates(layout, demands, named.catalogue)
        usual = usual_rates(layout, demands, by_racks, self.costs, self.clamp)
        subbatches = subbatches_of(layout, demands, named.catalogue)
        return replace(Speeds.without_models(usual, types), subbatches=subbatches, goodputs=rounded(by_racks))

    def with_computing(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Adds the iterations on each number of racks, in which nothing overlaps."""
        import numpy as np

        from pointsman.engine.rate_models.tabulated import rate_steps
        from pointsman.speed.tables.tree import exchange_shares

        if named.nameless:
            nothing = np.zeros(speeds.goodputs.shape)
            return replace(speeds, rate_steps=rate_steps(nothing, nothing))

        exchange = exchange_shares(named.layout, named.demands, named.catalogue)
        models = speeds.models.copy()
        models["delta"] = 1.0
        known = ~np.isnan(exchange)
        steps = rate_steps(known.astype(np.float64), np.where(known, exchange, 0.0))
        return replace(speeds, models=models, rate_steps=steps)

    def install(self, state: "State", *, admits: bool) -> None:
        """The weights, and the code that rates gangs by them."""
        from pointsman.engine.jit.loaded import address_of

        self.install_costs(state)
        state.g["rating"] = address_of("pointsman.engine.rate_models.tree.tree")

    def install_costs(self, state: "State") -> None:
        """The weights, by which policies may choose GPUs in any rate model."""
        g = state.g
        g["rack_cost"], g["node_cost"], g["gpu_cost"], g["least_cost"] = self.rack, self.node, self.gpu, self.clamp

    def info(self, layout: "Layout") -> dict[str, Any]:
        """The weights and the racks of nodes."""
        weights = {"rack": self.rack, "node": self.node, "gpu": self.gpu, "least": self.clamp}
        return {"tree": weights, "node_racks": layout.node_rack.tolist()}

    def described(self, text: str) -> str:
        """The sentence of a report."""
        return f"a job's rate depends on its model and the racks, nodes and GPUs that it spans ({text})"
