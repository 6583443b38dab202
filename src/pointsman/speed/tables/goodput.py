"""Goodput of jobs that adapt their batch to the GPUs they have (Pollux, OSDI 2021), tabulated before a run.

Goodput is throughput times statistical efficiency. With n GPUs, of all batches m = n·b·s (b samples a GPU, s passes
between two exchanges of gradients) from the initial batch to the largest one that was measured, a job takes the one
with the most goodput. Its rate is that over the goodput it has where its duration was recorded: at the batch and on
the GPUs it asks for.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster import Layout
from pointsman.errors import UsageError
from pointsman.speed.laws.allreduce import all_reduce_s
from pointsman.speed.laws.gangs import Topology, topology
from pointsman.speed.laws.noise import NOISE, Noise, efficiency
from pointsman.speed.laws.step_time import accumulated_s, overlapped_s
from pointsman.speed.profiles.catalogue import Catalogue
from pointsman.speed.profiles.profiles import Compute, ModelProfile
from pointsman.speed.tables.rates import Demand, Demands, Tables
from pointsman.types import LOCALITIES, Locality

BINS: Final = 10
"""Equal shares of a job's work, in each of which its noise scale is taken for constant."""
BATCHES: Final = 50
"""Batch sizes tried, evenly spaced by ratio: as many as in the authors' simulator."""
MOST_GPUS: Final = 64
"""GPUs of the widest gang that is tabulated: likewise."""
MOST_TYPES: Final = 64
"""Types of GPU that a policy can tell apart among elastic jobs."""


def goodput_table(
    layout: Layout,
    demands: Demands,
    catalogue: Catalogue,
    tables: Tables,
    max_gpus: int,
) -> NDArray[np.float64]:
    """Rates by row ``(row of tables) · BINS + bin`` and column ``n · LOCALITIES + locality``, n from 0 to `max_gpus`.

    It is 0 where a gang cannot be, and everywhere for a job without a model or of one without a known noise scale:
    such a job is rigid. On the GPUs it asks for, as its duration was recorded, a job's rate is at least 1.

    Raises:
        UsageError: the cluster has more types of GPU than MOST_TYPES.
    """
    types = len(layout.gpu_types)
    if types > MOST_TYPES:
        raise UsageError(
            f"the cluster has {types} GPU types, and the rate model 'goodput' knows {MOST_TYPES} at most: join some "
            "of them, or use another policy"
        )
    rates = np.zeros((len(demands) * types, BINS, max_gpus + 1, LOCALITIES))
    for row, setting, communication_s in _settings(layout, demands, catalogue, max_gpus):
        goodput = setting.goodput(communication_s)
        rates[row, :, 1 : goodput.shape[1] + 1] = goodput * tables.models[row, 3]
    return rates.reshape(len(rates) * BINS, -1)


def iteration_table(layout: Layout, demands: Demands, catalogue: Catalogue, max_gpus: int) -> NDArray[np.float64]:
    """By rows and columns of `goodput_table`, of the iteration with that goodput: passes, and seconds of its all-reduce
    over those of a pass. There are 0 passes where there is no goodput.
    """
    types = len(layout.gpu_types)
    steps = np.zeros((len(demands) * types, BINS, max_gpus + 1, LOCALITIES, 2))
    for row, setting, communication_s in _settings(layout, demands, catalogue, max_gpus):
        found = setting.iterations(communication_s)
        steps[row, :, 1 : found.shape[1] + 1] = found
    return steps.reshape(len(steps) * BINS, -1, 2)


def _settings(
    layout: Layout, demands: Demands, catalogue: Catalogue, max_gpus: int
) -> Iterator[tuple[int, "_Setting", NDArray[np.float64]]]:
    """Yields for each elastic demand and GPU type: the row, what decides its goodput, and (n, LOCALITIES) seconds of an
    all-reduce.
    """
    types = len(layout.gpu_types)
    places = [topology(layout, t) for t in range(types)]
    total = [int(layout.node_gpus[layout.node_gpu_type == t].sum()) for t in range(types)]

    @cache
    def communication_s(model: str, t: int) -> NDArray[np.float64]:
        return _communication_s(catalogue.model(model), places[t], min(max_gpus, total[t]))

    for i, demand in enumerate(Demand(*d) for d in demands):
        model = catalogue.model_name(demand.model) if demand.model is not None else ""
        for t, gpu_type in enumerate(layout.gpu_types) if model in NOISE else ():
            compute, _ = catalogue.compute(model, gpu_type)
            setting = _Setting(catalogue.model(model), compute, NOISE[model], demand, layout.gpu_memory_bytes[t])
            yield i * types + t, setting, communication_s(model, t)


class Choices(NamedTuple):
    """The batches that a job may take; arrays by (GPUs from 1 on, choice)."""

    samples: NDArray[np.float64]
    """Samples of the whole batch; 0 for no choice."""
    per_pass: NDArray[np.float64]
    """Samples of one pass on one GPU."""
    passes: NDArray[np.float64]
    """Between two exchanges of gradients."""


def choices(least: int, most: int, own: int, room: int, max_gpus: int) -> Choices:
    """Batches of `least` to `most` samples, `own` among them, in as few passes of up to `room` samples as they need.

    As in the authors' simulator a pass is of whole samples, rounded up; what is above `most` by that is no choice.
    """
    gpus = np.arange(1, max_gpus + 1)[:, None]
    per_gpu = np.append(np.geomspace(least, most, BATCHES), own) / gpus
    passes = np.ceil(per_gpu / room - 1e-8)
    per_pass = np.ceil(per_gpu / passes - 1e-8)
    samples = gpus * per_pass * passes
    return Choices(np.where(samples <= most, samples, 0.0), per_pass, passes)


class _Setting(NamedTuple):
    """What decides the goodput of a job on one GPU type."""

    profile: ModelProfile
    compute: Compute
    noise: Noise
    demand: Demand
    memory_bytes: float

    def goodput(self, communication_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """(BINS, n, LOCALITIES) iterations at the job's own batch that teach as much as it learns in a second."""
        batches, goodput = self._batches(len(communication_s)), np.zeros((BINS, *communication_s.shape))
        for i, learnt in enumerate(self._learnt(batches, communication_s)):
            goodput[i] = learnt.max(axis=2) / self._own
        return np.nan_to_num(goodput)

    def iterations(self, communication_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """(BINS, n, LOCALITIES, 2) passes of the iteration that teaches most in a second, and seconds of its all-reduce
        over those of a pass.
        """
        batches = self._batches(len(communication_s))
        pass_s, gpus = self._pass_s(batches), np.arange(len(communication_s))[:, None]
        steps = np.zeros((BINS, *communication_s.shape, 2))
        for i, learnt in enumerate(self._learnt(batches, communication_s)):
            best = learnt.argmax(axis=2)
            steps[i, ..., 0] = batches.passes[gpus, best]
            steps[i, ..., 1] = communication_s / pass_s[gpus, best]
        return np.where(np.isnan(communication_s)[..., None], 0.0, steps)

    @property
    def _own(self) -> int:
        """Samples of the job's own batch."""
        return self.demand.gpus * self._per_gpu

    @property
    def _per_gpu(self) -> int:
        return self.demand.per_gpu_batch or self.profile.batch.per_gpu

    def _batches(self, max_gpus: int) -> Choices:
        own = self._own
        least, most = min(self.noise.initial, own), max(self.noise.limit, own)
        return choices(least, most, own, max(self._per_gpu, self._room()), max_gpus)

    def _learnt(self, batches: Choices, communication_s: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """For each bin (n, LOCALITIES, choices) samples of the own batch that teach as much as those of a second."""
        throughput = self._throughput(batches, communication_s)
        for scale in self.noise.by_work(self._own, BINS):
            yield throughput * efficiency(scale, batches.samples, self._own)[:, None, :]

    def _throughput(self, batches: Choices, communication_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, LOCALITIES, choices) samples a second."""
        delta = self.profile.overlap.delta if self.compute.delta is None else self.compute.delta
        pass_s = self._pass_s(batches)
        last_s = overlapped_s(pass_s[:, None, :], communication_s[:, :, None], delta)
        iteration_s = accumulated_s(pass_s[:, None, :], last_s, batches.passes[:, None, :])
        return batches.samples[:, None, :] / iteration_s

    def _pass_s(self, batches: Choices) -> NDArray[np.float64]:
        """(n, choices) seconds of a pass."""
        return self.compute.alpha_s + self.compute.beta_s_per_sample * batches.per_pass

    def _room(self) -> int:
        """Samples of one pass for which the GPU's memory is enough."""
        memory = self.profile.memory
        return int(min((self.memory_bytes - memory.fixed_bytes) / max(memory.bytes_per_sample, 1.0), 1e9))


def _communication_s(profile: ModelProfile, place: Topology, max_gpus: int) -> NDArray[np.float64]:
    """(max_gpus, LOCALITIES) seconds of an all-reduce of gangs of the usual shapes; NaN where none can be."""
    times = np.full((max_gpus, LOCALITIES), np.nan)
    for gpus in range(1, max_gpus + 1):
        best = place.best_locality(gpus)
        for locality in Locality if gpus > 1 else (Locality.GPU,):
            if locality >= best:
                shape = place.shape(gpus, locality)
                times[gpus - 1, locality] = all_reduce_s(profile.gradient.bytes, shape, place.network)
    return times
