"""The models that jobs name, and what profiles know of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.congestion import congested, describe_congestion
from pointsman.cluster.layout import Layout
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import nearest
from pointsman.inputs.messages import counted
from pointsman.types import Contention

if TYPE_CHECKING:
    from pointsman.speed.profiles.catalogue import Catalogue
    from pointsman.speed.tables.rates import Demand, Tables

UNKNOWN_MODELS = "models without a profile are named"
"""How the assumption begins that names them."""
NAMED = 3
"""Names told in a sentence."""


@dataclass
class NamedModels:
    """The distinct demands of jobs, by which their speeds differ, and where they run."""

    layout: Layout
    """With the network on which durations were recorded."""
    congested: Layout
    """With the network on which jobs run."""
    contention: Contention
    profiles: Sequence[str | Path]
    """Files of model profiles, which go before the shipped ones."""
    demands: "list[Demand]"
    """None if no job names a model."""
    rows: NDArray[np.int64] | int
    """(jobs,) the first row of each job in tables of `demands` times GPU types."""
    assumptions: list[str]
    """What had to be assumed, which grows as tables are made."""

    @property
    def nameless(self) -> bool:
        """Whether no job names a model."""
        return not self.demands

    @cached_property
    def catalogue(self) -> "Catalogue":
        """The profiles of models."""
        from pointsman.speed.profiles.catalogue import load_catalogue

        return load_catalogue(*self.profiles)

    @cached_property
    def tables(self) -> "Tables":
        """The speeds of the demands at each locality."""
        from pointsman.speed.tables.rates import tabulate

        tables = tabulate(self.congested, self.demands, catalogue=self.catalogue, recorded_on=self.layout)
        self.assumptions.extend(tables.assumptions)
        return tables


def named_models(
    jobs: pl.DataFrame,
    layout: Layout,
    profiles: Sequence[str | Path],
    congestion: Mapping[str, float],
    contention: Contention,
    unknown_models: str,
) -> NamedModels:
    """The models of these jobs, whose column `per_node` has the GPUs on each node of their shapes, or 0.

    `congestion` divides the bandwidth of levels, but durations were recorded without it; `unknown_models` says what
    jobs of no known model do.

    Raises:
        UsageError, InputError: a file of `profiles` is wrong.
    """
    nameless = jobs["model"].null_count() == len(jobs)
    slow = congested(layout, congestion)
    assumptions = describe_congestion(layout, congestion, models=not nameless)
    if nameless:
        assumptions += [f"the profiles of {file} are of no use: no job names a model" for file in profiles]
        if contention != Contention.NONE:
            assumptions.append("no job names a model, so none sends over the network and none shares it")
        return NamedModels(layout, slow, contention, profiles, [], 0, assumptions)
    from pointsman.speed.tables.rates import Demand

    named = NamedModels(layout, slow, contention, profiles, [], 0, assumptions)
    names = jobs["model"].drop_nulls().unique(maintain_order=True)
    known = [name for name in names if _is_known(named.catalogue, name)]
    demands = jobs.select(
        model=pl.when(pl.col("model").is_in(known)).then(pl.col("model")),
        gpus="gpus",
        batch=(pl.col("batch_size") // pl.col("gpus")).clip(lower_bound=1),
        per_node="per_node",
    )
    unknown = demands["model"].null_count()
    if unknown:
        assumptions.append(f"{counted(unknown, 'job')} without a known model {unknown_models}")
    assumptions.extend(_unknown_models(jobs["model"].filter(~jobs["model"].is_in(known)), named.catalogue))
    distinct = demands.unique(maintain_order=True).with_row_index("profile")
    profile = demands.join(distinct, on=demands.columns, how="left", nulls_equal=True, maintain_order="left")
    named.demands = [Demand(*row) for row in distinct.select(demands.columns).rows()]
    named.rows = profile["profile"].cast(pl.Int64).to_numpy() * len(layout.gpu_types)
    return named


def _unknown_models(names: pl.Series, catalogue: "Catalogue") -> list[str]:
    """A sentence on the names that jobs have of models without a profile, the most frequent first, if there are any."""
    named = names.drop_nulls()
    if named.is_empty():
        return []
    counts = named.value_counts().sort("count", "model", descending=[True, False])
    listed = [_not_known(name, catalogue) for name in counts["model"].head(NAMED)]
    more = [f"{len(counts) - NAMED} more names"] if len(counts) > NAMED else []
    return [f"{UNKNOWN_MODELS} ({counted(len(named), 'job')}): {', '.join([*listed, *more])}"]


def _not_known(name: str, catalogue: "Catalogue") -> str:
    near = nearest(name, catalogue.models)
    return f"{name!r:.60}" + (f" (did you mean {near!r}?)" if near else "")


def _is_known(catalogue: "Catalogue", model: str) -> bool:
    try:
        catalogue.model_name(model)
    except UsageError:
        return False
    return True
