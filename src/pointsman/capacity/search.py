"""The search for the least size that meets a target. A larger size may be worse, for schedules are not monotone: so all
sizes around the one that bisection finds are measured too.
"""

from collections.abc import Generator, Iterable, Mapping
from math import ceil, floor
from typing import Final

AROUND: Final = 0.1
"""Share by which sizes that are all measured differ from what bisection finds."""

Asked = Generator[list[int], Mapping[int, bool], int | None]
"""It yields sizes, is sent whether each of them meets the target, and returns the answer."""


def least_size(first: int, most: int) -> Asked:
    """The least size of those measured from which on all of them meet the target; None: not even `most` does.

    Args:
        first: where to begin.
        most: the largest size to be tried.
    """
    meets: dict[int, bool] = {}

    def ask(sizes: Iterable[int]) -> Generator[list[int], Mapping[int, bool]]:
        if new := [size for size in sizes if size not in meets]:
            meets.update((yield new))

    low, high = 0, first
    yield from ask([first])
    while True:
        while not meets[high]:
            if high == most:
                return None
            low, high = high, min(2 * high, most)
            yield from ask([high])
        while high - low > 1:
            middle = (low + high) // 2
            yield from ask([middle])
            low, high = (low, middle) if meets[middle] else (middle, high)
        around = range(max(1, ceil((1 - AROUND) * high)), min(most, floor((1 + AROUND) * high)) + 1)
        yield from ask(around)
        failing = [size for size in around if not meets[size]]
        if not failing or failing[-1] < around[-1]:
            return failing[-1] + 1 if failing else around[0]
        low = high = around[-1]  # the largest of them fails: what was found was luck
