"""All that the engine needs to know of speed, tabulated before a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster import Layout
from pointsman.errors import UsageError
from pointsman.speed.laws.gangs import Topology, topology
from pointsman.speed.laws.iteration import iteration_time_s
from pointsman.speed.profiles.catalogue import Catalogue, load_catalogue
from pointsman.speed.profiles.profiles import Compute
from pointsman.types import LOCALITIES, Locality


class Demand(NamedTuple):
    """What decides a job's speed: jobs alike in it share a row."""

    model: str | None
    gpus: int
    per_gpu_batch: int | None = None
    """Samples per GPU; None: the profile's own."""
    per_node: int = 0
    """GPUs on each node, where jobs ask for a shape; else 0."""


Demands = Sequence[Demand | tuple[str | None, int, int | None]]
"""By (model, GPUs, samples per GPU) at least; None for what is not known."""


@dataclass(frozen=True)
class Tables:
    """Speeds by row ``profile · n_gpu_types + gpu_type``, where profile is the demand's index."""

    rate: NDArray[np.float64]
    """(rows, 5) nominal work done per unit of time at each `Locality`."""
    best: NDArray[np.int64]
    """(rows,) the tightest locality that the GPU count allows on that GPU type."""
    iteration_s: NDArray[np.float64]
    """(rows, 5) seconds of an iteration; NaN for a demand without a model and where no gang of that size can be."""
    models: NDArray[np.float64]
    """(rows, 4) seconds of computing, gradient bytes, δ, and seconds of the iteration at rate 1; 0 if unknown."""
    assumptions: tuple[str, ...]
    """What had to be assumed, in sentences for the results."""


def tabulate(
    layout: Layout,
    models: Demands,
    *,
    catalogue: Catalogue | None = None,
    reference_gpu_type: str | None = None,
    recorded_on: Layout | None = None,
) -> Tables:
    """Speed of each demand on each GPU type of `layout` at each locality.

    The rate is the time of an iteration at the demand's best locality on that GPU type, over its
    time at the locality in question: exactly 1 at the best. It is 1 everywhere for a job without
    a model, and at localities tighter than the best, where such a gang cannot be.

    Args:
        layout: the cluster.
        models: the demand of each profile.
        catalogue: profiles to use; by default the shipped ones.
        reference_gpu_type: the type on which the durations were recorded. By default each job's was
            recorded on the type it runs on, so that types do not differ. With it, rates are relative to an
            iteration computed at that type's speed, on the running type's network at its best locality.
        recorded_on: the same cluster with the network on which the durations were recorded; by default as it is.

    Raises:
        UsageError: an unknown model or GPU type, fewer than one GPU or sample.
    """
    profiles = catalogue or load_catalogue()
    tables = _blank(len(models) * len(layout.gpu_types))
    topologies = [topology(layout, t) for t in range(len(layout.gpu_types))]
    recorded = [topology(recorded_on or layout, t) for t in range(len(layout.gpu_types))]
    assumed: dict[str, None] = {}
    for i, demand in enumerate(Demand(*m) for m in models):
        _check(demand)
        for t, place in enumerate(topologies):
            row = i * len(topologies) + t
            tables.best[row] = place.best_locality(demand.gpus, demand.per_node)
            if demand.model is not None:
                times, notes = _times(profiles, demand, layout.gpu_types[t], place)
                reference_s, more = _reference(profiles, demand, reference_gpu_type or layout.gpu_types[t], recorded[t])
                tables.iteration_s[row] = times
                tables.models[row] = (*_model(profiles, demand, layout.gpu_types[t]), reference_s)
                tables.rate[row] = np.where(np.isnan(times), 1.0, reference_s / times)
                assumed |= dict.fromkeys(notes + more)
    return Tables(tables.rate, tables.best, tables.iteration_s, tables.models, tuple(assumed))


def distinct(demands: Demands) -> tuple[list[Demand], NDArray[np.int64]]:
    """The different demands in order of appearance, and for each job the index of its own."""
    index: dict[Demand, int] = {}
    of_job = [index.setdefault(Demand(*d), len(index)) for d in demands]
    return list(index), np.array(of_job, dtype=np.int64)


def _blank(rows: int) -> Tables:
    shape = (rows, LOCALITIES)
    return Tables(np.ones(shape), np.zeros(rows, np.int64), np.full(shape, np.nan), np.zeros((rows, 4)), ())


def _check(demand: Demand) -> None:
    if demand.gpus < 1:
        raise UsageError(f"a job asks for {demand.gpus} GPUs (at least 1)")
    if demand.per_gpu_batch is not None and demand.per_gpu_batch < 1:
        raise UsageError(f"a job of {demand.model} has a batch of {demand.per_gpu_batch} (at least 1, or none)")


def _times(
    catalogue: Catalogue, demand: Demand, gpu_type: str, place: Topology
) -> tuple[NDArray[np.float64], list[str]]:
    """(5,) seconds of an iteration at each locality that the demand can have, NaN at the others."""
    compute, assumed = catalogue.compute(str(demand.model), gpu_type)
    best = place.best_locality(demand.gpus, demand.per_node)
    times = np.full(LOCALITIES, np.nan)
    for locality in Locality:
        if locality == best or (locality > best and demand.gpus > 1):
            times[locality] = _time_s(catalogue, demand, compute, place, locality)
    return times, [assumed] if assumed else []


def _model(catalogue: Catalogue, demand: Demand, gpu_type: str) -> tuple[float, float, float]:
    """Seconds of computing in an iteration, gradient bytes, and δ."""
    compute, _ = catalogue.compute(str(demand.model), gpu_type)
    profile = catalogue.model(str(demand.model))
    delta = profile.overlap.delta if compute.delta is None else compute.delta
    return compute.time_s(demand.per_gpu_batch or profile.batch.per_gpu), profile.gradient.bytes, delta


def links(layout: Layout) -> NDArray[np.float64]:
    """(GPU types * 5, 3) bandwidth of each GPU in bytes/s, GPUs that share it, and latency in s, by `Locality`."""
    networks = [topology(layout, t).network for t in range(len(layout.gpu_types))]
    return np.concatenate([np.stack([n.bandwidth_bytes_per_s, n.sharers, n.latency_s], axis=1) for n in networks])


def _time_s(catalogue: Catalogue, demand: Demand, compute: Compute, place: Topology, locality: Locality) -> float:
    profile = catalogue.model(str(demand.model))
    batch = demand.per_gpu_batch or profile.batch.per_gpu
    return iteration_time_s(profile, compute, place.shape(demand.gpus, locality, demand.per_node), place.network, batch)


def _reference(catalogue: Catalogue, demand: Demand, gpu_type: str, place: Topology) -> tuple[float, list[str]]:
    """Seconds of an iteration as the job's duration was recorded."""
    compute, assumed = catalogue.compute(str(demand.model), gpu_type)
    best = place.best_locality(demand.gpus, demand.per_node)
    return _time_s(catalogue, demand, compute, place, best), [assumed] if assumed else []
