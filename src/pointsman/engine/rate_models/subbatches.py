"""From the profiles of models to time and memory with gradient accumulation (``docs/reference/semantics.md`` §10)."""

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.rate_models.rates import FINEST
from pointsman.engine.state.records import ACCUMULATIONS, SUBBATCH

if TYPE_CHECKING:
    from pointsman.speed.laws.gangs import Topology
    from pointsman.speed.profiles.catalogue import Catalogue
    from pointsman.speed.tables.rates import Demand


def without_models(layout: Layout, rows: int = 1) -> NDArray[np.void]:
    """Makes the rows of jobs whose model is not known: they fill their GPUs' memory and accumulate nothing."""
    found = np.zeros((rows, len(layout.gpu_types), ACCUMULATIONS), SUBBATCH)
    found["bytes"][:, :, 0] = layout.gpu_memory_bytes.astype(np.int64)
    found["stretch"][:, :, 0] = 1.0
    found["exact"][:, :, 0] = 1
    return found.ravel()


def subbatches_of(layout: Layout, demands: "list[Demand]", catalogue: "Catalogue") -> NDArray[np.void]:
    """SUBBATCH, (demands * GPU types * ACCUMULATIONS,): what `catalogue` knows of each demand on each type
    of `layout`.
    """
    from pointsman.speed.laws.gangs import topology

    found = without_models(layout, len(demands)).reshape(len(demands), -1, ACCUMULATIONS)
    for t, gpu_type in enumerate(layout.gpu_types):
        place = topology(layout, t)
        for i, demand in enumerate(demands):
            if demand.model is not None:
                steps = _steps(catalogue, demand, gpu_type, place, int(found["bytes"][i, t, 0]))
                found[i, t, : len(steps)] = steps
    return found.ravel()


def _steps(
    catalogue: "Catalogue", demand: "Demand", gpu_type: str, place: "Topology", memory: int
) -> list[tuple[float, float, int, int]]:
    """(seconds of a step, stretch, bytes, exact) of each power of two up to a GPU's samples, of so much `memory`."""
    from pointsman.speed.laws.iteration import iteration_time_s

    compute, _ = catalogue.compute(str(demand.model), gpu_type)
    profile = catalogue.model(str(demand.model))
    samples = demand.per_gpu_batch or profile.batch.per_gpu
    gpus, per_node = demand.gpus, demand.per_node
    shape = place.shape(gpus, place.best_locality(gpus, per_node), per_node)
    whole_s = iteration_time_s(profile, compute, shape, place.network, samples)
    found = []
    for steps in (1 << k for k in range(ACCUMULATIONS) if 1 << k <= samples):
        time_s = iteration_time_s(profile, compute, shape, place.network, samples / steps, steps)
        size = min(memory, int(profile.memory_bytes(ceil(samples / steps))))
        stretch = np.floor(time_s / whole_s * FINEST + 0.5) / FINEST
        exact = int(steps == 1 or profile.accumulates)
        found.append((compute.time_s(samples / steps), stretch, size, exact))
    return found
