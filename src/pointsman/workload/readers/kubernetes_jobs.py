"""One job of Kubernetes from the objects that make it up."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from pointsman.workload.readers.kubernetes_demand import Asked, asked_of
from pointsman.workload.readers.kubernetes_gpus import wanted
from pointsman.workload.readers.kubernetes_groups import roots, unlisted_owner
from pointsman.workload.readers.kubernetes_kinds import Rank, pod_sets, rank
from pointsman.workload.readers.kubernetes_objects import Object, count_of, part, text_of
from pointsman.workload.readers.kubernetes_runs import Runs, runs_of
from pointsman.workload.readers.kubernetes_times import evictions, submitted_s, unread_submit
from pointsman.workload.readers.sdk import NO_SHARE

NEVER: Final = "never started"
AGAIN: Final = "evicted, and waits to start again: its runs are not in the list"
CLAIMS: Final = "asks for devices by resource claims, which are not read"
_QUEUES: Final = (
    "kueue.x-k8s.io/queue-name", "scheduling.volcano.sh/queue-name", "volcano.sh/queue-name", "kai.scheduler/queue",
    "runai/queue", "yunikorn.apache.org/queue",
)  # fmt: skip
_USERS: Final = ("user", "username", "owner", "hub.jupyter.org/username", "runai/user", "kubeflow.org/user")
_LIMITS: Final = ("activeDeadlineSeconds", "maximumExecutionTimeSeconds")
_NAMED_BY: Final = {Rank.WHOLE: 0, Rank.NONE: 1, Rank.JOB: 2, Rank.ADMITTED: 3, Rank.GROUP: 4, Rank.POD: 5}
"""Which object a job is called by."""


class Facts(NamedTuple):
    """What other objects of the list tell."""

    node_types: Mapping[str, str]
    priorities: Mapping[str, int]
    now_s: float
    """The latest time in the list, which was made then or later."""


class Job(NamedTuple):
    """A row of the job table, and what was assumed of it."""

    job_id: str
    kind: str
    user: str | None
    queue: str | None
    account: str | None
    gpu_type: str | None
    nodes_requested: int | None
    gpus_per_node: int | None
    fraction: float | None
    time_limit_s: float | None
    priority: int | None
    status: str | None
    submit_s: float | None
    gpus: float | None
    duration_s: float | None
    start_s: float | None
    end_s: float | None
    node_list: str | None
    dropped: str | None
    line: int
    unread_submit: str | None
    no_share: str | None
    no_share_h: float
    running: bool
    evicted: bool
    several: bool
    by_controller: bool


def job_of(things: list[Object], facts: Facts) -> Job:
    """The job that these objects are."""
    owning = roots(things)
    first = min(owning or things, key=lambda one: _NAMED_BY[rank(one) or Rank.NONE])
    kind, name = unlisted_owner(owning, first) or (first.kind, first.name)
    pods = [(one, wanted(one.spec, one.labels, facts.node_types)) for one in things if one.kind == "Pod"]
    with_gpus = [(pod, wants) for pod, wants in pods if wants.entries]
    asked = asked_of(things, with_gpus, facts.now_s, facts.node_types)
    held = (asked.demand.gpus or 0.0) * (asked.demand.fraction or 1.0)
    runs = runs_of(things, with_gpus, held, asked.pods, facts.now_s)
    labels = {key: value for one in reversed(things) for key, value in one.labels.items()}
    queue = next((labels[name] for name in _QUEUES if labels.get(name)), "") or _first_text(
        things, "queueName", "queue"
    )
    nodes = sorted({node for pod, _ in with_gpus if (node := text_of(pod.spec.get("nodeName")))})
    return Job(
        job_id="/".join(word for word in (first.namespace, name) if word),
        kind=kind,
        user=next((labels[name] for name in _USERS if labels.get(name)), None),
        queue=queue or first.namespace or None,
        account=first.namespace or None,
        gpu_type=asked.demand.gpu_type,
        nodes_requested=asked.shape[0],
        gpus_per_node=asked.shape[1],
        fraction=asked.demand.fraction,
        time_limit_s=_limit_s(things),
        priority=_priority(things, facts),
        status=runs.status,
        submit_s=submitted_s(things),
        gpus=asked.demand.gpus,
        duration_s=runs.length_s,
        start_s=runs.start_s,
        end_s=runs.end_s,
        node_list=",".join(nodes) or None,
        dropped=_why_dropped(asked, runs, things),
        line=first.line,
        unread_submit=unread_submit(things),
        no_share=asked.demand.no_share,
        no_share_h=(asked.demand.no_share_gpus or 0.0) * (runs.length_s or 0.0) / 3600,
        running=runs.running,
        evicted=any(evictions(one) for one in things) and not runs.several,
        several=runs.several,
        by_controller=runs.by_controller,
    )


def _why_dropped(asked: Asked, runs: Runs, things: list[Object]) -> str | None:
    if not asked.demand.gpus and asked.demand.no_share is None:
        return CLAIMS if asked.claims else None
    if runs.start_s is None:
        return AGAIN if any(evictions(one) for one in things) else NEVER
    return NO_SHARE if asked.demand.no_share is not None else None


def _first_text(things: list[Object], *keys: str) -> str:
    return next((said for one in things for key in keys if (said := text_of(one.spec.get(key)))), "")


def _limit_s(things: list[Object]) -> float | None:
    holders = [holder for one in things for holder in (one.spec, part(one.spec, "runPolicy"))]
    told = (count_of(holder.get(key), 0) for key in _LIMITS for holder in holders)
    return next((float(limit) for limit in told if limit), None)


def _priority(things: list[Object], facts: Facts) -> int | None:
    """The number that admission gave, or that of the class in the same list."""
    told = (_whole(text_of(one.spec.get("priority"))) for one in things)
    number = next((value for value in told if value is not None), None)
    specs = [spec for one in things for spec in (one.spec, *(pods.spec for pods in pod_sets(one)))]
    names = (text_of(spec.get("priorityClassName")) for spec in specs)
    return (
        number
        if number is not None
        else next((facts.priorities[name] for name in names if name in facts.priorities), None)
    )


def _whole(value: str) -> int | None:
    return int(value) if value.removeprefix("-").isdecimal() and len(value) < 12 else None
