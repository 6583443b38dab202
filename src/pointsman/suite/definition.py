"""What suite v1 is made of, and the digests by which anybody can tell that theirs is the same."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from pointsman.errors import RunError, UsageError
from pointsman.inputs.config_file import parse_document
from pointsman.inputs.option_types import Load, Seed
from pointsman.workload import Workload

DIGESTED: Final = ("job_id", "user", "queue", "status", "submit_s", "gpus", "duration_s")
"""The columns that a digest covers: all that the generator makes."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class SuiteWorkload(_Part):
    """What is generated, for which cluster."""

    like: str
    jobs: int = Field(ge=2)
    cluster: str


class SuiteSpec(_Part):
    """Every workload with every load, seed, policy and error."""

    workloads: tuple[SuiteWorkload, ...]
    loads: tuple[Load, ...]
    seeds: tuple[Seed, ...]
    warmup_ratio: float = Field(ge=0, lt=1)
    policies: tuple[str, ...]
    errors: tuple[str, ...]


class SuiteName(_Part):
    """What the suite is called."""

    name: str


class Suite(_Part):
    """A suite file."""

    api_version: Literal["pointsman/v1"] = Field(alias="apiVersion")
    kind: Literal["Suite"]
    metadata: SuiteName
    spec: SuiteSpec

    def part(self, only: Sequence[str]) -> "Suite":
        """What is left of the suite where `only` these are measured: ``workload=philly``, ``load=0.85``, ``seed=0,1``.

        Raises:
            UsageError: no such key, or the suite has no such workload, load or seed.
        """
        parts = {"workload": self.spec.workloads, "load": self.spec.loads, "seed": self.spec.seeds}
        wanted: dict[str, list[str]] = {}
        for text in only:
            key, _, values = text.partition("=")
            if key not in parts or not values:
                raise UsageError(f"--only {text!r}: write {' or '.join(f'{name}=VALUE' for name in parts)}")
            wanted.setdefault(key, []).extend(value.strip() for value in values.split(","))
        left = {f"{key}s": _choose(key, parts[key], values) for key, values in wanted.items()}
        return self.model_copy(update={"spec": self.spec.model_copy(update=left)})

    def cells(self) -> Iterator["Cell"]:
        """Every workload at every load, in order."""
        for workload in self.spec.workloads:
            for load in self.spec.loads:
                yield Cell(self, workload, load)


def _choose(key: str, parts: Sequence[Any], wanted: Sequence[str]) -> tuple[Any, ...]:
    named = {part.like if isinstance(part, SuiteWorkload) else f"{part:g}": part for part in parts}
    for value in wanted:
        if value not in named:
            raise UsageError(f"--only {key}={value}: the suite has {', '.join(named)}")
    return tuple(part for name, part in named.items() if name in wanted)


@dataclass(frozen=True)
class Cell:
    """One workload at one load."""

    suite: Suite
    workload: SuiteWorkload
    load: float

    @property
    def name(self) -> str:
        """As in results: ``philly at 0.85``."""
        return f"{self.workload.like} at {self.load:g}"

    def generate(self, seed: int) -> Workload:
        """The jobs, whether or not they are the frozen ones."""
        from pointsman.cluster import load_cluster
        from pointsman.workload import generate

        gpus = load_cluster(self.workload.cluster).gpus
        return generate(self.workload.like, jobs=self.workload.jobs, cluster_gpus=gpus, load=self.load, seed=seed)

    def frozen(self, seed: int) -> Workload:
        """The jobs.

        Raises:
            RunError: this machine generates others than those that were frozen.
        """
        workload = self.generate(seed)
        name = f"{self.name}, seed {seed}"
        if digest(workload.jobs) != frozen_digests().get(name):
            raise RunError(
                f"suite {self.suite.metadata.name}: the jobs generated for {name} differ from the published ones, "
                "so results would not be comparable (compare 'pointsman suite digests' with the digests in the package)"
            )
        return workload

    def frozen_digests(self) -> list[str]:
        """The digests of the jobs of each seed."""
        return [frozen_digests()[f"{self.name}, seed {seed}"] for seed in self.suite.spec.seeds]

    def window(self, workload: Workload) -> tuple[float, float]:
        """Which jobs count, in seconds since the first submit."""
        submit_s = workload.jobs["submit_s"]
        return self.suite.spec.warmup_ratio * float(submit_s[-1] - submit_s[0]), float("inf")


@cache
def suite_v1() -> Suite:
    """Suite v1."""
    return parse_document(_file("v1.yaml"), Suite, origin="suite v1").content


@cache
def frozen_digests() -> dict[str, str]:
    """Digest of each workload of suite v1, by cell and seed."""
    lines = (line.split("  ", 1) for line in _file("v1.sha256").splitlines() if line)
    return {name: sha256 for sha256, name in lines}


def digests(suite: Suite) -> Iterator[tuple[str, str]]:
    """Name and digest of each workload as this machine generates it."""
    for cell in suite.cells():
        for seed in suite.spec.seeds:
            yield f"{cell.name}, seed {seed}", digest(cell.generate(seed).jobs)


def digest(jobs: pl.DataFrame) -> str:
    """SHA-256 of the jobs: a line each of the digested columns, numbers in their shortest exact form."""
    lines = jobs.select(DIGESTED).write_csv(include_header=True, separator="\t", float_precision=None)
    return hashlib.sha256(lines.encode()).hexdigest()


def _file(name: str) -> str:
    return (files("pointsman.suite") / name).read_text(encoding="utf-8")
