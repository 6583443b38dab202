"""The GPUs that a job of Kubernetes asks for, and the shape of its gang."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from pointsman.workload.readers.kubernetes_gpus import Wanted, one_node_each, total, wanted
from pointsman.workload.readers.kubernetes_groups import roots
from pointsman.workload.readers.kubernetes_kinds import PodSet, Rank, pod_sets, rank
from pointsman.workload.readers.kubernetes_objects import Object, part
from pointsman.workload.readers.kubernetes_times import Span, span
from pointsman.workload.readers.sdk import GpuDemand

_FULL_NODE: Final = 8
"""GPUs from which on a pod has a node to itself (ours)."""


class Asked(NamedTuple):
    """What a job asks for."""

    demand: GpuDemand
    pods: int
    """Pods with GPUs that run at once, by the objects that tell it; 0: only pods tell it."""
    shape: tuple[int | None, int | None]
    """Nodes, and GPUs of each."""
    claims: bool
    """It asks by resource claims."""


def asked_of(
    things: list[Object], with_gpus: list[tuple[Object, Wanted]], now_s: float, types: Mapping[str, str]
) -> Asked:
    """By the objects that tell a job's pods best, or else by its pods, or by their group.

    Args:
        things: all objects of the job.
        with_gpus: its pods that ask for GPUs.
        now_s: when the list was made, or before.
        types: GPU types of nodes, by name.
    """
    told = _telling_pod_sets(things)
    sets = [(one, wanted(one.spec, one.labels, types)) for one in told or _at_once(with_gpus, now_s)]
    gpu_type = next((entry.gpu_type for _, wants in with_gpus for entry in wants.entries if entry.gpu_type), "")
    alike = [(one.count, wants) for one, wants in sets] or _of_group(things)
    claims = any(wants.claims for _, wants in sets) or any(part(one.spec).get("resourceClaims") for one in things)
    many = sum(one.count for one, wants in sets if wants.entries) if told else 0
    return Asked(total(alike, gpu_type), many, _shape(sets), claims)


def _telling_pod_sets(things: list[Object]) -> list[PodSet]:
    ranked = [(rank(one), one) for one in things]
    for level in (Rank.ADMITTED, Rank.WHOLE, Rank.JOB):
        telling = roots([one for of, one in ranked if of is level])
        if found := [pods for one in telling for pods in pod_sets(one)]:
            return found
    return []


def _at_once(with_gpus: list[tuple[Object, Wanted]], now_s: float) -> list[PodSet]:
    """Pods of the time at which most GPUs were taken: those that replace others are not counted beside them."""
    spans = [span(pod) for pod, _ in with_gpus]
    starts = sorted({at.start_s for at in spans if at.start_s is not None})
    there = [
        [one for at, one in zip(spans, with_gpus, strict=True) if _covers(at, time_s, now_s)] for time_s in starts
    ] or [with_gpus]
    most = max(there, key=lambda some: sum(wants.gpus for _, wants in some))
    return [PodSet(1, pod.spec, pod.labels) for pod, _ in most]


def _covers(at: Span, time_s: float, now_s: float) -> bool:
    end_s = now_s if at.end_s is None else at.end_s
    return at.start_s is not None and (at.start_s <= time_s < end_s or at.start_s == time_s)


def _of_group(things: list[Object]) -> list[tuple[int, Wanted]]:
    """A PodGroup without its pods tells the least resources of all of them."""
    least = next((found for one in things if (found := part(one.spec, "minResources"))), {})
    bare = {name.removeprefix("requests.").removeprefix("limits."): count for name, count in least.items()}
    return [(1, wanted({"containers": [{"resources": {"limits": bare}}]}, {}, {}))]


def _shape(sets: list[tuple[PodSet, Wanted]]) -> tuple[int | None, int | None]:
    """Returns nodes and GPUs on each, of pods with a node each: a single one, and those that fill a node or refuse to
    share it.
    """
    with_gpus = [(one, wants) for one, wants in sets if wants.entries]
    counts = {wants.gpus for _, wants in with_gpus}
    many, each = sum(one.count for one, _ in with_gpus), max(counts, default=0.0)
    alone = many == 1 or each >= _FULL_NODE or all(one_node_each(one.spec) for one, _ in with_gpus)
    told = len(counts) == 1 and each == int(each) and alone
    return (many, int(each)) if told else (None, None)
