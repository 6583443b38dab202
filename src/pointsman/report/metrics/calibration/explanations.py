"""Why a simulation may differ from the schedule that the log records: what the model of the cluster cannot explain."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.engine.setup.demand import NO_PARTITIONS
from pointsman.report.metrics.groups import Run
from pointsman.report.metrics.price import preempts
from pointsman.report.metrics.shared import part_asked
from pointsman.report.units import count, duration, number_of_jobs, percent
from pointsman.sums import mean, total
from pointsman.types import GAP_S, JOB_STEP, NO_GPU

MANY = 0.01
"""Share of the jobs, or of the time, below which a cause is not worth telling."""
SHORT_S = 60.0
"""A wait up to which the scheduler's own latency explains it."""
NEVER_RAN = (NO_GPU, JOB_STEP, "not ", "never ")
"""How reasons begin why rows of a log are left out that held no GPUs."""
DIGITS = 6
"""To which sums of shares are rounded: seven sevenths of a GPU are one."""
FEW = 0.9
"""A cluster whose log never used this share of its GPUs may be too large."""


def explanations(logged: Run, run: Run) -> list[str]:
    """Sentences, each with its numbers.

    Args:
        logged: the log's own schedule.
        run: a simulation of the same jobs.
    """
    jobs = logged.result.jobs.filter(pl.col("start_s").is_not_null())
    info = run.result.info
    held = jobs.with_columns(gpus=pl.col("gpus") * part_asked(logged.result))
    return [
        *_of_gpus(held, logged.gpus, _partitions(info)),
        *_of_order(jobs, run.result.jobs),
        *_of_jobs(logged, info),
        *_of_cluster(logged, info),
        *_of_durations(jobs, run),
    ]


@dataclass(frozen=True)
class _Use:
    """GPUs in use over time: times at which their number changes (s), increasing, and the number from then on."""

    times: NDArray[np.float64]
    used: NDArray[np.float64]

    @classmethod
    def of(cls, jobs: pl.DataFrame) -> "_Use":
        gpus = jobs["gpus"].to_numpy().astype(np.float64)
        at = np.concatenate([jobs["start_s"].to_numpy(), jobs["end_s"].to_numpy()])
        times, which = np.unique(at, return_inverse=True)
        changes = np.zeros(len(times))
        np.add.at(changes, which, np.concatenate([gpus, -gpus]))
        return cls(times, np.cumsum(changes).round(DIGITS))

    def at(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """The number right after each of these times."""
        return np.concatenate(([0.0], self.used))[np.searchsorted(self.times, time_s, side="right")]

    def seconds_with(self, most: float, from_s: NDArray[np.float64], to_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Seconds of each span in which no more GPUs than that are in use."""
        edges = np.concatenate(([min(self.times[0], from_s.min())], self.times))
        lasts = np.diff(edges, append=max(edges[-1], to_s.max()))
        fits = np.concatenate(([0.0], self.used)) <= most
        seconds = np.concatenate(([0.0], np.cumsum(np.where(fits, lasts, 0.0))))
        edges = np.append(edges, edges[-1] + lasts[-1])
        return np.interp(to_s, edges, seconds) - np.interp(from_s, edges, seconds)


def _partitions(info: dict[str, Any]) -> dict[str, int]:
    """GPUs of each partition of the cluster."""
    found: dict[str, int] = {}
    for names, gpus in zip(info.get("node_partitions") or (), info["node_gpus"], strict=False):
        for name in names:
            found[name] = found.get(name, 0) + gpus
    return found


def _of_gpus(jobs: pl.DataFrame, gpus: int, partitions: dict[str, int]) -> Iterator[str]:
    """What the log's use of GPUs says of the size of the cluster, and of waits that it does not explain; `gpus` of jobs
    on slices are their shares.
    """
    most = ceil(_Use.of(jobs).used.max())
    sure = _Use.of(_without_gaps(jobs))
    over = int((sure.at(jobs["start_s"].to_numpy()) > gpus).sum())
    if over:
        used = count(ceil(sure.used.max()))
        yield (
            f"{number_of_jobs(over)} ({percent(over / jobs.height)}) started in the log while this cluster has too few "
            f"free GPUs: up to {used} were in use, and it has {count(gpus)}. It may have been larger, or GPUs were "
            "shared."
        )
    elif most < FEW * gpus:
        yield (
            f"At most {count(most)} of the {count(gpus)} GPUs were ever in use in the log: the cluster may have been "
            "smaller, or jobs of others are missing from the log."
        )
    waiting = jobs.filter(pl.col("wait_s") > SHORT_S)
    idle_s = _waits_beside_idle(waiting, jobs, gpus, partitions)
    waited_s = total(waiting["wait_s"])
    if idle_s.sum() > MANY * waited_s:
        yield (
            f"For {percent(idle_s.sum() / waited_s)} of the time that jobs waited in the log, enough GPUs of this "
            f"cluster were free ({number_of_jobs(int((idle_s > 0).sum()))}): quotas, reservations, failed nodes, "
            "fragmentation, or jobs of others."
        )


def _without_gaps(jobs: pl.DataFrame) -> pl.DataFrame:
    """Jobs that held their GPUs from start to end: not those that were requeued or suspended, of which the log does not
    say when they held none.
    """
    lasted_s = pl.col("end_s") - pl.col("start_s")
    return jobs.filter((lasted_s <= pl.col("duration_s") + GAP_S).fill_null(True))


def _waits_beside_idle(
    waiting: pl.DataFrame, jobs: pl.DataFrame, gpus: int, partitions: dict[str, int]
) -> NDArray[np.float64]:
    """Seconds of each wait in which as many GPUs were free as the job asked for: of its partition, less what jobs of
    that partition held, or of the cluster.
    """
    need, submit, start = (waiting[name].to_numpy() for name in ("gpus", "submit_s", "start_s"))
    found, named = np.zeros(waiting.height), waiting["partition"].fill_null("").to_numpy()
    for name in np.unique(named):
        known = str(name) in partitions
        use = _Use.of(jobs.filter(pl.col("partition") == str(name)) if known else jobs)
        for size in np.unique(need[named == name]):
            of = (named == name) & (need == size)
            found[of] = use.seconds_with(partitions.get(str(name), gpus) - float(size), submit[of], start[of])
    return found


def _of_order(logged: pl.DataFrame, simulated: pl.DataFrame) -> Iterator[str]:
    """Whether more jobs overtook others in the log than in the simulation."""
    in_log, here = _overtaking(logged), _overtaking(simulated)
    if in_log > here + MANY:
        yield (
            f"{percent(in_log)} of the jobs started in the log before one that was submitted earlier to the same "
            f"partition and asked for as many GPUs, in the simulation {percent(here)}: the real scheduler goes by "
            "priorities, shares or quotas, which multifactor and kueue simulate."
        )


def _overtaking(jobs: pl.DataFrame) -> float:
    """Share of the jobs that started well before one that was there first, and that could have had its GPUs."""
    of_a_kind = [pl.col(name).fill_null("") for name in ("partition", "gpu_type")] + [pl.col("gpus")]
    ahead = pl.col("start_s").cum_max().shift(1).over(of_a_kind)
    started = jobs.filter(pl.col("start_s").is_not_null()).sort("submit_s", maintain_order=True)
    return float(started.select((ahead > pl.col("start_s") + SHORT_S).fill_null(False).mean()).item() or 0.0)


def _of_jobs(logged: Run, info: dict[str, Any]) -> Iterator[str]:
    """Jobs that ran beside these, and are not among them."""
    only = (info.get("workload") or {}).get("only")
    if only:
        yield f"Only jobs with {only} are replayed: the others used GPUs of the cluster, too."
    reasons = (info["quality"].get("dropped") or {}).items()
    dropped = {why: n for why, n in reasons if not why.startswith(NEVER_RAN)}
    if dropped:
        told = ", ".join(f"{count(n)} {why}" for why, n in dropped.items())
        yield f"Rows of the log are left out ({told}). Those that ran used GPUs, for which the replayed jobs waited."
    unknown = int((logged.result.jobs["state"] == "UNKNOWN").sum())
    if unknown:
        yield f"The log does not say when {number_of_jobs(unknown)} started."


def _of_cluster(logged: Run, info: dict[str, Any]) -> Iterator[str]:
    """What the cluster has and the jobs do not name, and the other way round."""
    jobs, types = logged.result.jobs, {kind for kind in info.get("node_gpu_types") or () if kind}
    if len(types) > 1 and jobs["gpu_type"].null_count() == jobs.height:
        yield f"The cluster has {len(types)} GPU types, and the log names none: jobs may take any."
    if NO_PARTITIONS in (info.get("assumptions") or ()):
        yield "The log names partitions, and the cluster none: jobs may use any node."
    queues = jobs["queue"].drop_nulls().n_unique()
    if queues > 1:
        yield f"The log names {count(queues)} queues; quotas are simulated if the cluster file or the policy has them."
    if jobs["priority"].n_unique() > 1:
        yield "Jobs have priorities, which the scheduler of the log may have weighed otherwise."


def _of_durations(jobs: pl.DataFrame, run: Run) -> Iterator[str]:
    """Where simulated jobs last longer or shorter than those of the log."""
    info = run.result.info
    costs = info.get("overheads")
    if isinstance(costs, dict) and (costs.get("start_s") or (any(costs.values()) and preempts(run))):
        yield "Overheads are added to durations, which include those of the real cluster (not in a 'live export')."
    if info.get("assign_models") is not None:
        yield "Models were assigned to jobs, so places slow them in the simulation by more or less than in the log."
    interrupted = jobs.filter(pl.col("pending_s") - pl.col("wait_s") > 1.0)
    if interrupted.height > MANY * jobs.height:
        gap_s = mean(interrupted["pending_s"] - interrupted["wait_s"]) or 0.0
        yield (
            f"{number_of_jobs(interrupted.height)} did not run all the time from their first start to their end "
            f"({duration(gap_s)} each on average): failures, preemptions or retries, which are not replayed."
        )
