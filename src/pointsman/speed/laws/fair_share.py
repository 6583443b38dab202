"""Max–min fair rates of transfers that share links: the reference that compiled versions are held against."""

from collections.abc import Sequence
from math import inf, isnan

from pointsman.errors import UsageError


def max_min_rates(links_of: Sequence[Sequence[int]], demand: Sequence[float], capacity: Sequence[float]) -> list[float]:
    """The max–min fair rate of each flow, by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2).

    All flows rise together from 0. A flow stops at its demand, or when a link of its own is full; the
    others rise on. So no flow can gain without another, of no higher rate, losing.

    Args:
        links_of: for each flow the directed links that it crosses (indices into `capacity`, each counted once). A
            link has two directions: two entries.
        demand: for each flow the rate that it wants at most; ``inf`` for as much as it gets.
        capacity: of each directed link, in the unit of `demand`.

    Raises:
        UsageError: a negative demand or capacity, no such link, or a flow that nothing holds back.
    """
    crossed = [frozenset(links) for links in links_of]
    _check(crossed, demand, capacity)
    rates = [0.0] * len(crossed)
    rising = set(range(len(crossed)))
    while rising:
        full_at = {link: _full_at(link, crossed, rates, rising, capacity) for link in range(len(capacity))}
        stops_at = {f: min([demand[f], *(full_at[link] for link in crossed[f])]) for f in rising}
        level = min(stops_at.values())
        for flow in [f for f in rising if stops_at[f] <= level]:
            rates[flow] = level
            rising.remove(flow)
    return rates


def _full_at(
    link: int, crossed: list[frozenset[int]], rates: list[float], rising: set[int], capacity: Sequence[float]
) -> float:
    """The common rate of the rising flows at which `link` is full; ``inf`` if none of them crosses it."""
    users = [f for f, links in enumerate(crossed) if link in links]
    stopped = sum(rates[f] for f in users if f not in rising)
    still = sum(f in rising for f in users)
    return max(0.0, capacity[link] - stopped) / still if still else inf


def _check(crossed: list[frozenset[int]], demand: Sequence[float], capacity: Sequence[float]) -> None:
    if len(demand) != len(crossed):
        raise UsageError(f"{len(crossed)} flows but {len(demand)} demands: give one for each flow")
    for what, numbers in (("demand", demand), ("capacity", capacity)):
        for i, number in enumerate(numbers):
            if isnan(number) or number < 0:
                raise UsageError(f"{what} {i} is {number}: it must be 0 or more")
    for flow, links in enumerate(crossed):
        if any(not 0 <= link < len(capacity) for link in links):
            raise UsageError(f"flow {flow} crosses links {sorted(links)}, of which there are 0 to {len(capacity) - 1}")
        if demand[flow] == inf and all(capacity[link] == inf for link in links):
            raise UsageError(f"flow {flow} wants all it can get, and no link of its own is finite")
