"""Episodes made ready: the jobs of many workloads, assembled to one run so that they share classes and speeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster import Cluster
from pointsman.engine.sdk.environments import TRACE, Handle, Prepared, assemble, build
from pointsman.experiment import RunOptions
from pointsman.learn.environments.compiled.columns import AgentMemory
from pointsman.types import Knowledge
from pointsman.workload import Workload

_WORDS = TRACE.itemsize // 8


@dataclass(frozen=True)
class Agent:
    """What decides in an environment, as a run asks for it: it is told of durations what the estimate says."""

    numbers: NDArray[np.float64]
    """The parameters of the agent, as the numbers of `AgentParameters`."""
    placement: str
    divides_among: int
    needs: Knowledge = "oracle"

    name: ClassVar[str] = "agent"
    title: ClassVar[str] = name
    round_s: ClassVar[float] = 0.0

    def parameters(self) -> list[float]:
        """What compiled code finds in ``State.params``."""
        return self.numbers.tolist()

    def new_memory(self) -> NDArray[np.float64]:
        """What ``State.memory`` is before the first event."""
        return AgentMemory.zeros()


@dataclass(frozen=True)
class EpisodePool:
    """M episodes."""

    prepared: Prepared
    rows: NDArray[np.int64]
    """(M, 1 + words of the longest): how many jobs, and their rows of TRACE as words."""
    template: Handle
    """A state before its first event, with room for the longest episode."""


def make_episode_pool(
    workloads: Sequence[Workload], cluster: Cluster, agent: Agent, options: RunOptions
) -> EpisodePool:
    """The episodes of `workloads`, one each; each begins with its first submit. Gangs that never fit are refused.

    Raises:
        InputError: a workload is empty, or has a gang that never fits, or the estimate asks for limits that it lacks.
    """
    together = pl.concat(
        _assign_models(work.jobs, options.assign_models).with_columns(
            pl.col("submit_s") - pl.col("submit_s").first(), episode=pl.lit(k, pl.Int64)
        )
        for k, work in enumerate(workloads)
    )
    given = dict(options) | {"assign_models": None}
    prepared, rules, _ = assemble(replace(workloads[0], jobs=together), cluster, agent, agent, given)
    episode = prepared.jobs["episode"].to_numpy()
    counts = np.bincount(episode, minlength=len(workloads))
    longest = int(counts.max())
    rows = np.zeros((len(workloads), 1 + longest * _WORDS), np.int64)
    for k, count in enumerate(counts.tolist()):
        rows[k, 0] = count
        rows[k, 1 : 1 + count * _WORDS] = np.ascontiguousarray(prepared.trace[episode == k]).view(np.int64).ravel()
    room = replace(prepared, trace=np.zeros(longest, TRACE))
    return EpisodePool(prepared, rows, build(room, replace(rules, hosted=False), agent))


def _assign_models(jobs: pl.DataFrame, seed: int | None) -> pl.DataFrame:
    """The jobs, those without a model given one by `seed`, if there is one."""
    if seed is None:
        return jobs
    from pointsman.speed.profiles.assign import assign_models

    return assign_models(jobs, seed)
