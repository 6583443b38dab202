"""The speed of gangs on a tree of racks, nodes and GPUs (Proximity-DRL and probably TopDRL;
``docs/papers/topdrl.md`` §2 and §3).

A gang of n GPUs that computes t_c on a minibatch and reduces its gradients in t_r on one rack works at n/(t_c +
(1 + 0.2(racks - 1))·t_r) minibatches/s, which its place's communication cost divides further.
"""

from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster import Layout
from pointsman.cluster.tree_cost import TreeCost, fewest
from pointsman.speed.laws.gangs import topology
from pointsman.speed.profiles.catalogue import Catalogue
from pointsman.speed.tables.rates import Demand, Demands
from pointsman.types import LOCALITIES, Locality

MEASURED_MB: Final = (0.0, 100.0, 500.0)
"""Gradients whose all-reduce was measured, in MB (10^6 bytes); beyond, the last line goes on."""
MEASURED_S: Final = (0.0, 0.02829, 0.13977)
"""What it takes, of one GPU; of n, √n times as long."""
FURTHER_RACK: Final = 0.2
"""How much longer it takes for each rack beyond the first."""


def all_reduce_s(gradient_bytes: float, gpus: int, racks: int = 1) -> float:
    """Seconds of an all-reduce among `gpus` GPUs on `racks` racks."""
    (_, x1, x2), (_, y1, y2) = MEASURED_MB, MEASURED_S
    size = gradient_bytes / 1e6
    of_one = size / x1 * y1 if size <= x1 else y1 + (size - x1) / (x2 - x1) * (y2 - y1)
    return of_one * gpus**0.5 * (1.0 + FURTHER_RACK * (racks - 1))


def fewest_racks(layout: Layout, gpu_type: int, gpus: int) -> int:
    """The least number of racks that have `gpus` GPUs of a type."""
    own = layout.node_gpu_type == gpu_type
    return fewest(np.bincount(layout.node_rack[own], weights=layout.node_gpus[own]), gpus)


def rack_rates(layout: Layout, demands: Demands, catalogue: Catalogue) -> NDArray:
    """(demands · GPU types, racks + 1) the speed of each demand on that number of racks over that on the fewest, before
    communication cost; 1 for jobs without a model.
    """
    types = len(layout.gpu_types)
    racks = np.arange(int(layout.node_rack.max()) + 2)
    rates = np.ones((len(demands) * types, len(racks)))
    for i, demand in enumerate(Demand(*d) for d in demands):
        for t in range(types) if demand.model is not None else ():
            times = np.array(
                [iteration_s(demand, layout.gpu_types[t], int(r), catalogue) for r in np.maximum(racks, 1)]
            )
            rates[i * types + t] = times[fewest_racks(layout, t, demand.gpus)] / times
    return rates


def exchange_shares(layout: Layout, demands: Demands, catalogue: Catalogue) -> NDArray[np.float64]:
    """By rows and columns of `rack_rates`, seconds of an all-reduce over those of computing; NaN without a model."""
    types = len(layout.gpu_types)
    racks = np.maximum(np.arange(int(layout.node_rack.max()) + 2), 1)
    shares = np.full((len(demands) * types, len(racks)), np.nan)
    for i, demand in enumerate(Demand(*d) for d in demands):
        for t, gpu_type in enumerate(layout.gpu_types) if demand.model is not None else ():
            computing = computing_s(demand, gpu_type, catalogue)
            times = np.array([iteration_s(demand, gpu_type, int(r), catalogue) for r in racks])
            shares[i * types + t] = (times - computing) / computing
    return shares


def computing_s(demand: Demand, gpu_type: str, catalogue: Catalogue) -> float:
    """Seconds of an iteration in which a GPU computes."""
    profile = catalogue.model(str(demand.model))
    compute, _ = catalogue.compute(str(demand.model), gpu_type)
    return compute.time_s(demand.per_gpu_batch or profile.batch.per_gpu)


def iteration_s(demand: Demand, gpu_type: str, racks: int, catalogue: Catalogue) -> float:
    """Seconds of an iteration of a demand whose model is known, on `racks` racks."""
    gradient_bytes = catalogue.model(str(demand.model)).gradient.bytes
    return computing_s(demand, gpu_type, catalogue) + all_reduce_s(gradient_bytes, demand.gpus, racks)


def usual_rates(
    layout: Layout,
    demands: Demands,
    by_racks: NDArray[np.float64],
    costs: TreeCost,
    clamp: float,
) -> NDArray[np.float64]:
    """(rows, LOCALITIES) what policies expect of gangs of the usual shapes (`gangs.Topology.shape`)."""
    places = [topology(layout, t) for t in range(len(layout.gpu_types))]
    rates = np.ones((len(by_racks), LOCALITIES))
    for row in range(len(by_racks)):
        i, t = divmod(row, len(places))
        gpus, place = demands[i][1], places[t]
        for locality in Locality:
            nodes = 1 if locality <= Locality.NODE else max(2, ceil(gpus / place.node_gpus))
            racks = 1 if locality <= Locality.RACK else max(2, ceil(nodes / place.rack_nodes))
            racks = min(racks, by_racks.shape[1] - 1)
            cost = max(clamp, costs.of(racks, nodes, gpus))
            rates[row, locality] = by_racks[row, racks] / cost
    return rates
