"""LWF-κ and Ada-SRSF on the 160 jobs of their paper: ``python -m benchmarks.network.lwf`` prints the tables.

The jobs are those of the authors' simulator (HKBU-HPML/dl-scheduling): counts of GPUs fixed, model, iterations and
arrival drawn evenly, on 16 nodes of 4 GPUs of 32 GiB with 10 Gb Ethernet.
"""

from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pointsman

CLUSTER = "16x4/gpu=v100,nic=10Gbps"
NODE_GPUS = 4
MODELS = Path(__file__).parent / "lwf_models.yaml"
GANGS = {1: 80, 2: 14, 4: 26, 8: 30, 16: 8, 32: 2}
"""How many of the 160 jobs ask for so many GPUs."""
B_MS_PER_MB = 0.856
DNNS = {
    "lwf_vgg16": (90, 526.4),
    "lwf_resnet50": (62, 99.2),
    "lwf_inception3": (87, 103.0),
    "lwf_lstm": (79, 251.8),
}
"""Ms of computing in an iteration, and megabytes of its transfer."""
SEEDS = tuple(range(10))


@dataclass(frozen=True)
class Version:
    """The workload of the code, or of the paper as we recall it."""

    name: str
    iterations: tuple[int, int]
    arrivals_s: float


VERSIONS = (
    Version("code: 10-60 iterations, arrivals over 12 s", (10, 60), 12.0),
    Version("paper (recalled): 1,000-6,000 iterations, arrivals over 1,200 s", (1000, 6000), 1200.0),
)


@dataclass(frozen=True)
class Entry:
    """A policy with its parameters, under a short name."""

    label: str
    policy: str
    params: dict[str, Any] = field(default_factory=dict)


def _with_choice(choice: str, kappa: int = 1) -> dict[str, Any]:
    return {"choice": choice, "kappa": kappa}


KAPPAS = (1, 2, 4, 8, 32)
PLACEMENTS = (
    *(Entry(f"LWF-{kappa}", "ada-srsf", _with_choice("lwf", kappa)) for kappa in KAPPAS),
    Entry("first-fit", "ada-srsf", _with_choice("first-fit")),
    Entry("random", "ada-srsf", _with_choice("random")),
    Entry("list scheduling", "ada-srsf", _with_choice("list")),
)
ADMISSIONS = (
    Entry("Ada-SRSF", "ada-srsf"),
    *(Entry(f"SRSF({t})", "srsf", {"transfers": t}) for t in (1, 2, 3)),
    Entry("all at once", "lwf"),
)


def workload(version: Version, seed: int) -> pointsman.Workload:
    """The 160 jobs by one seed; a duration is that of the iterations alone on nodes filled."""
    draw = np.random.default_rng([seed, 160])
    gpus = draw.permutation(np.repeat(list(GANGS), list(GANGS.values())))
    models = draw.choice(list(DNNS), len(gpus))
    iterations = draw.integers(version.iterations[0], version.iterations[1], len(gpus), endpoint=True)
    solo_ms = [
        DNNS[m][0] + (ceil(B_MS_PER_MB * DNNS[m][1]) if g > NODE_GPUS else 0) for m, g in zip(models, gpus, strict=True)
    ]
    submits = np.sort(draw.integers(0, round(1000 * version.arrivals_s), len(gpus), endpoint=True)) / 1000
    columns = {"submit_s": submits, "gpus": gpus, "model": models, "duration_s": iterations * solo_ms / 1000}
    return pointsman.Workload.of(pl.DataFrame(columns))


Figures = dict[str, float]


def run(version: Version, entry: Entry, seed: int, rate_model: str = "iterations") -> Figures:
    """Mean and 95th percentile JCT, makespan and GPU-side figures of one run, in seconds."""
    params = entry.params | ({"random_seed": seed} if entry.params.get("choice") == "random" else {})
    result = pointsman.simulate(
        workload(version, seed), CLUSTER, entry.policy, params=params, profiles=(MODELS,), rate_model=rate_model,
        log=False,
    )  # fmt: skip
    jct = result.jobs["jct_s"]
    return {
        "jct_s": float(jct.mean()),  # ty: ignore[invalid-argument-type]
        "p95_s": float(jct.quantile(0.95)),  # ty: ignore[invalid-argument-type]
        "makespan_s": float(result.jobs["end_s"].max()),  # ty: ignore[invalid-argument-type]
        "comm_s": float(result.jobs["comm_s"].sum()),
        "engine_s": float(result.info["engine_s"]),
    }
