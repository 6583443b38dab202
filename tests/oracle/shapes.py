"""Section 3, shapes: so many nodes with so many GPUs on each."""

from collections.abc import Iterator, Sequence

from .model import Gpu, Job, Node, Place

Free = dict[int, list[Gpu]]
"""The free GPUs of each node, lowest first."""


def nodes_of(job: Job) -> int:
    return job.gpus // job.per_node


def candidates(nodes: Sequence[Node], eligible: list[int], job: Job, free: set[Gpu]) -> Free:
    """The eligible nodes with room for a part of the shape."""
    left = {node: sorted(gpu for gpu in free if gpu[0] == node) for node in eligible}
    return {node: gpus for node, gpus in left.items() if len(gpus) >= job.per_node}


def has_room(nodes: Sequence[Node], eligible: list[int], job: Job, free: set[Gpu]) -> bool:
    return len(candidates(nodes, eligible, job, free)) >= nodes_of(job)


def place_shape(nodes: Sequence[Node], eligible: list[int], job: Job, free: set[Gpu], how: str) -> set[Gpu] | None:
    left = candidates(nodes, eligible, job, free)
    if len(left) < nodes_of(job):
        return None
    order = in_order(nodes, left, nodes_of(job), how)
    return {gpu for _, node in zip(range(nodes_of(job)), order, strict=False) for gpu in left[node][: job.per_node]}


def in_order(nodes: Sequence[Node], left: Free, wanted: int, how: str) -> Iterator[int]:
    """Candidates, the first to be taken first."""
    if how == "first-fit":
        return iter(sorted(left))
    if how == "spread":
        return iter(sorted(left, key=lambda node: (-len(left[node]), node)))
    if wanted > 1 and how in ("few-racks", "tightest"):
        return by_rack(nodes, left, wanted)
    return iter(fullest_first(left, list(left)))


def fullest_first(left: Free, some: list[int]) -> list[int]:
    return sorted(some, key=lambda node: (len(left[node]), node))


def by_rack(nodes: Sequence[Node], left: Free, wanted: int) -> Iterator[int]:
    racks: dict[tuple[int, int], list[int]] = {(node.pod, node.rack): [] for node in nodes}
    for node in sorted(left):
        racks[nodes[node].pod, nodes[node].rack].append(node)
    groups = list(racks.values())
    while wanted > 0:
        some = [group for group in groups if group]
        enough = [group for group in some if len(group) >= wanted]
        best = min(enough, key=len) if enough else max(some, key=len)
        yield from fullest_first(left, best)[:wanted]
        wanted -= len(best)
        groups.remove(best)


def keeps_shape(job: Job, chosen: Place) -> bool:
    """Whether GPUs that a policy names have the job's shape."""
    on = [sum(at == node for at, _ in chosen) for node in {node for node, _ in chosen}]
    return not job.per_node or set(on) == {job.per_node}
