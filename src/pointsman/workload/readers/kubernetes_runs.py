"""How long a job of Kubernetes ran: by the objects that tell it, and by its pods."""

import math
from typing import NamedTuple

from pointsman.workload.readers.kubernetes_gpus import Wanted
from pointsman.workload.readers.kubernetes_kinds import Rank, rank
from pointsman.workload.readers.kubernetes_objects import Object
from pointsman.workload.readers.kubernetes_times import Span, is_allocated, span, word


class Runs(NamedTuple):
    """The runs of a job, put together."""

    start_s: float | None = None
    end_s: float | None = None
    length_s: float | None = None
    """At the GPUs of the job, so that its GPU-hours are those of all its runs."""
    status: str | None = None
    running: bool = False
    several: bool = False
    """It ran before its last run."""
    by_controller: bool = False
    """Its start is when a controller began to make pods, which may then have waited for nodes."""


class _Taken(NamedTuple):
    """GPUs that a pod had."""

    start_s: float
    end_s: float
    gpus: float


def runs_of(things: list[Object], with_gpus: list[tuple[Object, Wanted]], gpus: float, many: int, now_s: float) -> Runs:
    """The runs of a job.

    Args:
        things: all its objects.
        with_gpus: its pods that ask for GPUs.
        gpus: of the job; of one on a share of a GPU, that share.
        many: pods that run at once; 0: only pods tell it.
        now_s: until when a job that runs has run.
    """
    gangs = [] if with_gpus else [one for one in things if one.kind == "PodGroup"]
    telling = [one for one in things if one.kind not in ("Pod", "PodGroup")] or gangs
    status = _word(things, [pod for pod, _ in with_gpus])
    running = status == "RUNNING"
    pods = [
        _Taken(at.start_s, end_s, wants.gpus)
        for pod, wants in with_gpus
        if (at := span(pod)).start_s is not None and (end_s := now_s if at.end_s is None else at.end_s) is not None
    ]
    told = _last_run([span(one) for one in telling], now_s if running else None)
    if told is None:
        return _of_pods(pods, gpus, status, running)
    start_s, end_s = told
    own = [pod for pod in pods if pod.end_s > start_s]
    before = [pod for pod in pods if pod.end_s <= start_s]
    by_pods = len(own) >= max(many, 1)
    began_s = min(pod.start_s for pod in own) if by_pods else start_s
    began_s = began_s if end_s is None or began_s <= end_s else start_s
    earlier_s = _gpu_s(before) / gpus if gpus else 0.0
    gaps_s = _gaps_s(own) if by_pods else 0.0
    return Runs(
        start_s=min([began_s, *(pod.start_s for pod in before)]),
        end_s=None if running else end_s,
        length_s=None if end_s is None else end_s - began_s - gaps_s + earlier_s,
        status=status,
        running=running,
        several=bool(before) or gaps_s > 0,
        by_controller=not (by_pods or any(is_allocated(one) for one in telling)),
    )


def _gaps_s(pods: list[_Taken]) -> float:
    """Seconds between the first start and the last end in which none of these pods ran."""
    gaps_s, until_s = 0.0, math.inf
    for pod in sorted(pods):
        gaps_s += max(0.0, pod.start_s - until_s)
        until_s = pod.end_s if until_s == math.inf else max(until_s, pod.end_s)
    return gaps_s


def _last_run(spans: list[Span], now_s: float | None) -> tuple[float, float | None] | None:
    """The last run, as a queue or a controller tells it."""
    starts = [at.start_s for at in spans if at.start_s is not None]
    ends = [at.end_s for at in spans if at.end_s is not None]
    return (min(starts), now_s if now_s is not None else max(ends, default=None)) if starts else None


def _of_pods(pods: list[_Taken], gpus: float, status: str | None, running: bool) -> Runs:
    if not pods:
        return Runs(status=status)
    start_s, end_s = min(pod.start_s for pod in pods), max(pod.end_s for pod in pods)
    length_s = min(_gpu_s(pods) / gpus, end_s - start_s) if gpus else end_s - start_s
    several = max(pod.start_s for pod in pods) >= min(pod.end_s for pod in pods)
    return Runs(start_s, None if running else end_s, length_s, status, running, several)


def _gpu_s(pods: list[_Taken]) -> float:
    return sum(pod.gpus * (pod.end_s - pod.start_s) for pod in pods)


def _word(things: list[Object], pods: list[Object]) -> str | None:
    """What became of a job: by what tells it best, or by the pods of its last run."""
    for level in (Rank.ADMITTED, Rank.WHOLE, Rank.JOB):
        words = [word(one) for one in things if rank(one) is level]
        if any(words):
            return _worst(words)
    if not pods:
        return _worst([word(one) for one in things])
    last_s = max((at for pod in pods if (at := span(pod).start_s) is not None), default=None)
    ends = [(pod, span(pod).end_s) for pod in pods]
    return _worst([word(pod) for pod, end_s in ends if last_s is None or end_s is None or end_s > last_s])


def _worst(words: list[str | None]) -> str | None:
    order = ("RUNNING", "FAILED", "TIMEOUT", "PREEMPTED", "CANCELLED", "PENDING", "COMPLETED")
    return next((said for said in order if said in words), None)
