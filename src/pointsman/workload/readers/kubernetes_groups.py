"""Which objects belong to one job: by their owners, and by the labels with which operators mark gangs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pointsman.workload.readers.kubernetes_objects import Object, part, text_of

_MANY: Final = (
    "CronJob", "ReplicaSet", "ReplicationController", "Deployment", "StatefulSet", "DaemonSet", "Node",
    "LeaderWorkerSet", "Workflow", "CronWorkflow", "ScheduledWorkflow", "Experiment", "PipelineRun", "Rollout",
    "CloneSet", "Namespace", "ConfigMap", "Service",
)  # fmt: skip
"""Owners of things that are no gang."""
_LABELS: Final = {
    "batch.kubernetes.io/job-name": "Job",
    "job-name": "Job",
    "training.kubeflow.org/job-name": "kubeflow",
    "pytorch-job-name": "kubeflow",
    "tf-job-name": "kubeflow",
    "volcano.sh/job-name": "volcano",
    "scheduling.k8s.io/group-name": "PodGroup",
    "scheduling.volcano.sh/group-name": "PodGroup",
    "pod-group.scheduling.sigs.k8s.io/name": "PodGroup",
    "pod-group.scheduling.sigs.k8s.io": "PodGroup",
    "scheduling.x-k8s.io/pod-group": "PodGroup",
    "pod-group-name": "PodGroup",
    "kueue.x-k8s.io/pod-group-name": "Workload",
    "jobset.sigs.k8s.io/jobset-name": "JobSet",
    "ray.io/cluster": "RayCluster",
    "ray.io/originated-from-cr-name": "RayJob",
}
"""Labels and annotations with the name of a job or a gang, and what that is the name of."""
_UIDS: Final = (
    "kueue.x-k8s.io/job-uid",
    "batch.kubernetes.io/controller-uid",
    "controller-uid",
    "jobset.sigs.k8s.io/jobset-uid",
)
_REPLICA: Final = ("leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index")
"""Labels of a leader and its workers, of which there may be several groups."""
_KUBEFLOW: Final = ("kubeflow.org",)

Key = tuple[str, ...]


def grouped(things: Sequence[Object]) -> list[list[Object]]:
    """Objects by job, in the order of their first ones."""
    parents: dict[Key, Key] = {}
    for thing in things:
        first, *others = _keys(thing)
        for other in others:
            _join(parents, first, other)
    groups: dict[Key, list[Object]] = {}
    for thing in things:
        groups.setdefault(_root(parents, next(_keys(thing))), []).append(thing)
    return list(groups.values())


def _keys(thing: Object) -> Iterator[Key]:
    """An object's own names, and those of what it is part of."""
    space = thing.namespace
    yield (_family(thing.kind, thing.group), space, thing.name)
    if thing.uid:
        yield ("uid", thing.uid)
    yield from _of_owners(thing)
    yield from _of_labels(thing)


def _of_owners(thing: Object) -> Iterator[Key]:
    for owner in thing.owners:
        kind = text_of(owner.get("kind"))
        if kind not in _MANY:
            group = text_of(owner.get("apiVersion")).rpartition("/")[0]
            yield (_family(kind, group), thing.namespace, text_of(owner.get("name")))


def _of_labels(thing: Object) -> Iterator[Key]:
    labels, space = thing.labels, thing.namespace
    for label, family in _LABELS.items():
        if labels.get(label):
            yield (family, space, labels[label])
    yield from (("uid", labels[label]) for label in _UIDS if labels.get(label))
    if all(label in labels for label in _REPLICA):
        yield ("LeaderWorkerSet", space, *(labels[label] for label in _REPLICA))
    gang = text_of(part(thing.spec, "schedulingGroup").get("podGroupName"))
    if gang:
        yield ("PodGroup", space, gang)


def _family(kind: str, group: str) -> str:
    """Kubeflow's kinds share one label, and Volcano's jobs are called as those of Kubernetes are."""
    if group in _KUBEFLOW:
        return "kubeflow"
    return "volcano" if kind == "Job" and group == "batch.volcano.sh" else kind


def _root(parents: dict[Key, Key], key: Key) -> Key:
    path = []
    while key in parents:
        path.append(key)
        key = parents[key]
    parents.update((passed, key) for passed in path)
    return key


def _join(parents: dict[Key, Key], one: Key, other: Key) -> None:
    ends = _root(parents, one), _root(parents, other)
    if ends[0] != ends[1]:
        parents[ends[1]] = ends[0]


def unlisted_owner(owning: Sequence[Object], first: Object) -> tuple[str, str] | None:
    """Kind and name of what owns a job and is not in the list: an owner, or of pods what their labels name, of all.

    Args:
        owning: objects of the job that none in the list owns.
        first: one of them.
    """
    others = [set(_keys(one)) for one in owning]
    told = [*_of_owners(first), *(_of_labels(first) if first.kind == "Pod" else ())]
    shared = (key for key in told if key[0] not in ("uid", "Pod") and all(key in keys for keys in others))
    return next(((kind, "-".join(name)) for kind, _, *name in shared), None)


def roots(things: Iterable[Object]) -> list[Object]:
    """Those that no other one of them owns."""
    things = list(things)
    uids = {thing.uid for thing in things if thing.uid}
    names = {(thing.kind, thing.name) for thing in things}
    return [
        thing
        for thing in things
        if not any(
            text_of(owner.get("uid")) in uids or (text_of(owner.get("kind")), text_of(owner.get("name"))) in names
            for owner in thing.owners
        )
    ]
