"""MARL: several schedulers share a cluster, and each places its jobs by the same graph network."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from pointsman.errors import UsageError
from pointsman.learn.policies.gang_order import LIMIT_S, QUANTILE, GangOrder
from pointsman.learn.policies.holding_back import held_back
from pointsman.learn.policies.judge import Judge
from pointsman.learn.policies.learned import OK, trained
from pointsman.policies.placers.declared import IN_WHAT_ORDER
from pointsman.policies.placers.interference import FORECASTS_BY
from pointsman.types import Profile, Reason

if TYPE_CHECKING:
    from pointsman.cluster.cluster import Cluster
    from pointsman.policies.sdk import Owner, View


class Marl(GangOrder):
    """Each job belongs to one of several schedulers, which choose its place among the candidates by a trained network,
    forward it once, or let it wait.
    """

    name: ClassVar[str] = "marl"
    profiles: ClassVar[tuple[Profile, ...]] = ("iterations", "nodes")
    source: ClassVar[str] = "Zhao and Wu, Multi-agent graph reinforcement learning, IEEE TNSM 2022, arXiv 2112.13354"

    def __init__(
        self,
        checkpoint: Annotated[str, "directory of the weights; by default the shipped ones"] = "",
        schedulers: Annotated[int | None, "number of schedulers; by default as in training, or a rack each"] = None,
        forward: Annotated[bool, "whether schedulers forward jobs"] = True,
        patience: Annotated[float | None, "share of its duration in which a job would rather wait; as trained"] = None,
        interference: Annotated[str | None, FORECASTS_BY] = None,
        order: Annotated[str, IN_WHAT_ORDER] = "sjf",
        patience_s: Annotated[float, LIMIT_S] = 0.0,
        run_time_quantile: Annotated[float, QUANTILE] = 0.75,
    ) -> None:
        """A policy of a checkpoint."""
        from pointsman.engine.sdk.environments import unit
        from pointsman.learn.environments.loading import GANG_DECIDING

        found = trained(self.name, checkpoint)
        self._made = replace(found, network=deepcopy(found.network))  # which is told of the cluster of this run
        practice = self._made.card.environment
        self._given = schedulers
        self._as_trained = int(practice.get("schedulers", 1))
        self.divides_among = self._as_trained if schedulers is None else schedulers
        patience = float(practice.get("patience", 0.0)) if patience is None else patience
        self._order(forward, patience, order, patience_s, run_time_quantile)
        self.takes_turns = patience_s == 0
        self.interference = interference
        if not 1 <= self.divides_among <= 1000:
            raise UsageError(f"marl.schedulers = {self.divides_among}: it must be from 1 to 1000")
        self._deciding = unit(GANG_DECIDING)
        self._window = np.full((1, 1), -1, np.int64)
        self._mask = np.zeros(self._made.card.observation.actions, np.int8)

    def on_cluster(self, cluster: "Cluster") -> None:
        """Be told of the cluster before the run: unless their number was given, no scheduler is without a rack."""
        if self._given is None:
            self.divides_among = min(self._as_trained, int(cluster.layout().node_rack.max()) + 1)
        self._judge = Judge(self._made, cluster, self.divides_among)

    def decide(self, view: "View") -> None:
        """Decide about one job after another, until each has its GPUs or waits."""
        while self._deciding.look(view.address, self._window[0], self._mask):
            if self._deciding.act(view.address, self._window[0], self._choose(view)) != OK:
                return

    def _choose(self, view: "View") -> int:
        """What the network chooses for the job in the window."""
        return self._judge.choose(view, self._window, self._mask)

    def owner_of(self, job: Any) -> "Owner | None":
        """The scheduler that a job, a record of ``State.jobs``, belongs to; None if there is only one."""
        from pointsman.policies.placers.declared import owner

        return owner(job, self.divides_among) if self.divides_among > 1 else None

    def forwards(self, memory: Any) -> int:
        """How many jobs were forwarded, by ``State.memory``."""
        from pointsman.policies.placers.declared import PlacerMemory

        return int(PlacerMemory(memory).forwards)

    def why_waiting(self, view: "View", job: int, name: Callable[[int], str]) -> tuple[Reason, str] | None:
        """Says of a waiting job that fits until when its scheduler lets it wait."""
        return held_back(view, job, by="the network")

    def copy(self) -> "Marl":
        """Itself: it remembers nothing from one decision to the next."""
        return self
