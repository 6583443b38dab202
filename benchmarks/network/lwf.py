"""Part 2: LWF-κ and Ada-SRSF on the 160 jobs of their paper.

The jobs are those of the authors' simulator (HKBU-HPML/dl-scheduling): counts of GPUs fixed, model, iterations and
arrival drawn evenly, on 16 nodes of 4 GPUs of 32 GiB with 10 Gb Ethernet.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pointsman
from benchmarks.classical.tables import markdown
from benchmarks.network.dally import Found
from benchmarks.network.scope import Scope
from pointsman.parallel.pool import Processes
from pointsman.report.metrics.confidence import ratio_interval
from pointsman.report.metrics.lower_bound import srpt_mean_jct_s
from pointsman.report.units import duration, percent

CLUSTER = "16x4/gpu=v100,nic=10Gbps"
NODE_GPUS, GPUS = 4, 64
WORKERS = 2
MODELS = Path(__file__).parent / "lwf_models.yaml"
GANGS = {1: 80, 2: 14, 4: 26, 8: 30, 16: 8, 32: 2}
"""How many of the 160 jobs ask for so many GPUs."""
DNNS = {
    "lwf_vgg16": (90, 526.4),
    "lwf_resnet50": (62, 99.2),
    "lwf_inception3": (87, 103.0),
    "lwf_lstm": (79, 251.8),
}
"""Ms of computing in an iteration, and megabytes of its transfer."""
Figures = dict[str, float]


@dataclass(frozen=True)
class Version:
    """How many iterations jobs have and how long they keep coming, and a network."""

    name: str
    iterations: tuple[int, int]
    arrivals_s: float
    b: float = 0.856
    """ms/MB"""
    eta: float = 0.235
    """ms/MB"""
    seeds: int = 20


CODE = Version("code", (10, 60), 12.0)
PAPER = Version("paper (recalled)", (1000, 6000), 1200.0, seeds=5)
SLOW = Version("code, 1 GbE", (10, 60), 12.0, 1000 / 128, 0.7)
"""The constants of the authors' offline simulator."""


@dataclass(frozen=True)
class Entry:
    """A policy with its parameters, under a short name."""

    label: str
    policy: str
    params: dict[str, Any] = field(default_factory=dict, hash=False)
    knows: str = "oracle"
    sharing: int = 8
    """Jobs on a GPU at most."""

    def placed(self, label: str, **params: Any) -> "Entry":
        """The same with another placement."""
        return Entry(f"{self.label}, {label}", self.policy, self.params | params, self.knows)


LWF_1 = Entry("LWF-1", "ada-srsf")
PLACEMENTS = (
    LWF_1,
    *(Entry(f"LWF-{kappa}", "ada-srsf", {"kappa": kappa}) for kappa in (2, 4, 8, 32)),
    Entry("first-fit", "ada-srsf", {"choice": "first-fit"}),
    Entry("random", "ada-srsf", {"choice": "random"}),
    Entry("list scheduling", "ada-srsf", {"choice": "list"}),
)
PLACED = {CODE: PLACEMENTS, PAPER: (PLACEMENTS[0], PLACEMENTS[5])}
"""Minutes of computing are saved: the scattered placements of the long version meet at every iteration."""
ADA = Entry("Ada-SRSF", "ada-srsf")
SRSF = tuple(Entry(f"SRSF({t})", "srsf", {"transfers": t}) for t in (1, 2, 3))
ADMISSIONS = (ADA, *SRSF, Entry("all at once", "lwf"))
KNOWLEDGE = (
    ADA,
    Entry("Ada-SRSF", "ada-srsf", knows="lognormal:0.5"),
    Entry("Ada-SRSF", "ada-srsf", knows="lognormal:1"),
    Entry("Ada-SRSF, one job a GPU", "ada-srsf", sharing=1),
    Entry("sjf-backfill, one job a GPU", "sjf-backfill"),
    Entry("fifo-backfill, one job a GPU", "fifo-backfill", knows="none"),
)
MANY, QUICK = 1000, 2
CHOICES = {"LWF-1": "lwf", "first-fit": "first-fit", "list scheduling": "list", "random": "random"}


def workload(version: Version, seed: int) -> tuple[pointsman.Workload, float]:
    """The 160 jobs by one seed, whose durations are those of their iterations alone on nodes filled; and a bound (s)
    on their mean JCT: all GPUs as one machine, which only computes, or nobody sooner than alone.
    """
    draw = np.random.default_rng([seed, 160])
    gpus = draw.permutation(np.repeat(list(GANGS), list(GANGS.values())))
    models = draw.choice(list(DNNS), len(gpus))
    iterations = draw.integers(version.iterations[0], version.iterations[1], len(gpus), endpoint=True)
    busy_ms = np.array([DNNS[m][0] for m in models])
    wire_ms = np.array([ceil(version.b * DNNS[m][1]) for m in models]) * (gpus > NODE_GPUS)
    submits = np.sort(draw.integers(0, round(1000 * version.arrivals_s), len(gpus), endpoint=True)) / 1000
    durations = iterations * (busy_ms + wire_ms) / 1000
    jobs = pl.DataFrame({"submit_s": submits, "gpus": gpus, "model": models, "duration_s": durations})
    computing = srpt_mean_jct_s(submits - submits[0], iterations * busy_ms * gpus / 1000 / GPUS)
    return pointsman.Workload.of(jobs), max(float(durations.mean()), computing)


def run(version: Version, entry: Entry, seed: int) -> Figures:
    """Figures of one run, times in seconds."""
    jobs, bound_s = workload(version, seed)
    params = entry.params | ({"random_seed": seed} if entry.params.get("choice") == "random" else {})
    result = pointsman.simulate(
        jobs, CLUSTER, entry.policy, params=params, profiles=(MODELS,), estimate=entry.knows, seed=seed, log=False,
        overheads="none",
        rate_model=f"iterations:b={version.b!r},eta={version.eta!r},sharing={entry.sharing}",
    )  # fmt: skip
    done = result.jobs
    return {
        "jct_s": float(done["jct_s"].mean()),  # ty: ignore[invalid-argument-type]
        "p95_s": float(done["jct_s"].quantile(0.95)),  # ty: ignore[invalid-argument-type]
        "makespan_s": float(done["end_s"].max() - done["submit_s"].min()),  # ty: ignore
        "comm_share": float(done["comm_s"].sum()) / float(done["run_s"].sum()),
        "bound_s": bound_s,
    }


class Measured:
    """The runs of entries on one version, seed by seed."""

    def __init__(self, version: Version, entries: Sequence[Entry], most_seeds: int) -> None:
        seeds = range(min(version.seeds, most_seeds))
        calls = [(version, entry, seed) for entry in entries for seed in seeds]
        found = iter(list(Processes(WORKERS)(run, calls)))
        self.runs = {entry: [next(found) for _ in seeds] for entry in entries}
        print(f"{version.name}: {len(calls)} runs", file=sys.stderr)

    def values(self, entry: Entry, figure: str) -> Any:
        """(seeds,)"""
        return np.array([run[figure] for run in self.runs[entry]])

    def row(self, entry: Entry, base: Entry, *, inverse: bool) -> tuple[str, ...]:
        """Mean JCT; against `base` (`inverse`: of `base` against this) with the interval of pairs; and more."""
        jct = self.values(entry, "jct_s")
        above = jct.sum() / self.values(entry, "bound_s").sum() - 1
        return (
            duration(jct.mean()),
            *(("", "") if entry == base else self.change(entry, base, inverse=inverse)),
            percent(above),
            duration(self.values(entry, "p95_s").mean()),
            duration(self.values(entry, "makespan_s").mean()),
            percent(self.values(entry, "comm_share").mean()),
        )

    def change(self, entry: Entry, base: Entry, *, inverse: bool) -> tuple[str, str]:
        """Of mean JCT, and its interval."""
        here, there = self.values(entry, "jct_s"), self.values(base, "jct_s")
        if inverse:
            here, there = there, here
        interval = ratio_interval(here, there)
        told = "" if interval is None else " … ".join(percent(end, signed=True) for end in interval)
        return percent(here.sum() / there.sum() - 1, signed=True), told


MORE = ("above bound", "p95 JCT", "makespan", "of running time communicating")


def tables(seeds: int = MANY) -> dict[str, str]:
    """All tables by name, as Markdown; of no more than so many `seeds` each."""
    versions = (CODE, PAPER)
    placed = {version: Measured(version, PLACED[version], seeds) for version in versions}
    admitted = {version: Measured(version, ADMISSIONS, seeds) for version in versions}
    known = Measured(CODE, KNOWLEDGE, seeds)
    return {
        "lwf-placement": markdown(
            ("workload", "placement", "mean JCT", "against LWF-1", "95 % CI", *MORE),
            [
                (version.name, entry.label, *found.row(entry, LWF_1, inverse=False))
                for version, found in placed.items()
                for entry in PLACED[version]
            ],
            words=2,
        ),
        "lwf-admission": markdown(
            ("workload", "admission", "mean JCT", "Ada-SRSF against it", "95 % CI", *MORE),
            [
                (version.name, entry.label, *found.row(entry, ADA, inverse=True))
                for version, found in admitted.items()
                for entry in ADMISSIONS
            ],
            words=2,
        ),
        "lwf-contended": markdown(
            ("workload", "placement", *(f"Ada-SRSF against {s.label} (95 % CI)" for s in SRSF)),
            list(_contended(seeds)),
            words=2,
        ),
        "lwf-knowledge": markdown(
            ("policy", "knows", "mean JCT", "against Ada-SRSF", "95 % CI", *MORE),
            [(entry.label, entry.knows, *known.row(entry, ADA, inverse=False)) for entry in KNOWLEDGE],
            words=2,
        ),
    }


def _contended(seeds: int) -> Iterable[tuple[str, ...]]:
    """Ada-SRSF against SRSF(t) where placement and network leave more transfers to meet."""
    for version in (CODE, SLOW):
        for label, choice in CHOICES.items():
            ada, *others = (entry.placed(label, choice=choice) for entry in (ADA, *SRSF))
            found = Measured(version, (ada, *others), min(seeds, 10))
            changes = [found.change(other, ada, inverse=True) for other in others]
            yield version.name, label, *(f"{change} ({interval})" for change, interval in changes)


def lwf(scope: Scope) -> Found:
    """The part of ``python -m benchmarks network``."""
    return tables(MANY if len(scope.seeds) > QUICK else 1), []
