"""A network that judges choices, in a run: it is shown the job to be decided about, and says what to do with it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.learn.policies.learned import Seen

if TYPE_CHECKING:
    from pointsman.cluster.cluster import Cluster
    from pointsman.learn.checkpoint import Checkpoint
    from pointsman.policies.sdk import View


class Judge:
    """The network of `made`, on a cluster that `schedulers` schedulers share."""

    def __init__(self, made: "Checkpoint", cluster: "Cluster", schedulers: int = 1) -> None:
        from pointsman.engine.sdk.environments import unit
        from pointsman.learn.environments.compiled.columns import ADDRESS, SIM_COLUMNS
        from pointsman.learn.environments.compiled.features.extent import Extent
        from pointsman.learn.environments.loading import observation_unit

        layout, name = cluster.layout(), made.card.observation.name
        made.network.on_cluster(cluster, schedulers)
        self.seen = Seen(made, name, Extent(len(layout.node_gpus), int(layout.node_gpus.sum()), schedulers))
        self._observe = unit(observation_unit(name)).observe_all
        self._sims, self._column = np.zeros((1, SIM_COLUMNS), np.int64), ADDRESS

    def choose(self, view: "View", window: NDArray[np.int64], mask: NDArray[np.int8]) -> int:
        """What the network would do with the job in `window` (1, 1), of what `mask` allows."""
        self._sims[0, self._column] = view.address
        self._observe(self._sims, window, self.seen.out[None], 0, 1)
        return self.seen.best(mask != 0)
