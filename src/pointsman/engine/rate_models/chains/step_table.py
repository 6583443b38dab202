"""From the profiles of models to the tasks and transfers of an iteration (``docs/reference/semantics.md`` §9)."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.state.records import STEP
from pointsman.types import Locality

if TYPE_CHECKING:
    from pointsman.speed.profiles.catalogue import Catalogue
    from pointsman.speed.tables.rates import Demand, Tables


def steps_without_models(layout: Layout, rows: int = 1) -> NDArray[np.void]:
    """Makes the steps of jobs whose model is not known: an iteration is 1 ms of forward task."""
    steps = np.zeros(rows * len(layout.gpu_types), STEP)
    steps["fw"] = steps["solo"] = 1
    return steps


def steps_of(
    layout: Layout,
    demands: "list[Demand]",
    catalogue: "Catalogue",
    tables: "Tables",
    b: float,
    latency_ms: float,
) -> NDArray[np.void]:
    """STEP, by row of `tables`: what `catalogue` knows of each demand on each type.

    A transfer takes `b` ms/MB (10^6 bytes) after `latency_ms`.
    """
    steps = steps_without_models(layout, len(demands))
    types = len(layout.gpu_types)
    for i, (model, gpus, batch, _) in enumerate(demands):
        for t, gpu_type in enumerate(layout.gpu_types):
            if model is not None:
                row = i * types + t
                spans = gpus > 1 and tables.best[row] > Locality.NODE
                steps[row] = _step(catalogue, model, gpu_type, batch, spans, b, latency_ms)
    return steps


def _step(
    catalogue: "Catalogue",
    model: str,
    gpu_type: str,
    batch: int | None,
    spans: bool,
    b: float,
    latency_ms: float,
) -> tuple[int, int, float, float]:
    compute, _ = catalogue.compute(model, gpu_type)
    profile = catalogue.model(model)
    samples = batch or profile.batch.per_gpu
    ms = 1000.0 * compute.time_s(samples)
    whole = max(1, round(ms))
    forward = min(whole, max(1, round(ms * compute.forward_share)))
    wire = b * profile.gradient.bytes / 1e6
    alone = float(np.ceil(latency_ms) + np.ceil(wire)) if spans and wire > 0 else 0.0
    return forward, whole - forward, wire, whole + alone
