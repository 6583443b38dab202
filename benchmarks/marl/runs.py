"""Runs of contestants in cells. Each is a line of a file as soon as it has ended; what is there is not run again."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.marl.cells import Cell as MarlCell
from benchmarks.marl.contestants import Contestant, Params
from benchmarks.placement.cell import run
from pointsman import Workload
from pointsman.engine.run.result import Result
from pointsman.parallel.pool import Processes

BOUND: Final = "bound"
"""No job waits or is slowed."""
WORKERS: Final = 2


class Cell(Protocol):
    """Where contestants are compared."""

    @property
    def name(self) -> str:
        """As in tables."""
        ...

    def cluster(self, folder: Path) -> tuple[str, int]:
        """Its cluster file, written into `folder`, and how many servers it has."""
        ...

    def workload(self, servers: int, seed: int) -> Workload:
        """From `seed`."""
        ...

    def options(self, seed: int, folder: Path) -> dict[str, Any]:
        """Of a run; files that they name are written into `folder`."""
        ...

    def mean_jct_s(self, result: Result) -> float:
        """What is compared."""
        ...

    def bound_s(self, jobs: Workload) -> float:
        """The same, if no job waits or is slowed."""
        ...


@dataclass(frozen=True)
class Key:
    """Which run: the name of the cell, the label of the contestant, which training, the seed of the workload."""

    cell: str
    who: str
    training: int
    seed: int


Means = dict[Key, float]
"""Mean JCT, in seconds, of each run."""


def complete(path: Path, cells: Sequence[Cell], who: Sequence[Contestant], seeds: Sequence[int]) -> Means:
    """The mean JCTs of all runs; those not yet in the file at `path` are run and added."""
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # threads with heaps of their own take twice as long (`together`)
    found = kept(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for key, mean_s in _missing(found, cells, who, seeds):
            found[key] = mean_s
            file.write(json.dumps([key.cell, key.who, key.training, key.seed, round(mean_s, 3)]) + "\n")
            file.flush()
    return found


def kept(path: Path) -> Means:
    """What the file has."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {Key(*key): mean_s for *key, mean_s in map(json.loads, lines)}


def means_of(found: Means, cell: Cell, who: str, trainings: int, seeds: Sequence[int]) -> NDArray[np.float64]:
    """(trainings, seeds)"""
    return np.array([[found[Key(cell.name, who, t, seed)] for seed in seeds] for t in range(trainings)])


def _missing(
    found: Means, cells: Sequence[Cell], who: Sequence[Contestant], seeds: Sequence[int]
) -> Iterator[tuple[Key, float]]:
    calls: list[tuple[Any, ...]] = []
    keys: list[list[Key]] = []
    for cell in cells:
        bound = Contestant(BOUND, "")
        for one in (bound, *who):
            for training in range(len(one.trainings)):
                of = [Key(cell.name, one.label, training, seed) for seed in seeds]
                if wanted := [key for key in of if key not in found]:
                    keys.append(wanted)
                    own = [key.seed for key in wanted]
                    calls.append((cell, one.policy, one.params(training, cell), own))
    for own, means in zip(keys, Processes(WORKERS)(measure, calls), strict=True):
        yield from zip(own, means, strict=True)


def measure(cell: Cell, policy: str, params: Params, seeds: Sequence[int]) -> list[float]:
    """Mean JCT of a run for each seed; without a policy, the mean of durations."""
    with tempfile.TemporaryDirectory() as folder:
        on, servers = cell.cluster(Path(folder))
        workloads = [cell.workload(servers, seed) for seed in seeds]
        if not policy:
            return [cell.bound_s(jobs) for jobs in workloads]
        if policy == "marl" and isinstance(cell, MarlCell):  # many at once, in which every cell is the same
            from benchmarks.marl.together import mean_jcts_s

            return mean_jcts_s(workloads, on, seeds, params)
        return [
            cell.mean_jct_s(run(jobs, on, policy, params=params, seed=seed, **cell.options(seed, Path(folder))))
            for jobs, seed in zip(workloads, seeds, strict=True)
        ]
