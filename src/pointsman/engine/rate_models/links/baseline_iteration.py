"""How long an iteration takes alone at its best place where links are shared: what a recorded duration stands for."""

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.rate_models.links.uplinks import as_wide_as_cards, capacities
from pointsman.speed.laws.allreduce import GangShape, all_reduce_s
from pointsman.speed.laws.gangs import Topology, topology
from pointsman.speed.laws.step_time import overlapped_s
from pointsman.types import Contention, Locality

if TYPE_CHECKING:
    from pointsman.speed.tables.rates import Demand


class Alone:
    """Iterations alone in the cluster of `layout`, where rings share links as `contention` says."""

    def __init__(self, layout: Layout, contention: Contention) -> None:
        self.contention = contention
        self.cards_apart = layout.cards_apart
        self.widest = [float(level.max()) for level in capacities(layout, contention)]
        """Bytes/s of the widest uplink of each level, or of all together."""
        wide = as_wide_as_cards(layout)
        self.places = [topology(wide, t) for t in range(len(layout.gpu_types))]

    def iterations_s(
        self, models: NDArray[np.float64], best: NDArray[np.int64], demands: "list[Demand]"
    ) -> NDArray[np.float64]:
        """(rows,) seconds of an iteration, for rows of `Tables.models` (seconds of computing, bytes, δ, reference) of
        `demands` whose best localities are `best`; where they fit a rack, the reference.
        """
        found = models[:, 3].copy()
        for row in np.flatnonzero((best > Locality.RACK) & (models[:, 3] > 0.0)).tolist():
            i, t = divmod(row, len(self.places))
            found[row] = self._iteration_s(self.places[t], demands[i], Locality(int(best[row])), *models[row, :3])
        return found

    def _iteration_s(
        self, place: Topology, demand: "Demand", best: Locality, compute_s: float, size_bytes: float, delta: float
    ) -> float:
        gpus, per_node = demand.gpus, demand.per_node
        shape = place.shape(gpus, best, per_node)
        inside_shape = GangShape((shape.largest[0], 1, 1, 1), (shape.smallest[0], 1, 1, 1))
        inside_s = all_reduce_s(size_bytes, inside_shape, place.network)
        between_s = all_reduce_s(size_bytes, shape, place.network) - inside_s
        nodes = ceil(gpus / (per_node or place.node_gpus))
        racks = ceil(nodes / place.roomy_in_rack(per_node))
        whole_s = overlapped_s(compute_s, inside_s + between_s, delta)
        average = self.contention == Contention.DUTY_CYCLE
        wants = 2 * (nodes - 1) / nodes * size_bytes / (whole_s if average else between_s)
        crossed = self._times(nodes, racks, shape)
        lacks = max(1.0, *(wants * times / room for times, room in zip(crossed, self.widest, strict=True)))
        if average:
            return whole_s * lacks
        return overlapped_s(compute_s, inside_s + lacks * between_s, delta)

    def _times(self, nodes: int, racks: int, shape: GangShape) -> tuple[int, ...]:
        """How often the ring, which is wider than a rack, counts on an uplink of each level."""
        pods = shape.largest[3]
        tree = nodes, racks if racks > 1 else 0, pods if pods > 1 else 0
        crossed = (nodes, nodes) if self.cards_apart else tree
        return crossed if self.contention == Contention.LEVEL else tuple(min(1, n) for n in crossed)
