"""Sections 2 and 3: which GPUs a gang gets. Pure functions of the nodes, the job and the free GPUs."""

from collections.abc import Sequence

from .model import Gpu, Job, Node, Place
from .shapes import has_room, place_shape

PLACEMENTS = ("consolidated", "first-fit", "spread", "tightest", "few-racks")


def alternatives(nodes: Sequence[Node], job: Job) -> list[list[int]]:
    """The eligible nodes under each alternative of the job's demand, in the order tried (section 2)."""
    if job.gpu_type == "":
        type_sets = [{gpu_type} for gpu_type in dict.fromkeys(node.gpu_type for node in nodes)]
    else:
        type_sets = [set(alternative.split("+")) for alternative in job.gpu_type.split("|")]
    return [
        [
            index
            for index, node in enumerate(nodes)
            if node.gpu_type in type_set and (job.partition == "" or {*job.partition.split(",")} & {*node.partitions})
        ]
        for type_set in type_sets
    ]


def place(nodes: Sequence[Node], job: Job, free: set[Gpu], how: str) -> Place | None:
    """The GPUs that the gang gets, or None. `free` has only GPUs of nodes that take work."""
    for eligible in alternatives(nodes, job):
        chosen = place_among(nodes, eligible, job, free, how)
        if chosen is not None:
            return frozenset(chosen)
    return None


def place_among(nodes: Sequence[Node], eligible: list[int], job: Job, free: set[Gpu], how: str) -> set[Gpu] | None:
    """The same under one alternative."""
    if job.per_node:
        return place_shape(nodes, eligible, job, free, how)
    return RULES.get(how, place_packed)(nodes, eligible, job.gpus, free, how)


def has_enough(nodes: Sequence[Node], eligible: list[int], job: Job, free: set[Gpu]) -> bool:
    """Whether as many GPUs as it requests are free wherever they are; of a shape, whether it has room."""
    if job.per_node:
        return has_room(nodes, eligible, job, free)
    return sum(node in eligible for node, _ in free) >= job.gpus


def every_gpu(nodes: Sequence[Node]) -> set[Gpu]:
    """All GPUs of the cluster."""
    return {(index, gpu) for index, node in enumerate(nodes) for gpu in range(node.gpus)}


def free_on(node: int, free: set[Gpu]) -> list[Gpu]:
    """The free GPUs of one node, lowest index first."""
    return sorted(gpu for gpu in free if gpu[0] == node)


def place_packed(nodes: Sequence[Node], eligible: list[int], gpus: int, free: set[Gpu], how: str) -> set[Gpu] | None:
    """Consolidated and first fit."""
    if not eligible:
        return None
    size = max(nodes[node].gpus for node in eligible)
    if gpus <= size:
        return on_one_node(eligible, gpus, free, how)
    whole_count, rest = divmod(gpus, size)
    whole = [node for node in eligible if nodes[node].gpus == size and len(free_on(node, free)) == size]
    if len(whole) < whole_count:
        return None
    whole = in_few_racks(nodes, whole, whole_count) if how == "few-racks" else whole[:whole_count]
    taken = {gpu for node in whole for gpu in free_on(node, free)}
    if rest == 0:
        return taken
    beside = [node for node in eligible if rack_of(nodes[node]) == rack_of(nodes[whole[-1]])]
    near = on_one_node(beside, rest, free - taken, how) if how == "few-racks" else None
    remainder = near or on_one_node(eligible, rest, free - taken, how)
    return None if remainder is None else taken | remainder


def rack_of(node: Node) -> tuple[int, int]:
    """Its pod and its rack in it."""
    return node.pod, node.rack


def in_few_racks(nodes: Sequence[Node], whole: list[int], count: int) -> list[int]:
    """So many of these nodes: again and again those of the rack that suits best how many are missing."""
    order = list(dict.fromkeys(map(rack_of, nodes)))
    left, chosen = list(whole), list[int]()
    while len(chosen) < count:
        of_rack = {k: [node for node in left if rack_of(nodes[node]) == rack] for k, rack in enumerate(order)}
        rack = suits_best({k: len(members) for k, members in of_rack.items() if members}, count - len(chosen))
        taken = of_rack[rack][: count - len(chosen)]
        chosen += taken
        left = [node for node in left if node not in taken]
    return chosen


def on_one_node(eligible: list[int], gpus: int, free: set[Gpu], how: str) -> set[Gpu] | None:
    """Best fit (fewest free GPUs, then lowest index) or first fit (lowest index)."""
    left = {node: free_on(node, free) for node in eligible}
    fitting = [node for node in eligible if len(left[node]) >= gpus]
    if not fitting:
        return None
    if how == "first-fit":
        return set(left[min(fitting)][:gpus])
    fullest = min(fitting, key=lambda node: (len(left[node]), node))
    return set(left[fullest][:gpus])


def place_spread(nodes: Sequence[Node], eligible: list[int], gpus: int, free: set[Gpu], how: str) -> set[Gpu] | None:
    """One GPU at a time, each from the eligible node with the most free GPUs."""
    left = {node: free_on(node, free) for node in eligible}
    if sum(map(len, left.values())) < gpus:
        return None
    taken: set[Gpu] = set()
    for _ in range(gpus):
        node = min(eligible, key=lambda node: (-len(left[node]), node))
        taken.add(left[node].pop(0))
    return taken


def place_tightest(nodes: Sequence[Node], eligible: list[int], gpus: int, free: set[Gpu], how: str) -> set[Gpu] | None:
    """On one node, else in few racks and on few nodes of each."""
    left = {node: free_on(node, free) for node in eligible}
    if sum(map(len, left.values())) < gpus:
        return None
    one = on_one_node(eligible, gpus, free, "consolidated")
    if one is not None:
        return one
    racks: dict[tuple[int, int], list[int]] = {}
    for node in eligible:
        racks.setdefault((nodes[node].pod, nodes[node].rack), []).append(node)
    order = {rack: index for index, rack in enumerate(dict.fromkeys((n.pod, n.rack) for n in nodes))}
    taken: set[Gpu] = set()
    while len(taken) < gpus:
        free_in = {order[rack]: sum(len(left[node]) for node in members) for rack, members in racks.items()}
        rack = suits_best(free_in, gpus - len(taken))
        members = racks[next(r for r, index in order.items() if index == rack)]
        here = min(gpus - len(taken), free_in[rack])
        while here > 0:
            node = suits_best({n: len(left[n]) for n in members}, here)
            chosen, left[node] = left[node][:here], left[node][here:]
            taken |= set(chosen)
            here -= len(chosen)
    return taken


def suits_best(free: dict[int, int], wanted: int) -> int:
    """The fewest free of those that have all that is wanted; else the most free. Ties: lowest index."""
    enough = [i for i in free if free[i] >= wanted]
    return min(enough, key=lambda i: (free[i], i)) if enough else min(free, key=lambda i: (-free[i], i))


RULES = {"spread": place_spread, "tightest": place_tightest}


def locality(nodes: Sequence[Node], chosen: Place) -> int:
    """0 one GPU, 1 one node, 2 one rack, 3 one pod, 4 the cluster."""
    used = [nodes[node] for node in {node for node, _ in chosen}]
    if len(chosen) == 1:
        return 0
    if len(used) == 1:
        return 1
    if len({(node.pod, node.rack) for node in used}) == 1:
        return 2
    return 3 if len({node.pod for node in used}) == 1 else 4
