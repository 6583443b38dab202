"""A first cluster file for a job log: what the log says of the cluster that it is from, and what had to be assumed."""

from collections.abc import Iterable, Iterator
from math import ceil
from typing import Any, Final, NamedTuple

import polars as pl

from pointsman.cluster.cluster import Cluster
from pointsman.cluster.gpu_catalogue import known_gpu
from pointsman.cluster.imports.assemble import Imported
from pointsman.cluster.imports.gpu_types import UNKNOWN_LINKS, UNKNOWN_TYPE
from pointsman.cluster.parts import NAME
from pointsman.inputs.gpu_names import known_name, plain_name
from pointsman.inputs.messages import counted
from pointsman.sums import in_groups, total_of
from pointsman.types import GAP_S

NODE_SIZES: Final = (8, 4, 2, 1)
"""GPUs of a node that are tried, the largest first."""
WHOLE: Final = 0.9
"""Share of the jobs of a node's size or more that ask for whole nodes, if that is the size of nodes (ours)."""
LOAD: Final = 0.8
"""Load that is assumed where the log has no starts (ours; Helios' clusters had 0.73 to 0.84)."""
DEFAULT_TYPE: Final = "v100"
SHORT_GAPS: Final = 0.1
"""Share of its time for which a job may not have run and yet counts as if it had: overheads, short requeues (ours)."""
INSTANT_S: Final = 1.0
"""How long a job surely holds its GPUs after its first start, and before its last end: the resolution of logs."""
_SHARE: Final = pl.when(pl.col("gpus") == 1).then("fraction").fill_null(1.0)
_HELD: Final = pl.col("gpus") * _SHARE
"""GPUs that a job holds; on a slice, its share of one."""

Key = tuple[str | None, str]
"""Partition and GPU type."""


class Shape(NamedTuple):
    """What the gangs of some jobs need of a cluster."""

    per_node: int
    """The most GPUs that one of them has on each node."""
    nodes: int
    """The most nodes of one."""


def suggest(jobs: pl.DataFrame, name: str) -> Imported:
    """A cluster for these jobs, and the assumptions, a sentence each.

    Each partition and GPU type has as many GPUs as its jobs ever held at once, by the starts of the log. Where it has
    none, they have as many as make the load `LOAD`.

    Args:
        jobs: a job table.
        name: what to call the cluster.
    """
    jobs, notes = _name_one_each(jobs)
    sizes = _sizes(jobs)
    types = dict.fromkeys(gpu_type for _, gpu_type in sizes)
    shapes = _shapes(jobs, sizes)
    least = {gpu_type: max(shapes[key].per_node for key in sizes if key[1] == gpu_type) for gpu_type in types}
    nodes = {kind: max(node_size(_of_type(jobs, kind)["gpus"]), each) for kind, each in least.items()}
    counts = {key: max(ceil(gpus / nodes[key[1]]), shapes[key].nodes) for key, gpus in sizes.items()}
    cluster = Cluster.model_validate(_document(counts, nodes, name))
    return Imported(cluster, [*_assumptions(jobs, sizes, nodes, least), *notes])


def _name_one_each(jobs: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The jobs with one type and partition each; a note on those that name several: `a100+h100`, `gpu,debug`."""
    notes = []
    for column in ("gpu_type", "partition"):
        cells = sorted(jobs[column].drop_nulls().unique())
        first = {cell: cell.partition("|")[0] for cell in cells}
        meant = {cell: plain for cell, plain in first.items() if NAME.fullmatch(plain)}
        if column == "gpu_type":  # one spelling of each
            spoken = {
                cell: known_name(plain) for cell, plain in first.items() if cell not in meant and "+" not in plain
            }
            meant |= {cell: name for cell, name in spoken.items() if name}
            spelling = {plain_name(plain): plain for plain in reversed(list(meant.values()))}
            meant = {cell: spelling[plain_name(plain)] for cell, plain in meant.items()}
        jobs = jobs.with_columns(pl.col(column).replace_strict(meant, default=None, return_dtype=pl.String))
        strange = [f"{cell:.40}" for cell in cells if cell not in meant]
        if strange:
            said = ", ".join(strange[:5])
            notes.append(f"Jobs with the {column} {said} count as if they ran anywhere: add what they need.")
    return jobs, notes


def _sizes(jobs: pl.DataFrame) -> dict[Key, int]:
    """GPUs of each partition and type."""
    partitions = sorted(jobs["partition"].drop_nulls().unique())
    if not partitions:
        return _by_type(jobs, None)
    sizes: dict[Key, int] = {}
    for partition in partitions:
        sizes |= _by_type(jobs.filter(pl.col("partition") == partition), partition)
    return _with_more(sizes, _need(jobs), (None, DEFAULT_TYPE))


def _shapes(jobs: pl.DataFrame, sizes: dict[Key, int]) -> dict[Key, Shape]:
    """The widest shape of each partition and type; of jobs that may run in several, the largest of these has it."""
    found = dict.fromkeys(sizes, Shape(0, 0))
    per_node = pl.coalesce("gpus_per_node", pl.col("gpus") // pl.col("nodes_requested"))
    shaped = jobs.with_columns(per_node=per_node).filter(pl.col("per_node").is_not_null())
    kinds = shaped.group_by("partition", "gpu_type").agg(
        per_node=pl.col("per_node").max(), nodes=(pl.col("gpus") // pl.col("per_node")).max()
    )
    for partition, gpu_type, each, many in kinds.rows():
        may_have = [key for key in sizes if partition in (None, key[0]) and gpu_type in (None, key[1])]
        home = max(may_have or sizes, key=lambda key: sizes[key])
        found[home] = Shape(max(found[home].per_node, each), max(found[home].nodes, many))
    return found


def _by_type(jobs: pl.DataFrame, partition: str | None) -> dict[Key, int]:
    types = sorted(jobs["gpu_type"].drop_nulls().unique())
    sizes: dict[Key, int] = {(partition, kind): _need(jobs.filter(pl.col("gpu_type") == kind)) for kind in types}
    return _with_more(sizes, _need(jobs), (partition, DEFAULT_TYPE))


def _with_more(sizes: dict[Key, int], need: int, otherwise: Key) -> dict[Key, int]:
    """Adds the GPUs that are missing from `need` in all: jobs that name no type or partition need them."""
    missing = need - sum(sizes.values())
    if missing <= 0:
        return sizes
    largest = max(sizes, key=lambda key: sizes[key], default=otherwise)
    return sizes | {largest: sizes.get(largest, 0) + missing}


def _need(jobs: pl.DataFrame) -> int:
    """GPUs that these jobs held at once at most; without starts, those that make the load `LOAD`."""
    widest = int(jobs["gpus"].max() or 0)  # ty: ignore
    known = jobs.filter(pl.col("start_s").is_not_null())
    if known.height:
        return max(widest, _most_at_once(known))
    span_s = float(jobs["submit_s"].max() - jobs["submit_s"].min())  # ty: ignore
    gpu_s = total_of(jobs, _HELD * pl.col("duration_s"))
    return max(widest, ceil(round(gpu_s / span_s / LOAD, 6)) if span_s > 0 else widest)


def _most_at_once(jobs: pl.DataFrame) -> int:
    """A log does not say when a job that was requeued had no GPUs: it counts at its first start and last end."""
    begun, ended = pl.col("start_s"), pl.coalesce("end_s", pl.col("start_s") + pl.col("duration_s"))
    all_the_time = jobs.filter(~_has_gaps())
    now_and_then = jobs.filter(_has_gaps())
    changes = pl.concat(
        part.select(at=at, change=change)
        for part, first, last in (
            (all_the_time, begun, ended),
            (now_and_then, begun, begun + INSTANT_S),
            (now_and_then, ended - INSTANT_S, ended),
        )
        for at, change in ((first, _HELD), (last, -_HELD))
    )
    changes = in_groups(changes, ["at"], "change").sort("at").select(pl.col("change").list.sum().cum_sum())
    return ceil(round(float(changes["change"].max() or 0.0), 6))  # ty: ignore


def _has_gaps() -> pl.Expr:
    """Whether a job had no GPUs for a good part of the time from its first start to its last end."""
    lasted_s = pl.col("end_s") - pl.col("start_s")
    return (lasted_s * (1 - SHORT_GAPS) > pl.col("duration_s") + GAP_S).fill_null(False)


def node_size(gpus: pl.Series) -> int:
    """GPUs of a node: the largest of `NODE_SIZES` of which almost all wider jobs ask for multiples."""
    for size in NODE_SIZES:
        wide = gpus.filter(gpus >= size)
        if len(wide) and ((wide % size) == 0).mean() >= WHOLE:  # ty: ignore
            return size
    return 1


def _of_type(jobs: pl.DataFrame, gpu_type: str) -> pl.DataFrame:
    """Jobs of a type; all of them where none names it."""
    own = jobs.filter(pl.col("gpu_type") == gpu_type)
    return own if own.height else jobs


def _document(counts: dict[Key, int], nodes: dict[str, int], name: str) -> dict[str, Any]:
    types = {f"{kind}x{size}": _node_type(kind, size) for kind, size in nodes.items()}
    unknown = {kind: UNKNOWN_TYPE for kind in nodes if known_gpu(kind) is None}
    groups = [
        {"type": f"{kind}x{nodes[kind]}", "count": count} | ({} if partition is None else {"partitions": [partition]})
        for (partition, kind), count in counts.items()
    ]
    spec: dict[str, Any] = {"node_types": types, "nodes": groups} | ({"gpu_types": unknown} if unknown else {})
    about = {"description": "suggested from a job log", "source": "the job log; see the comments on top of the file"}
    return {"metadata": {"name": name, **about}, "spec": spec}


def _node_type(kind: str, size: int) -> dict[str, Any]:
    links = {} if known_gpu(kind) is not None else {"interconnect": UNKNOWN_LINKS}
    return {"gpus": size, "gpu_type": kind, **links}


def _assumptions(
    jobs: pl.DataFrame, sizes: dict[Key, int], nodes: dict[str, int], least: dict[str, int]
) -> Iterator[str]:
    known = jobs.height - jobs["start_s"].null_count()
    if known:
        part = "" if known == jobs.height else f" ({known:,} of {jobs.height:,} jobs have a start)"
        gaps = int(jobs.select(_has_gaps().sum()).item())
        yield (
            f"GPUs: the most that jobs held at once in the log, {_need(jobs):,}{part}. Nodes that were idle or down "
            "all the time are not in it."
        )
        if gaps:
            yield (
                f"{counted(gaps, 'job')} did not hold GPUs all the time: a requeued job counts only at its first start "
                "and last end."
            )
    else:
        yield f"GPUs: the log has no starts, so there are as many as make the load {LOAD:g} (an assumption)."
    slices = int(jobs.select(((pl.col("gpus") == 1) & (pl.col("fraction") < 1)).sum()).item())
    if slices:
        told = counted(slices, "job on a part of a GPU counts", "jobs on a part of a GPU count")
        yield f"Slices: {told} as that part."
    for kind, size in nodes.items():
        yield _about_nodes(_of_type(jobs, kind)["gpus"], kind, size, least[kind])
    if jobs["gpu_type"].null_count() == jobs.height:
        yield f"GPU type: the log names none; {DEFAULT_TYPE} stands in."
    yield from _about_unknown(kind for kind in nodes if known_gpu(kind) is None)
    partitions = {partition for partition, _ in sizes} - {None}
    if len(partitions) > 1:
        yield f"Partitions: each of {len(partitions):,} has nodes of its own; if some share nodes, merge their groups."
    yield "Racks, networks and quotas are not in a log: the defaults of cluster files stand in."


def _about_nodes(gpus: pl.Series, kind: str, size: int, least: int) -> str:
    wide = gpus.filter(gpus >= size)
    whole = 100 * ((wide % size) == 0).sum() / max(len(wide), 1)
    shape = f"a job has {least:,} on each of its nodes; " if least else ""
    return (
        f"Nodes of {counted(size, 'GPU')} ({kind}): {whole:.0f} % of the jobs that ask for as many or more ask for a "
        f"multiple; {shape}the widest asks for {gpus.max():,}."
    )


def _about_unknown(kinds: Iterable[str]) -> Iterator[str]:
    for kind in kinds:
        assumed = f"{UNKNOWN_TYPE['memory']} and {UNKNOWN_LINKS['kind']} of {UNKNOWN_LINKS['bandwidth']} are assumed"
        yield f"GPU type {kind}: not in the catalogue; {assumed}."


def commented(suggested: Imported) -> str:
    """The cluster file, its assumptions in comments on top."""
    lines = ["A starting point, suggested from a job log. Correct what you know better.", *suggested.notes]
    return "".join(f"# {line}\n" for line in lines) + suggested.cluster.to_yaml()
