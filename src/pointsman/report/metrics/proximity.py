"""How close to each other the GPUs of gangs were, and what that let them do (``semantics.md`` §12)."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.tree_cost import TreeCost
from pointsman.engine.run.result import RunData
from pointsman.report.metrics.holdings import TAKES


def places(result: RunData) -> pl.DataFrame:
    """One row for each start of a gang, in order: ``row, gpus, nodes, racks, cost, proximity`` (null where there is no
    choice: of one GPU, or all of them).

    Raises:
        ValueError: there is no plan log, or the run was of another rate model.
    """
    if result.events is None or "tree" not in result.info:
        raise ValueError("places are read from the plan log of a run of the rate model 'tree'")
    parts = result.events.filter(pl.col("kind").is_in(TAKES))
    parts = parts.with_columns(rack=np.array(result.info["node_racks"])[parts["node"].to_numpy()])
    gangs = parts.group_by("seq", maintain_order=True).agg(
        pl.col("row").first(), pl.col("gpus").sum(), nodes=pl.col("node").n_unique(), racks=pl.col("rack").n_unique()
    )
    tree = costs(result)
    bounds = {gpus: bounds_of(result, gpus) for gpus in gangs["gpus"].unique()}
    least, most = (gangs["gpus"].replace_strict({n: b[i] for n, b in bounds.items()}) for i in (0, 1))
    cost = tree.rack * pl.col("racks") + tree.node * pl.col("nodes") + tree.gpu * pl.col("gpus")
    near = pl.when(most > least).then(1.0 - (pl.col("cost") - least) / (most - least))
    return gangs.drop("seq").with_columns(cost=cost).with_columns(proximity=near).rechunk()


def costs(result: RunData) -> TreeCost:
    """The weights of the run."""
    return TreeCost(*(result.info["tree"][name] for name in ("rack", "node", "gpu")))


def bounds_of(result: RunData, gpus: int) -> tuple[float, float]:
    """The least and the highest cost of a gang of `gpus` GPUs on the cluster of the run."""
    tree, shape = costs(result), _shape(result)
    return tree.least(*shape, gpus), tree.most(*shape, gpus)


def _shape(result: RunData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """GPUs and rack of each node."""
    return np.array(result.info["node_gpus"]), np.array(result.info["node_racks"])


def least_s(result: RunData) -> pl.Expr:
    """The seconds that a job takes at least: its duration, or what its gang takes of it where that costs least."""
    if "tree" not in result.info:
        return pl.col("duration_s")
    floor, tree, shape = result.info["tree"]["least"], costs(result), _shape(result)
    cost = {gpus: max(floor, tree.least(*shape, gpus)) for gpus in result.jobs["gpus"].unique()}
    return pl.col("duration_s") * pl.col("gpus").replace_strict(cost, return_dtype=pl.Float64)
