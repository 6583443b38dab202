"""The kinds of objects that are jobs or parts of jobs, and the pods that each asks for."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from pointsman.workload.readers.kubernetes_objects import Object, count_of, dicts, part, text_of

Spec = dict[str, Any]


class Rank(IntEnum):
    """Which object of a job tells its pods: the highest."""

    NONE = 0
    """Part of a job that does not tell them."""
    GROUP = 1
    """How many pods are to start at once."""
    POD = 2
    JOB = 3
    WHOLE = 4
    """Made of several kinds of pods, or of jobs."""
    ADMITTED = 5
    """As a queue admitted them."""


class PodSet(NamedTuple):
    """Pods that are alike."""

    count: int
    spec: Spec
    labels: Mapping[str, str]


_OF_REPLICAS: Final = "ReplicaSpecs"
"""How the field of Kubeflow's jobs ends that holds their pods by role."""
_VOLCANO: Final = "batch.volcano.sh"
KUEUE: Final = "kueue.x-k8s.io"


def rank(thing: Object) -> Rank | None:
    """None: it is no part of a job."""
    kind, group = thing.kind, thing.group
    if kind == "Pod":
        return Rank.POD
    if kind == "Job":
        return Rank.WHOLE if group == _VOLCANO else Rank.JOB
    if kind == "Workload" and group in (KUEUE, ""):
        return Rank.ADMITTED
    if kind in ("JobSet", "RayJob", "RayCluster") or any(key.endswith(_OF_REPLICAS) for key in thing.spec):
        return Rank.WHOLE
    if kind == "PodGroup":
        return Rank.GROUP
    return Rank.NONE if kind in ("TrainJob", "AppWrapper", "Workload") else None


def pod_sets(thing: Object) -> list[PodSet]:
    """The pods that an object asks for."""
    spec = thing.spec
    if thing.kind == "Pod":
        return [PodSet(1, spec, thing.labels)]
    if thing.kind == "JobSet":
        return [
            pods._replace(count=pods.count * count_of(jobs.get("replicas"), 1))
            for jobs in dicts(spec.get("replicatedJobs"))
            for pods in _of_job(part(jobs, "template", "spec"))
        ]
    if thing.kind == "Job":
        return _of_job(spec) if thing.group != _VOLCANO else _templates(dicts(spec.get("tasks")))
    if thing.kind == "Workload":
        return _of_workload(thing)
    if thing.kind in ("RayJob", "RayCluster"):
        cluster = part(spec, "rayClusterSpec") or spec
        return [*_templates([part(cluster, "headGroupSpec")]), *_templates(dicts(cluster.get("workerGroupSpecs")))]
    roles = [
        role for key, held in spec.items() if key.endswith(_OF_REPLICAS) for role in part({"of": held}, "of").values()
    ]
    return _templates(dicts(roles))


def _of_job(spec: Mapping[str, Any]) -> list[PodSet]:
    """As many pods as run at once."""
    parallel = count_of(spec.get("parallelism"), 1)
    completions = count_of(spec.get("completions"), parallel)
    return _templates([{"replicas": str(min(parallel, completions) or parallel), "template": spec.get("template")}])


def _of_workload(thing: Object) -> list[PodSet]:
    """The pods that were admitted, or else those asked for; the flavor of a resource may name a GPU type."""
    admitted = {
        text_of(one.get("name")): one for one in dicts(part(thing.status, "admission").get("podSetAssignments"))
    }
    found = []
    for asked in dicts(thing.spec.get("podSets")):
        given = admitted.get(text_of(asked.get("name")), {})
        (pods,) = _templates([{"template": asked.get("template")}])
        flavors = {
            f"{resource}-flavor": text_of(flavor)
            for resource, flavor in part(given, "flavors").items()
            if "/" in resource
        }
        selector = {**flavors, **part(pods.spec, "nodeSelector")}
        count = count_of(given.get("count"), count_of(asked.get("count"), 1))
        found.append(pods._replace(count=count, spec={**pods.spec, "nodeSelector": selector}))
    return found


def _templates(roles: list[dict[str, Any]]) -> list[PodSet]:
    return [
        PodSet(
            count_of(role.get("replicas"), 1),
            part(role, "template", "spec"),
            {
                key: text_of(value)
                for where in ("annotations", "labels")
                for key, value in part(role, "template", "metadata", where).items()
            },
        )
        for role in roles
    ]
