"""Where the log says that jobs ran: how many nodes, and the tightest level of the cluster that holds them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from pointsman.cluster.hostlist_nodes import nodes_named
from pointsman.types import Locality

_LEVELS = {int(level): level.name.lower() for level in Locality}
_SCHEMA = {"node_list": pl.String(), "nodes": pl.Int64(), "level": pl.Int64()}


def with_places(jobs: pl.DataFrame, info: Mapping[str, Any]) -> pl.DataFrame:
    """The jobs with `nodes` and `locality` by their `node_list`, null where it is null or no hostlist.

    The locality is null, too, where the cluster lacks a node of that name. `info` is that of a run on the cluster.
    """
    texts = jobs["node_list"].drop_nulls().unique(maintain_order=True).to_list()
    racks, pods = (info.get(name) or [0] * int(info["nodes"]) for name in ("node_racks", "node_pods"))
    named = nodes_named(texts, info["node_names"]).items()
    rows = [(text, len(nodes), _level(nodes, racks, pods)) for text, nodes in named]
    table = pl.DataFrame(rows, _SCHEMA, orient="row")
    level = pl.when((pl.col("gpus") == 1) & pl.col("level").is_not_null()).then(int(Locality.GPU)).otherwise("level")
    placed = jobs.drop("nodes", "locality").join(table, on="node_list", how="left", maintain_order="left")
    locality = level.replace_strict(_LEVELS, return_dtype=pl.String()).alias("locality")
    return placed.with_columns(locality).select(jobs.columns)


def _level(nodes: Sequence[int | None], racks: Sequence[int], pods: Sequence[int]) -> int | None:
    """The tightest level that holds these nodes, as `Locality`; None: one of them is not of the cluster."""
    known = [node for node in nodes if node is not None]
    if len(known) < len(nodes):
        return None
    if len(known) == 1:
        return int(Locality.NODE)
    if len({pods[node] for node in known}) > 1:
        return int(Locality.CLUSTER)
    return int(Locality.POD if len({racks[node] for node in known}) > 1 else Locality.RACK)


def said_of_places(jobs: pl.DataFrame) -> Iterator[str]:
    """What is not known of where jobs ran that started, in sentences; `jobs` is what `with_places` gives."""
    started = jobs.filter(pl.col("start_s").is_not_null())
    told, read, known = (pl.col(name).is_not_null() for name in ("node_list", "nodes", "locality"))
    kinds = (
        (~told, "the log does not say where {number} ran"),
        (told & ~read, "node lists of {number} cannot be read, such as {example!r:.60}"),
        (read & ~known, "{number} ran on nodes that this cluster lacks, such as {example!r:.60}: locality unknown"),
    )
    for chosen, said in kinds:
        them = started.filter(chosen)["node_list"]
        if len(them):
            number = "1 job" if len(them) == 1 else f"{len(them):,} jobs"
            yield said.format(number=number, example=them[0])
