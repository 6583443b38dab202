"""What really happened, as a `Result`: the schedule that a log records, beside runs of the same jobs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.cluster.hostlist import nodes_named
from pointsman.engine.run.result import RunData
from pointsman.engine.setup.prepare import milliseconds
from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.types import AS_LOGGED, Locality
from pointsman.workload import Workload
from pointsman.workload.columns import LOGGED
from pointsman.workload.rules.kept_columns import kept_columns

Kind = TypeVar("Kind", bound=RunData)
SAMPLES: Final = 1000
UNKNOWN: Final = "UNKNOWN"
"""State of a job of which the log does not say when it started."""

_UNTOLD = {
    "estimate_s": pl.Float64(), "preemptions": pl.Int64(), "lost_s": pl.Float64(), "comm_s": pl.Float64(),
    "nodes": pl.Int64(), "locality": pl.String(),
}  # fmt: skip
"""What a log does not record, apart from the nodes that some name."""
_LEVELS = {int(level): level.name.lower() for level in Locality}
_PLACES = {"node_list": pl.String(), "nodes": pl.Int64(), "level": pl.Int64()}
_OF_JOBS = (
    "job_id", "user", "queue", "partition", "model", "gpu_type", "gpus", "priority", "submit_s", "duration_s", "row",
)  # fmt: skip
_OF_RUN = (
    "cluster", "gpus", "nodes", "node_names", "node_gpus", "node_gpu_types", "node_racks", "node_pods", "workload",
    "quality", "seed",
)  # fmt: skip
PLACES_UNTOLD: Final = (
    "the schedule is the log's own; what it does not record, such as places and preemptions, is left open"
)
PLACES_TOLD: Final = "schedule and places are the log's own; what it does not record, such as preemptions, is left open"


def as_logged(workload: Workload, run: Kind) -> Kind:
    """The schedule that the log of `workload` records, for the jobs, the cluster and the seed of `run`.

    A job waited from its submission to its first start. It was pending for all of its time in the system that its
    duration does not cover, and at least for that wait. How often it was preempted and what that cost are null: a log
    does not say. Where it ran is known if the log has a `node_list`: `nodes` are then how many it names, and `locality`
    is by the racks and pods of the run's cluster, null where that has no node of such a name.

    Args:
        workload: what was run.
        run: a run of it; times are in its whole milliseconds.

    Raises:
        UsageError: the log says of none of the jobs, or of fewer than half, when it started; or they did not run as the
            log has them: their durations or GPUs were changed.
    """
    jobs = _times(_beside_log(workload, run))
    if jobs["node_list"].null_count() == jobs.height:
        jobs = jobs.drop("node_list")
        return _with_schedule(run, jobs, [PLACES_UNTOLD])
    jobs = _with_places(jobs, run.info)
    return _with_schedule(run, jobs, [PLACES_TOLD, *_said_of_places(jobs)])


def _with_schedule(run: Kind, jobs: pl.DataFrame, assumptions: list[str]) -> Kind:
    return replace(
        run, jobs=jobs, events=None, series=_series(jobs), info=_info(run, assumptions), speeds=None, learnt={}
    )


def with_seed(logged: Kind, seed: int) -> Kind:
    """Gives the schedule another seed, on which it does not depend."""
    return replace(logged, info=logged.info | {"seed": seed})


def check_starts(start_s: pl.Series) -> None:
    """Whether enough of the jobs have a logged start.

    Raises:
        UsageError: none has, or fewer than half.
    """
    known = len(start_s) - start_s.null_count()
    if not known:
        raise UsageError("the log does not say when its jobs started")
    if 2 * known < len(start_s):
        raise UsageError(f"the log says of {known:,} of {len(start_s):,} jobs only when they started")


def _beside_log(workload: Workload, run: RunData) -> pl.DataFrame:
    """The jobs of the run, with the times that the log has of them."""
    told = ("job_id", "start_s", "end_s", "fraction", "node_list")
    log = workload.jobs.select(*told, gpus_l="gpus", duration_l="duration_s")
    billed = ("account",) if "account" in run.jobs.columns else ()
    jobs = run.jobs.select(*_OF_JOBS, *billed, *kept_columns(workload.jobs.columns)).join(
        log, on="job_id", how="left", maintain_order="left"
    )
    check_starts(jobs["start_s"])
    if not (jobs["gpus"] == jobs["gpus_l"]).all():
        raise UsageError("GPUs of jobs were reduced to fit the cluster, so the schedule is not the log's")
    if (jobs["duration_s"] - jobs["duration_l"]).abs().max() > 0.001:  # ty: ignore
        raise UsageError("durations were cut at the time limits, so they are not the log's")
    return jobs.drop("gpus_l", "duration_l")


def _times(jobs: pl.DataFrame) -> pl.DataFrame:
    """The columns of ``jobs.parquet``, in the engine's whole milliseconds since the first submission."""
    origin_s = float(jobs["submit_s"][0])
    ms = _milliseconds(jobs, origin_s)
    times = {name: _seconds(ms[name]).alias(name) for name in ms.columns}
    times |= {name: times[name] + origin_s for name in LOGGED}
    started = times["wait_s"].is_not_null()
    parts = ("fraction",) * (jobs["fraction"].null_count() < jobs.height)
    kept = (name for name in jobs.columns if name not in (*_OF_JOBS, "fraction", "node_list", *LOGGED))
    return jobs.select(
        *_OF_JOBS,
        *kept,
        *parts,
        *times.values(),
        *(pl.lit(None, dtype).alias(name) for name, dtype in _UNTOLD.items()),
        state=pl.when(started).then(pl.lit("COMPLETED")).otherwise(pl.lit(UNKNOWN)),
        node_list=pl.when(started).then("node_list"),
    )


def _milliseconds(jobs: pl.DataFrame, origin_s: float) -> pl.DataFrame:
    """What the log says of each job's times; null where it does not say when it started."""
    submit, run = milliseconds(pl.col("submit_s") - origin_s), milliseconds(pl.col("duration_s"))
    start, end = (milliseconds(pl.col(name) - origin_s) for name in LOGGED)
    known = pl.col("start_s").is_not_null()
    began = pl.max_horizontal(start, submit)
    ended = pl.max_horizontal(pl.coalesce(end, began + run), began)
    shared = ((pl.col("fraction") < 1) & (pl.col("gpus") == 1)).fill_null(False)
    ms = {
        "start_s": began,
        "end_s": ended,
        "wait_s": began - submit,
        "jct_s": ended - submit,
        "pending_s": pl.max_horizontal(ended - submit - run, began - submit),
        "run_s": pl.min_horizontal(run, ended - began),
        "held_gpu_s": pl.when(~shared).then(pl.col("gpus") * run),
    }
    return jobs.select(pl.when(known).then(value).alias(name) for name, value in ms.items())


def _with_places(jobs: pl.DataFrame, info: Mapping[str, Any]) -> pl.DataFrame:
    """The jobs with `nodes` and `locality` by their `node_list`, null where it is null or no hostlist.

    The locality is null, too, where the cluster lacks a node of that name. `info` is that of a run on the cluster.
    """
    texts = jobs["node_list"].drop_nulls().unique(maintain_order=True).to_list()
    racks, pods = (info.get(name) or [0] * int(info["nodes"]) for name in ("node_racks", "node_pods"))
    named = nodes_named(texts, info["node_names"]).items()
    rows = [(text, len(nodes), level_of(nodes, racks, pods)) for text, nodes in named]
    table = pl.DataFrame(rows, _PLACES, orient="row")
    level = pl.when((pl.col("gpus") == 1) & pl.col("level").is_not_null()).then(int(Locality.GPU)).otherwise("level")
    placed = jobs.drop("nodes", "locality").join(table, on="node_list", how="left", maintain_order="left")
    locality = level.replace_strict(_LEVELS, return_dtype=pl.String()).alias("locality")
    return placed.with_columns(locality).select(jobs.columns)


def level_of(nodes: Sequence[int | None], racks: Sequence[int], pods: Sequence[int]) -> int | None:
    """The tightest level that holds these nodes, as `Locality`; None: one of them is not of the cluster."""
    known = [node for node in nodes if node is not None]
    if len(known) < len(nodes):
        return None
    if len(known) == 1:
        return int(Locality.NODE)
    if len({pods[node] for node in known}) > 1:
        return int(Locality.CLUSTER)
    return int(Locality.POD if len({racks[node] for node in known}) > 1 else Locality.RACK)


def _said_of_places(jobs: pl.DataFrame) -> Iterator[str]:
    """What is not known of where jobs ran that started, in sentences; `jobs` is what `_with_places` gives."""
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
            yield said.format(number=counted(len(them), "job"), example=them[0])


def _seconds(ms: pl.Series) -> pl.Series:
    """Divided as `outcome` does: polars multiplies by the reciprocal, which may round otherwise."""
    return pl.Series(ms.to_numpy().astype(np.float64) / 1000.0).fill_nan(None)


def _series(jobs: pl.DataFrame) -> pl.DataFrame:
    """Samples of the cluster; GPUs in use are null where it is not known what some job held."""
    since_s = float(jobs["submit_s"][0])
    known = jobs.filter(pl.col("start_s").is_not_null())
    submit, start, end = (known[name].to_numpy() - since_s for name in ("submit_s", "start_s", "end_s"))
    at = np.linspace(0.0, float(end.max(initial=0.0)), SAMPLES)
    gpus = known["gpus"].to_numpy().astype(np.float64)
    lasted = np.maximum(end - start, 1e-3)
    held = np.minimum(known["held_gpu_s"].to_numpy() / lasted, gpus)
    used = _sum_since(start, held, at) - _sum_since(end, held, at)
    one, whole = np.ones(len(known)), jobs["held_gpu_s"].null_count() == 0
    count = {
        "running": _sum_since(start, one, at) - _sum_since(end, one, at),
        "pending": _sum_since(submit, one, at) - _sum_since(start, one, at),
        "queued_gpus": _sum_since(submit, gpus, at) - _sum_since(start, gpus, at),
    }
    unknown = dict.fromkeys(("largest_free", "whole_free_nodes", "head_gpus"), pl.lit(None, pl.Int64))
    used_gpus = pl.Series("used_gpus", used.round(6) if whole else [None] * SAMPLES, pl.Float64)
    time_ms = pl.Series("time_ms", (1000 * at).round().astype(np.int64))
    counts = [pl.Series(name, values.round().astype(np.int64)) for name, values in count.items()]
    return pl.DataFrame([time_ms, used_gpus, *counts]).with_columns(**unknown)


def _sum_since(since: NDArray[np.float64], what: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of what has begun by each time of `at`."""
    order = np.argsort(since, kind="stable")
    sums = np.concatenate(([0.0], np.cumsum(what[order])))
    return sums[np.searchsorted(since[order], at, side="right")]


def _info(run: RunData, told: list[str]) -> dict[str, Any]:
    own = {"policy": AS_LOGGED, "policy_name": AS_LOGGED, "logged": True, "needs": "none", "knowledge": "recorded"}
    unknown = dict.fromkeys(("engine_s", "decisions", "events", "wall_s"))
    of_run = {name: run.info[name] for name in _OF_RUN if name in run.info}
    return {**own, "params": {}, "assumptions": told, **unknown, **of_run}
