"""GPUs that several jobs share: which job held which part of them when, and how much of it there was."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.rate_models.contract import BaseModel
from pointsman.engine.rate_models.registry import base_models
from pointsman.engine.run.result import RunData
from pointsman.types import MAX_NODE_GPUS, MAX_SHARING


def model_of_run(info: dict[str, Any]) -> type[BaseModel]:
    """The base model of a run."""
    return base_models()[str(info.get("rate_model") or "rates").partition(":")[0]]


def jobs_per_gpu(info: dict[str, Any]) -> int:
    """How many jobs a GPU may have."""
    limit = info.get("gpu_sharing")
    if limit is None:  # a run of before it was told
        return MAX_SHARING if model_of_run(info).counts_iterations else 1
    return int(limit)


def shares_gpus(result: RunData) -> bool:
    """Whether several jobs may hold one GPU."""
    return jobs_per_gpu(result.info) > 1


def part_asked(result: RunData) -> pl.Expr:
    """What a job asks for of each of its GPUs: less than all of one if it asks for a fraction, and has no more."""
    if "fraction" not in result.jobs.columns:
        return pl.lit(1.0)
    return pl.when(pl.col("gpus") == 1).then("fraction").fill_null(1.0)


def most_gpus_of_work(result: RunData) -> int | None:
    """The most work that can be done at once, as a number of GPUs with one job each; None if it is unknown.

    Jobs of known models may use a GPU together to the full, each of them; a job of an unknown one fills it.
    """
    if model_of_run(result.info).may_exceed_nominal:
        return None
    alone = result.jobs["model"].null_count() == result.jobs.height
    return int(result.info["gpus"]) * (1 if alone else jobs_per_gpu(result.info))


def divide_held(held: pl.DataFrame) -> pl.DataFrame:
    """Holdings (``row, node, gpu_mask, from_s, to_s``) GPU by GPU and stretch by stretch: ``row, node, gpus, beside,
    from_s, to_s``. Of a GPU with n jobs (`beside`) each holds 1/n.
    """
    part, bit = bits_of(held["gpu_mask"])
    gpu = held["node"].to_numpy()[part] * MAX_NODE_GPUS + bit
    span = np.stack([held["from_s"].to_numpy()[part], held["to_s"].to_numpy()[part]])
    (first, last), edges_gpu, edges_s, jobs = _stretches(gpu, span)
    times = last - first
    which = np.repeat(np.arange(len(gpu)), times)
    stretch = np.arange(len(which)) - np.repeat(np.cumsum(times) - times - first, times)
    return pl.DataFrame(
        {
            "row": held["row"].to_numpy()[part[which]],
            "node": edges_gpu[stretch] // MAX_NODE_GPUS,
            "gpus": 1.0 / jobs[stretch],
            "beside": jobs[stretch],
            "from_s": edges_s[stretch],
            "to_s": edges_s[stretch + 1],
        }
    )


def bits_of(masks: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of each mask and the number of each bit that is set in it, in order."""
    octets = np.ascontiguousarray(masks.to_numpy()).view(np.uint8).reshape(-1, 8)
    place, bit = np.nonzero(np.unpackbits(octets, axis=1, bitorder="little"))
    return place, bit


def _stretches(
    gpu: NDArray[np.int64], span_s: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Times at which jobs come to a GPU or leave it: where each holding begins and ends among them (2, n), and of each
    the GPU, the time and how many jobs are on it from then on.
    """
    all_gpus, all_s = np.tile(gpu, 2), span_s.ravel()
    order = np.lexsort([all_s, all_gpus])
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(all_gpus[order]) != 0) | (np.diff(all_s[order]) != 0)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(new) - 1
    first_last = place.reshape(2, -1)
    come, leave = (np.bincount(at, minlength=int(new.sum())) for at in first_last)
    edges = order[new]
    return first_last, all_gpus[edges], all_s[edges], np.cumsum(come - leave)


def interference_of(info: dict[str, Any]) -> str | None:
    """Where it is from how much jobs on one GPU slow each other; None where they do not, or by turns."""
    by_turns = model_of_run(info).counts_iterations
    return None if by_turns or jobs_per_gpu(info) == 1 else str(info.get("interference") or "table")


def allowed(info: dict[str, Any]) -> str:
    """``up to 2 jobs a GPU, slowed by interference table``."""
    limit, interference = jobs_per_gpu(info), interference_of(info)
    if limit == 1:
        return "a GPU has one job"
    return f"up to {limit} jobs a GPU, {f'slowed by interference {interference}' if interference else 'by turns'}"


def unlike_sharing(infos: Sequence[dict[str, Any]]) -> list[str]:
    """What of the sharing of GPUs was not assumed alike: where the slow-down is from, among those that share; the
    limit, unless each has its policy's own, or all have the same.
    """
    sources = {interference_of(info) for info in infos} - {None}
    limits = {jobs_per_gpu(info) for info in infos}
    by_nature = all(info.get("own_gpu_sharing", True) for info in infos)
    unlike = {"interference": len(sources) > 1, "gpu sharing": len(limits) > 1 and not by_nature}
    return [name for name, is_so in unlike.items() if is_so]
