"""The predictor of ``docs/reference/semantics.md`` §6 outside the engine, with any keys of jobs."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.estimates.history import ENOUGH, FIRST_MEAN, HIGHEST, LEAST_ENDS, LEAST_S, PENALTY, PERIOD_MS
from pointsman.engine.estimates.keys import CLASSES

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Key:
    """What jobs are alike in, and how the mean of such jobs is counted."""

    columns: tuple[str, ...]
    decay: float
    parent: int | None
    """The key whose mean stands in for jobs that have not been seen, with a weight of so many jobs."""
    weight: float


SHIPPED: Final = (
    Key((), 0.9995, None, 2.0),
    Key(("size",), 0.999, 0, 2.0),
    Key(("queue", "size"), 0.99, 1, 2.0),
    Key(("queue", "gpus"), 0.7, 2, 2.0),
    Key(("user", "size"), 0.95, 2, 2.0),
    Key(("user", "gpus"), 0.5, 4, 0.5),
)
SIZE_MEAN, USER, USER_GPUS = 1, 4, 5  # positions there


def log_work(jobs: pl.DataFrame) -> Floats:
    """In ln s, of at least `LEAST_S`."""
    return np.log(np.maximum(jobs["duration_s"].to_numpy(), LEAST_S))


def numbers(jobs: pl.DataFrame, keys: tuple[Key, ...]) -> list[list[int]]:
    """By key, what each job is numbered there."""
    size = sum(((pl.col("gpus") >= least).cast(pl.Int64) for least in CLASSES), start=pl.lit(0))
    known = jobs.with_columns(pl.col("queue", "user", "model").fill_null(""), size=size, all=pl.lit(0))
    return [
        (known.select(pl.struct(key.columns or ("all",)).rank("dense")).to_series().cast(pl.Int64) - 1).to_list()
        for key in keys
    ]


def features(jobs: pl.DataFrame, events: list[tuple[int, bool]], keys: tuple[Key, ...]) -> Floats:
    """(jobs, 1 + keys + 1): 1, the mean of each key as the job was submitted, and the last of `SHIPPED` once more,
    by how well its user is known. `events`: rows, and whether they end, in order.
    """
    of, work = numbers(jobs, keys), log_work(jobs).tolist()
    count, total = ([[0.0] * (max(number) + 1) for number in of] for _ in range(2))
    found = np.ones((jobs.height, len(keys) + 2))
    for row, ends in events:
        means: list[float] = []
        for k, key in enumerate(keys):
            i = of[k][row]
            if ends:
                count[k][i] = count[k][i] * key.decay + 1.0
                total[k][i] = total[k][i] * key.decay + work[row]
            else:
                parent = FIRST_MEAN if key.parent is None else means[key.parent]
                means.append((total[k][i] + key.weight * parent) / (count[k][i] + key.weight))
        if not ends:
            found[row, 1:-1] = means
            found[row, -1] = means[USER_GPUS] * min(1.0, count[USER][of[USER][row]] / ENOUGH)
    return found


def estimates_s(jobs: pl.DataFrame, end_s: Floats, keys: tuple[Key, ...]) -> Floats:
    """What is predicted of each job as it is submitted, if jobs end at `end_s`. With a key of time limits, their
    logarithm is a feature, too.
    """
    now_ms = np.rint(1000 * (jobs["submit_s"].to_numpy() - jobs["submit_s"][0])).astype(np.int64)
    end_ms = np.rint(1000 * (end_s - jobs["submit_s"][0])).astype(np.int64)
    rows = np.tile(np.arange(jobs.height), 2)
    ends = np.repeat([True, False], jobs.height)
    order = np.lexsort((rows, ~ends, np.concatenate([end_ms, now_ms])))  # at one instant, ends come first
    known = features(jobs, list(zip(rows[order].tolist(), ends[order].tolist(), strict=True)), keys)
    if any("time_limit_s" in key.columns for key in keys):
        known = np.column_stack([known, np.log(jobs["time_limit_s"].to_numpy())])
    logs = _predicted(known, log_work(jobs), now_ms, end_ms)
    return np.exp(logs.clip(0.0, HIGHEST)).round(3).clip(0.001)


def _predicted(known: Floats, work: Floats, now_ms: NDArray[np.int64], end_ms: NDArray[np.int64]) -> Floats:
    """Weights are fitted once a period, as the first job is submitted in it that finds enough jobs ended."""
    towards = np.zeros(known.shape[1])
    towards[1 + SIZE_MEAN] = 1.0
    found, ends_ms = np.empty(len(work)), np.sort(end_ms)
    enough = (now_ms >= PERIOD_MS) & (np.searchsorted(ends_ms, now_ms, side="right") >= LEAST_ENDS)
    fits = np.unique(np.where(enough, now_ms // PERIOD_MS, 0), return_index=True)[1]  # the rows that see one, and row 0
    for first, beyond in zip(fits, [*fits[1:], len(work)], strict=True):
        ended = (end_ms <= now_ms[first]) & enough[first]
        square = known[ended].T @ known[ended] + PENALTY * np.eye(known.shape[1])
        weights = np.linalg.solve(square, known[ended].T @ work[ended] + PENALTY * towards)
        found[first:beyond] = known[first:beyond] @ weights
    return found
