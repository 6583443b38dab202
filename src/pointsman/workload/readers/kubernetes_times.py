"""When jobs and pods of Kubernetes were submitted, started and ended, and what became of them."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from pointsman.inputs.durations import parse_duration_s
from pointsman.workload.readers.kubernetes_objects import Object, dicts, part, text_of


class Span(NamedTuple):
    """From a start to an end, in seconds since 1970; None: not told, or not yet."""

    start_s: float | None
    end_s: float | None


_STARTED: Final = ("Running", "Admitted", "PodGroupScheduled", "Scheduled")
"""Conditions since which a job has its GPUs, the surest first."""
_QUEUED: Final = "kueue.x-k8s.io/queue-name"
"""A job with it makes no pods before it is admitted."""
_ENDED: Final = {
    "Complete": "COMPLETED", "Completed": "COMPLETED", "Succeeded": "COMPLETED", "Failed": "FAILED",
    "Finished": "COMPLETED", "Aborted": "CANCELLED", "Terminated": "FAILED",
}  # fmt: skip
"""Conditions and phases with which a job has ended."""
_PHASES: Final = {"Running": "RUNNING", "Pending": "PENDING", "Inqueue": "PENDING", "Suspended": "PENDING"}
_TIMEOUT: Final = ("DeadlineExceeded", "MaximumExecutionTimeExceeded")
_PREEMPTED: Final = ("Evicted", "Preempted", "Preempting", "PreemptionByScheduler", "TerminationByKubelet", "NodeLost")


def seconds(stamp: Any) -> float | None:
    """Seconds since 1970 of a time in RFC 3339; None of all else."""
    try:
        moment = datetime.fromisoformat(text_of(stamp))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def submitted_s(things: list[Object]) -> float | None:
    """The first creation of what makes up a job."""
    return min(
        (at for one in things if (at := seconds(one.metadata.get("creationTimestamp"))) is not None), default=None
    )


def unread_submit(things: list[Object]) -> str | None:
    """A time of creation that cannot be read."""
    stamps = [text_of(one.metadata.get("creationTimestamp")) for one in things]
    return next((stamp for stamp in stamps if stamp and seconds(stamp) is None), None)


def span(thing: Object) -> Span:
    """Returns the span of a job's last run, or of a pod."""
    return _of_pod(thing) if thing.kind == "Pod" else _of_job(thing)


def _of_job(thing: Object) -> Span:
    held = thing.conditions
    admitted = next((at for kind in _STARTED if (at := _since(held.get(kind))) is not None), None)
    own, end = seconds(thing.status.get("startTime")), _end_of_job(thing, held)
    told = (own, admitted) if thing.kind == "Job" else (admitted, own)
    start = next((at for at in (*told, _of_state(thing, end)) if at is not None), None)
    return Span(start, end)


def _of_state(thing: Object, end_s: float | None) -> float | None:
    """When a job of Volcano began to run, which may have no conditions."""
    state = part(thing.status, "state")
    if text_of(state.get("phase")) == "Running":
        return seconds(state.get("lastTransitionTime"))
    try:
        return None if end_s is None else end_s - parse_duration_s(text_of(thing.status.get("runningDuration")))
    except ValueError:
        return None


def is_allocated(thing: Object) -> bool:
    """Whether its start is when its GPUs were allocated, and not when a controller began to make pods."""
    by_state = text_of(part(thing.status, "state").get("phase")) or thing.status.get("runningDuration")
    return bool(by_state) or _QUEUED in thing.labels or any(kind in thing.conditions for kind in _STARTED)


def _end_of_job(thing: Object, held: Mapping[str, dict[str, Any]]) -> float | None:
    status = thing.status
    told = [seconds(status.get(key)) for key in ("completionTime", "endTime")]
    told += [_since(held.get(kind)) for kind in _ENDED]
    state = part(status, "state")
    if text_of(state.get("phase")) in _ENDED:
        told.append(seconds(state.get("lastTransitionTime")))
    return next((at for at in told if at is not None), None)


def _since(condition: Mapping[str, Any] | None) -> float | None:
    return None if condition is None else seconds(condition.get("lastTransitionTime"))


def _of_pod(thing: Object) -> Span:
    """GPUs are a pod's from when it is scheduled until its last container ends."""
    held, status = thing.conditions, thing.status
    began = [seconds(state.get("startedAt")) for state in _states(status)]
    told = [
        _since(held.get("PodScheduled")),
        seconds(status.get("startTime")),
        *sorted(at for at in began if at is not None),
    ]
    start = next((at for at in told if at is not None), None)
    scheduled = text_of(thing.spec.get("nodeName")) or any(at is not None for at in began)
    return Span(
        start if scheduled or text_of(status.get("phase")) in ("Running", "Succeeded") else None, _end_of_pod(thing)
    )


def _end_of_pod(thing: Object) -> float | None:
    status = thing.status
    if text_of(status.get("phase")) not in ("Succeeded", "Failed"):
        return None
    ended = [at for state in _states(status) if (at := seconds(state.get("finishedAt"))) is not None]
    if ended:
        return max(ended)
    changed = [seconds(one.get("lastTransitionTime")) for one in dicts(status.get("conditions"))]
    known = [at for at in (*changed, seconds(thing.metadata.get("deletionTimestamp"))) if at is not None]
    return max(known, default=None)


def _states(status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a pod's containers are, or have been, doing."""
    return [
        found
        for one in dicts(status.get("containerStatuses"))
        for where in ("state", "lastState")
        for key in ("terminated", "running")
        if (found := part(one, where, key))
    ]


def times(thing: Object) -> Iterator[float]:
    """Every time that an object tells: it was so old when the list was made."""
    stamps = [
        thing.metadata.get("creationTimestamp"),
        *(thing.status.get(key) for key in ("startTime", "completionTime", "endTime")),
    ]
    stamps += [one.get("lastTransitionTime") for one in dicts(thing.status.get("conditions"))]
    stamps += [one.get("lastProbeTime") for one in dicts(thing.status.get("conditions"))]
    stamps += [state.get(key) for state in _states(thing.status) for key in ("startedAt", "finishedAt")]
    stamps += [one.get("time") for one in dicts(thing.metadata.get("managedFields"))]
    return (at for stamp in stamps if (at := seconds(stamp)) is not None)


def word(thing: Object) -> str | None:
    """What became of it, in Slurm's words."""
    held, status = thing.conditions, thing.status
    phase = (
        text_of(status.get("phase"))
        or text_of(part(status, "state").get("phase"))
        or text_of(status.get("jobStatus")).title()
    )
    why = [text_of(status.get("reason")), *(text_of(one.get("reason")) for one in held.values())]
    ended = next((_ENDED[kind] for kind in (*held, phase) if kind in _ENDED), None)
    finished = held.get("Finished", {})
    if (
        ended == "COMPLETED"
        and "fail" in f"{text_of(finished.get('reason'))} {text_of(finished.get('message'))}".casefold()
    ):
        ended = "FAILED"
    if ended == "FAILED":
        return next(
            (said for said, reasons in (("TIMEOUT", _TIMEOUT), ("PREEMPTED", _PREEMPTED)) if {*why} & {*reasons}),
            "FAILED",
        )
    return ended or _status_of_unended(thing, held, phase)


def _status_of_unended(thing: Object, held: Mapping[str, Any], phase: str) -> str | None:
    """Returns the status of a job without a condition that says how it ended."""
    if seconds(thing.status.get("completionTime")) is not None:
        return "COMPLETED"
    if held.keys() & {"Running", "Restarting", "Admitted"}:
        return "RUNNING"
    if thing.kind == "Job" and not phase:
        return (
            "RUNNING" if seconds(thing.status.get("startTime")) is not None and "Suspended" not in held else "PENDING"
        )
    return "PENDING" if thing.kind == "Workload" or "Created" in held else _PHASES.get(phase)


def evictions(thing: Object) -> bool:
    """Whether it ran before, and was evicted."""
    return "Evicted" in thing.conditions or bool(dicts(part(thing.status, "schedulingStats").get("evictions")))
