"""Samplers: objects that give the workload of episode k, always the same one for the same k."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import polars as pl

from pointsman.errors import UsageError
from pointsman.workload import Workload, generate, read_workload
from pointsman.workload.columns import MAX_GPUS, SCHEMA, SHAPE
from pointsman.workload.generator.dl2 import SIZES
from pointsman.workload.transforms.narrow import narrowed
from pointsman.workload.transforms.rescale import at_load


@runtime_checkable
class Sampler(Protocol):
    """Anything that gives workloads."""

    def __call__(self, episode: int, gpus: int) -> Workload:
        """The jobs of `episode` for a cluster of `gpus` GPUs."""
        ...


SEASON, CUTS = 20_000, 32
"""Jobs of a generated log, and how many episodes are cut from it before the next is generated."""


@dataclass(frozen=True)
class Generated:
    """Jobs like a real log's (``trace generate``): each episode is another stretch of a generated log. Those of
    ``topdrl`` and ``dl2-1-8`` are drawn anew.
    """

    like: str = "philly"
    jobs: int = 256
    load: float | None = 1.5
    """Offered load; None: the gaps of the log, or topdrl's jobs all at once."""
    seed: int = 0
    widest: int | None = None
    """GPUs to which wider gangs are narrowed; None: a quarter of the cluster."""

    def __call__(self, episode: int, gpus: int) -> Workload:
        rng = np.random.default_rng((self.seed, episode))
        if self.like == "topdrl" or self.like in SIZES:
            seed = int(rng.integers(1 << 32))
            drawn = generate(self.like, jobs=self.jobs, cluster_gpus=gpus, load=self.load, seed=seed)
            return _fit(drawn, gpus, self.widest, None)
        log = _season(self.like, max(SEASON, self.jobs), self.seed, episode // CUTS)
        start = int(rng.integers(log.jobs.height - self.jobs + 1))
        return _fit(replace(log, jobs=log.jobs.slice(start, self.jobs)), gpus, self.widest, self.load)


@lru_cache(4)
def _season(like: str, jobs: int, seed: int, number: int) -> Workload:
    own = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
    return generate(like, jobs=jobs, cluster_gpus=MAX_GPUS, load=None, seed=own)


@dataclass(frozen=True)
class Windows:
    """Stretches of consecutive jobs of a real log, without their GPU types, partitions, queues and shapes, which other
    clusters may lack: those for training are from its first part, those held out from the rest.
    """

    log: Workload | str | Path
    jobs: int = 256
    load: float | None = None
    """Offered load to which gaps between jobs are scaled; None: jobs arrive as logged."""
    part: Literal["train", "held-out"] = "train"
    held_out: float = 0.3
    """Share of the jobs, the last submitted, that are held out."""
    seed: int = 0
    widest: int | None = None
    """As for `Generated`."""

    @cached_property
    def _jobs(self) -> Workload:
        return self.log if isinstance(self.log, Workload) else read_workload(self.log)

    def __call__(self, episode: int, gpus: int) -> Workload:
        first, last = self._rows()
        start = int(np.random.default_rng((self.seed, episode)).integers(first, last - self.jobs + 1))
        window = self._jobs.jobs.slice(start, self.jobs)
        anywhere = [pl.lit(None, SCHEMA[name]).alias(name) for name in ("gpu_type", "partition", "queue", *SHAPE)]
        return _fit(replace(self._jobs, jobs=window.with_columns(anywhere)), gpus, self.widest, self.load)

    def _rows(self) -> tuple[int, int]:
        """The rows of this part."""
        total = self._jobs.jobs.height
        if not 0 < self.held_out < 1 or self.part not in ("train", "held-out"):
            raise UsageError(f"part {self.part!r}, held_out {self.held_out}: train or held-out, and a share below 1")
        split = round(total * (1 - self.held_out))
        first, last = (0, split) if self.part == "train" else (split, total)
        if not 2 <= self.jobs <= last - first:
            source = self._jobs.provenance.source
            raise UsageError(
                f"{source}: no window of {self.jobs} jobs in the {self.part} part, which has {last - first}; "
                "use a longer log or fewer jobs per episode (jobs=100, --set practice.jobs=100)"
            )
        return first, last


@dataclass(frozen=True)
class Listed:
    """These workloads, in turn."""

    workloads: Sequence[Workload]

    def __call__(self, episode: int, gpus: int) -> Workload:
        return self.workloads[episode % len(self.workloads)]


@dataclass(frozen=True)
class AtOnce:
    """The jobs of another sampler, all submitted at once."""

    sampler: Sampler

    def __call__(self, episode: int, gpus: int) -> Workload:
        workload = self.sampler(episode, gpus)
        return replace(workload, jobs=workload.jobs.with_columns(submit_s=pl.lit(0.0)))


def _fit(workload: Workload, gpus: int, widest: int | None, load: float | None) -> Workload:
    """Narrows gangs to `widest` GPUs and scales the arrivals to this load; the first submit is at 0."""
    workload = narrowed(workload, max(1, gpus // 4) if widest is None else min(widest, gpus))
    workload = replace(workload, jobs=workload.jobs.with_columns(pl.col("submit_s") - pl.col("submit_s").first()))
    return workload if load is None else at_load(workload, gpus, load)
