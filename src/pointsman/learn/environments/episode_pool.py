"""Episodes made ready: the jobs of many workloads, prepared together so that they share classes and speeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.setup.prepare import Prepared, prepare
from pointsman.engine.setup.terms import Terms
from pointsman.engine.state.records import TRACE
from pointsman.workload import Workload

_WORDS = TRACE.itemsize // 8


@dataclass(frozen=True)
class EpisodePool:
    """M episodes of at most `longest` jobs."""

    prepared: Prepared
    rows: NDArray[np.int64]
    """(M, 1 + words of the longest): how many jobs, and their rows of TRACE as words."""
    longest: int


def make_episode_pool(
    workloads: Sequence[Workload],
    layout: Layout,
    terms: Terms,
    *,
    assign_models: int | None,
    profiles: Sequence[str | Path] = (),
) -> EpisodePool:
    """The episodes of `workloads`, one each; each begins with its first submit. Gangs that never fit are refused.

    Raises:
        InputError: a workload is empty, or has a gang that never fits, or the estimate asks for limits that it lacks.
    """
    together = pl.concat(
        _assign_models(work.jobs, assign_models).with_columns(
            pl.col("submit_s") - pl.col("submit_s").first(), episode=pl.lit(k, pl.Int64)
        )
        for k, work in enumerate(workloads)
    )
    prepared = prepare(replace(workloads[0], jobs=together), layout, terms, profiles=profiles)
    episode = prepared.jobs["episode"].to_numpy()
    counts = np.bincount(episode, minlength=len(workloads))
    rows = np.zeros((len(workloads), 1 + int(counts.max()) * _WORDS), np.int64)
    for k, count in enumerate(counts.tolist()):
        rows[k, 0] = count
        rows[k, 1 : 1 + count * _WORDS] = np.ascontiguousarray(prepared.trace[episode == k]).view(np.int64).ravel()
    return EpisodePool(prepared, rows, int(counts.max()))


def _assign_models(jobs: pl.DataFrame, seed: int | None) -> pl.DataFrame:
    """The jobs, those without a model given one by `seed`, if there is one."""
    if seed is None:
        return jobs
    from pointsman.speed.profiles.assign import assign_models

    return assign_models(jobs, seed)
