"""From the models that jobs name to the tables that the engine looks speeds up in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.congestion import congested, told
from pointsman.cluster.layout import Layout
from pointsman.engine.rate_models.gpu_sharing import WHOLE_GPUS, GpuSharing, slowdowns_of
from pointsman.engine.rate_models.rate_model import Goodput, Iterations, RateModel, Tree
from pointsman.engine.rate_models.rates import FINEST
from pointsman.engine.rate_models.step_table import steps_of, steps_without_models
from pointsman.engine.rate_models.subbatches import subbatches_of, without_models
from pointsman.engine.rate_models.uplinks import as_wide_as_cards, uplinks
from pointsman.engine.state.records import LINK, MODEL, STEP, SUBBATCH, UPLINK
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import nearest
from pointsman.types import LOCALITIES, Contention

UNKNOWN_MODELS = "models without a profile are named"
"""How the assumption begins that names them."""

NOBODY_SHARES = "no job names a model, so none shares a GPU but by a fraction (--assign-models SEED gives them some)"

NAMED = 3
"""Names told in a sentence."""


@dataclass(frozen=True)
class Speeds:
    """How fast jobs run: rows are a job's profile times the number of GPU types, plus the type."""

    rates: NDArray[np.float64]
    """(rows, LOCALITIES) nominal work per time of gangs of the usual shapes, and of all whose model is not known."""
    models: NDArray[np.void]
    """MODEL, (rows,)"""
    links: NDArray[np.void]
    """LINK, (GPU types * LOCALITIES,)"""
    uplinks: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, UPLINK))
    """UPLINK: see `uplinks.uplinks`; none where nobody shares a link."""
    steps: NDArray[np.void] = field(default_factory=lambda: np.zeros(1, STEP))
    """STEP, (rows,), where jobs are chains of iterations."""
    subbatches: NDArray[np.void] = field(default_factory=lambda: np.zeros(1, SUBBATCH))
    """SUBBATCH, (rows * ACCUMULATIONS,)"""
    slowdowns: NDArray[np.float64] = field(default_factory=lambda: np.ones((1, 1)))
    """(GPU types * kinds of models, kinds) ξ of a job of one kind beside one of another."""
    goodputs: NDArray[np.float64] = field(default_factory=lambda: np.zeros((1, 1)))
    """(rows * stages of progress, (most GPUs + 1) * LOCALITIES) rates of elastic jobs."""
    stages: int = 0
    """Of progress, where rates depend on it."""

    @staticmethod
    def without_models(rates: NDArray[np.float64], gpu_types: int) -> "Speeds":
        """The speed of a job is what the table says for its locality, wherever its GPUs are."""
        return Speeds(rates, np.zeros(len(rates), MODEL), np.zeros(gpu_types * LOCALITIES, LINK))


def speeds_of(
    jobs: pl.DataFrame,
    layout: Layout,
    profiles: Sequence[str | Path],
    congestion: Mapping[str, float],
    contention: Contention,
    assumptions: list[str],
    law: RateModel = None,
    gpu_sharing: GpuSharing = WHOLE_GPUS,
) -> tuple[Speeds, Any]:
    """How fast the jobs run on the types of `layout`, and each job's first row in it. `congestion` divides the
    bandwidth of levels, but their durations were recorded without it.

    Where rings share the uplinks of racks and pods, a lone one is as fast as its nodes' cards.

    Raises:
        UsageError, InputError: a file of `profiles` is wrong.
    """
    nameless = jobs["model"].null_count() == len(jobs)
    slow = congested(layout, congestion)
    assumptions.extend(told(layout, congestion, models=not nameless))
    if nameless:
        assumptions.extend(f"the profiles of {file} are of no use: no job names a model" for file in profiles)
        if contention != Contention.NONE:
            assumptions.append("no job names a model, so nobody sends over the network and nobody shares it")
        if gpu_sharing.limit > 1:
            assumptions.append(NOBODY_SHARES)
        types = len(layout.gpu_types)
        without = Speeds.without_models(np.ones((types, LOCALITIES)), types)
        without = replace(without, subbatches=without_models(layout))
        if isinstance(law, Tree):
            return replace(without, goodputs=np.ones((types, int(layout.node_rack.max()) + 2))), 0
        return (replace(without, steps=steps_without_models(layout)) if isinstance(law, Iterations) else without), 0
    from pointsman.engine.rate_models.baseline_iteration import Alone
    from pointsman.speed.profiles.catalogue import load_catalogue
    from pointsman.speed.tables.rates import links, tabulate

    catalogue = load_catalogue(*profiles)
    known = [m for m in jobs["model"].drop_nulls().unique(maintain_order=True) if _is_known(catalogue, m)]
    named = jobs.select(
        model=pl.when(pl.col("model").is_in(known)).then(pl.col("model")),
        gpus="gpus",
        batch=(pl.col("batch_size") // pl.col("gpus")).clip(lower_bound=1),
    )
    unknown = named["model"].null_count()
    if unknown:
        same = (
            "pay for communication, and reduce nothing" if isinstance(law, Tree) else "run at the same speed everywhere"
        )
        assumptions.append(f"{unknown} jobs without a known model {same}")
    assumptions.extend(_unknown_models(jobs["model"].filter(~jobs["model"].is_in(known)), catalogue))
    distinct = named.unique(maintain_order=True).with_row_index("profile")
    profile = named.join(distinct, on=["model", "gpus", "batch"], how="left", nulls_equal=True, maintain_order="left")[
        "profile"
    ]
    demands = distinct.select("model", "gpus", "batch").rows()
    if isinstance(law, Tree):
        return _by_tree(layout, demands, catalogue, law, assumptions), profile.cast(pl.Int64).to_numpy() * len(
            layout.gpu_types
        )
    tables = tabulate(slow, demands, catalogue=catalogue, recorded_on=layout)
    assumptions.extend(tables.assumptions)
    shared = contention not in (Contention.NONE, Contention.NODE_LINK)
    wires = _records(links(as_wide_as_cards(slow) if shared else slow), LINK)
    models = np.zeros(len(tables.models), MODEL)
    for field_name, column in zip(("compute", "bytes", "delta", "reference"), tables.models.T, strict=True):
        models[field_name] = column
    if shared:
        models["reference"] = Alone(layout, contention).iterations_s(
            tables.models, tables.best, [gpus for _, gpus, _ in demands]
        )
    kinds, slowdowns = np.zeros(len(demands), np.int64), np.ones((len(layout.gpu_types), 1))
    if gpu_sharing.limit > 1:
        names = [model for model, _, _ in demands]
        kinds, slowdowns = slowdowns_of(gpu_sharing.interference, names, layout.gpu_types, catalogue, assumptions)
    models["kind"] = np.repeat(kinds, len(layout.gpu_types))
    speeds = Speeds(
        tables.rate,
        models,
        wires,
        uplinks(slow, contention),
        subbatches=subbatches_of(slow, demands, catalogue),
        slowdowns=slowdowns,
    )
    if isinstance(law, Iterations):
        speeds = replace(speeds, steps=steps_of(slow, demands, catalogue, tables, law))
    elif isinstance(law, Goodput):
        speeds = _adaptive(speeds, slow, demands, catalogue, tables, assumptions)
    return speeds, profile.cast(pl.Int64).to_numpy() * len(layout.gpu_types)


def _adaptive(
    speeds: Speeds, layout: Layout, demands: list[Any], catalogue: Any, tables: Any, assumptions: list[str]
) -> Speeds:
    """The same with rates by number of GPUs and progress."""
    from pointsman.speed.tables.goodput import BINS, MOST_GPUS, goodput_table

    assumptions.append(
        "jobs whose noise scale is known tune their batches; their waits for communication are not counted"
    )
    most = min(MOST_GPUS, int(layout.node_gpus.sum()))
    rates = goodput_table(layout, demands, catalogue, tables, max(most, *(gpus for _, gpus, _ in demands)))
    return replace(speeds, goodputs=_rounded(rates), stages=BINS)


def _by_tree(layout: Layout, demands: list[Any], catalogue: Any, law: Tree, assumptions: list[str]) -> Speeds:
    """Speeds by the racks, nodes and GPUs that gangs are on; their iterations are of no other use."""
    from pointsman.speed.tables.tree import rack_rates, usual_rates

    assumptions.append("gangs are as fast as the tree that they span lets them; their waits for it are not counted")
    by_racks = rack_rates(layout, demands, catalogue)
    usual = usual_rates(layout, demands, by_racks, law, law.clamp)
    speeds = Speeds.without_models(usual, len(layout.gpu_types))
    return replace(speeds, subbatches=subbatches_of(layout, demands, catalogue), goodputs=_rounded(by_racks))


def _rounded(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """In whole 1/2^30, so that the last bit of a power does not decide a schedule."""
    return np.ascontiguousarray(np.floor(rates * FINEST + 0.5) / FINEST)


def _unknown_models(names: pl.Series, catalogue: Any) -> list[str]:
    """A sentence on the names that jobs have of models without a profile, the most frequent first, if there are any."""
    named = names.drop_nulls()
    if named.is_empty():
        return []
    counts = named.value_counts().sort("count", "model", descending=[True, False])
    listed = [_not_known(name, catalogue) for name in counts["model"].head(NAMED)]
    more = [f"{len(counts) - NAMED} more names"] if len(counts) > NAMED else []
    return [f"{UNKNOWN_MODELS} ({len(named)} jobs): {', '.join([*listed, *more])}"]


def _not_known(name: str, catalogue: Any) -> str:
    near = nearest(name, catalogue.models)
    return f"{name!r:.60}" + (f" (did you mean {near!r}?)" if near else "")


def _is_known(catalogue: Any, model: str) -> bool:
    try:
        catalogue.model_name(model)
    except UsageError:
        return False
    return True


def _records(numbers: NDArray[np.float64], dtype: np.dtype) -> NDArray[np.void]:
    """Rows of numbers as records of float64 fields."""
    return np.ascontiguousarray(numbers).view(dtype).ravel()
