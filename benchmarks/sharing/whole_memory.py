"""The same jobs, but none of them needs less memory with accumulation: what it buys is what these lose."""

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import yaml

from pointsman.speed.interference.file import interference_yaml
from pointsman.speed.interference.slow_downs import shipped
from pointsman.speed.profiles.catalogue import load_catalogue
from pointsman.workload import Workload

KEPT = ("title", "gradient", "batch", "overlap", "compute")


Demand = tuple[str, int]
"""A model and its samples per GPU."""


def renamed(work: Workload) -> Workload:
    """A model of its own for each batch per GPU, as `files` has them."""
    return replace(work, jobs=work.jobs.with_columns(model=pl.format("{}_of_{}", pl.col("model"), _samples())))


@cache
def files(demands: frozenset[Demand]) -> tuple[str, str]:
    """Profiles of these models at these samples per GPU, all of whose memory is fixed; and slow-downs as of `table`."""
    catalogue, told, folder = load_catalogue(), shipped(), Path(tempfile.mkdtemp(prefix="pointsman-"))
    models, stand_ins = {}, {}
    for name, samples in sorted(demands):
        profile = catalogue.model(name)
        known = profile.model_dump(mode="json", include=set(KEPT), exclude_none=True)
        memory = {"fixed_bytes": profile.memory_bytes(samples), "bytes_per_sample": 0.0, "source": "ours: for this"}
        models[f"{name}_of_{samples}"] = known | {"memory": memory}
        canonical = catalogue.model_name(name)
        stand_ins[f"{name}_of_{samples}"] = told.stand_ins.get(canonical, canonical)
    spec = {"apiVersion": "pointsman/v1", "kind": "ModelProfiles", "metadata": {"name": "whole"}}
    profiles, slow_downs = folder / "whole-memory.yaml", folder / "table-of-whole-memory.yaml"
    profiles.write_text(yaml.safe_dump(spec | {"spec": {"models": models}}), encoding="utf-8")
    slow_downs.write_text(interference_yaml("whole", told.source, told.gpu_types, stand_ins), encoding="utf-8")
    return str(profiles), str(slow_downs)


def demands(work: Workload) -> frozenset[Demand]:
    """Models and samples per GPU of the jobs."""
    return frozenset(work.jobs.select("model", _samples()).unique().rows())


def _samples() -> pl.Expr:
    """Per GPU: of the job's batch, or its model's."""
    catalogue = load_catalogue()
    own = pl.col("model").map_elements(lambda name: catalogue.model(name).batch.per_gpu, return_dtype=pl.Int64)
    return (pl.col("batch_size") // pl.col("gpus")).clip(lower_bound=1).fill_null(own).alias("samples")
