"""The least size that meets a target, where larger ones need not."""

from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from pointsman.capacity.search import least_size


def searched(first: int, most: int, meets: Callable[[int], bool]) -> tuple[int | None, set[int]]:
    """The answer, and the sizes that were measured for it."""
    search, measured = least_size(first, most), set[int]()
    asked = next(search)
    while True:
        assert measured.isdisjoint(asked), "no size is measured twice"
        measured |= set(asked)
        try:
            asked = search.send({size: meets(size) for size in asked})
        except StopIteration as ended:
            return ended.value, measured


@given(st.integers(1, 500), st.integers(1, 600))
@example(1, 1)
@example(3, 2)
@example(500, 1)
@example(500, 600)
def test_where_larger_is_better_it_is_the_least_that_meets(first: int, needed: int) -> None:
    answer, measured = searched(first, 500, lambda size: size >= needed)
    assert answer == (needed if needed <= 500 else None)
    assert len(measured) <= 2 + 2 * (500).bit_length() + 2 + 0.2 * needed


@given(st.integers(1, 60), st.sets(st.integers(1, 60)))
def test_whatever_meets_the_sizes_around_the_answer_do(first: int, meeting: set[int]) -> None:
    answer, measured = searched(first, 60, meeting.__contains__)
    if answer is None:
        assert 60 not in meeting
    else:
        assert {size for size in measured if answer <= size <= 1.1 * answer} <= meeting
        assert answer == 1 or answer - 1 not in meeting or answer - 1 not in measured or answer <= 0.91 * (answer + 1)


def test_sizes_within_a_tenth_of_the_answer_are_measured() -> None:
    answer, measured = searched(8, 500, lambda size: size >= 100)
    assert answer == 100
    assert {size for size in measured if 85 <= size <= 111} == set(range(90, 111))


def test_luck_is_not_believed() -> None:
    """10 meets the target and 11 does not: the answer is beyond."""
    answer, _ = searched(8, 100, lambda size: size == 10 or size >= 15)
    assert answer == 15
