"""The searches of several policies side by side: each round measures what all of them ask for."""

from collections.abc import Callable, Sequence

from pointsman.capacity.curve import Curve, Point, Target
from pointsman.capacity.search import least_size

Measure = Callable[[list[tuple[str, int]]], list[float | None]]
"""Measures the metric of each (policy, number of nodes); None: unknown."""


def curves(
    policies: Sequence[str], first: int, most: int, gpus_of: Callable[[int], int], target: Target, measure: Measure
) -> list[Curve]:
    """The curve of each policy.

    Args:
        policies: their names.
        first: nodes of the first cluster.
        most: nodes of the largest.
        gpus_of: the GPUs of a cluster by its number of nodes.
        target: what is to be met.
        measure: what simulates.
    """
    searches = {policy: least_size(first, most) for policy in policies}
    asked = {policy: next(search) for policy, search in searches.items()}
    points: dict[str, dict[int, Point]] = {policy: {} for policy in policies}
    answers: dict[str, int | None] = {}
    while asked:
        wanted = [(policy, nodes) for policy, sizes in asked.items() for nodes in sizes]
        for (policy, nodes), value in zip(wanted, measure(wanted), strict=True):
            points[policy][nodes] = Point(nodes, gpus_of(nodes), value)
        for policy, sizes in list(asked.items()):
            try:
                asked[policy] = searches[policy].send({n: target.is_met(points[policy][n].value) for n in sizes})
            except StopIteration as ended:
                answers[policy] = ended.value
                del asked[policy]
    return [
        Curve(policy, [own[n] for n in sorted(own)], None if (n := answers[policy]) is None else own[n])
        for policy, own in points.items()
    ]
