"""Max–min fair rates: by hand, and against the definition."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.errors import UsageError
from pointsman.speed import max_min_rates


@pytest.mark.parametrize(
    ("links_of", "demand", "capacity", "rates"),
    [
        pytest.param([], [], [5.0], [], id="nobody"),
        pytest.param([[0]], [inf], [10.0], [10.0], id="alone it has the link"),
        pytest.param([[0]], [3.0], [10.0], [3.0], id="never more than it wants"),
        pytest.param([[]], [7.0], [], [7.0], id="inside a node no link is crossed"),
        pytest.param([[0], [0], [0]], [inf] * 3, [12.0], [4.0] * 3, id="equals share equally"),
        pytest.param([[0], [0]], [1.0, inf], [10.0], [1.0, 9.0], id="what the modest leave goes to the greedy"),
        pytest.param([[0], [0], [0]], [1.0, 4.0, 9.0], [12.0], [1.0, 4.0, 7.0], id="water-filling on one link"),
        # Bertsekas and Gallager's line: a long flow over both links, a short one on each
        pytest.param([[0, 1], [0], [1]], [inf] * 3, [1.0, 2.0], [0.5, 0.5, 1.5], id="the narrowest link decides"),
        pytest.param([[0, 1], [0], [0], [1]], [inf] * 4, [3.0, 9.0], [1.0, 1.0, 1.0, 8.0], id="and frees the others"),
        pytest.param([[0], [1]], [inf, inf], [4.0, 6.0], [4.0, 6.0], id="the two directions do not meet"),
        pytest.param([[0, 0], [0]], [inf, inf], [4.0], [2.0, 2.0], id="a link named twice is crossed once"),
        pytest.param([[0], [0, 1]], [inf, 5.0], [0.0, 9.0], [0.0, 0.0], id="a dead link stops all"),
        pytest.param([[0], [0]], [0.0, inf], [8.0], [0.0, 8.0], id="who wants nothing gets nothing"),
    ],
)
def test_by_hand(links_of, demand, capacity, rates):
    assert max_min_rates(links_of, demand, capacity) == pytest.approx(rates)


@pytest.mark.parametrize(
    ("links_of", "demand", "capacity", "message"),
    [
        ([[0]], [1.0, 2.0], [1.0], "1 flows but 2 demands"),
        ([[0]], [-1.0], [1.0], "demand 0 is -1.0"),
        ([[0]], [1.0], [nan], "capacity 0 is nan"),
        ([[1]], [1.0], [1.0], r"flow 0 crosses links \[1\]"),
        ([[]], [inf], [1.0], "no link of its own is finite"),
    ],
)
def test_refused(links_of, demand, capacity, message):
    with pytest.raises(UsageError, match=message):
        max_min_rates(links_of, demand, capacity)


@st.composite
def networks(draw):
    capacity = draw(st.lists(st.floats(0.1, 100), min_size=1, max_size=6))
    links = st.lists(st.integers(0, len(capacity) - 1), min_size=1, max_size=4)
    links_of = draw(st.lists(links, min_size=1, max_size=8))
    demand = draw(st.lists(st.floats(0, 50) | st.just(inf), min_size=len(links_of), max_size=len(links_of)))
    return links_of, demand, capacity


@given(networks())
def test_no_flow_can_gain_without_another_of_no_higher_rate_losing(network):
    """The definition: every flow has its demand, or crosses a full link on which nobody is faster."""
    links_of, demand, capacity = network
    rates = max_min_rates(links_of, demand, capacity)
    load = [sum(r for r, links in zip(rates, links_of, strict=True) if link in links) for link in range(len(capacity))]
    assert all(used <= c * (1 + 1e-9) for used, c in zip(load, capacity, strict=True))
    for flow, links in enumerate(links_of):
        bottlenecks = [
            link
            for link in links
            if load[link] >= capacity[link] * (1 - 1e-9)
            and all(rates[flow] >= r * (1 - 1e-9) for r, other in zip(rates, links_of, strict=True) if link in other)
        ]
        assert rates[flow] <= demand[flow]
        assert bottlenecks or rates[flow] == demand[flow]


@given(networks(), st.randoms(use_true_random=False))
def test_the_order_of_flows_does_not_matter(network, random):
    links_of, demand, capacity = network
    order = list(range(len(links_of)))
    random.shuffle(order)
    rates = max_min_rates(links_of, demand, capacity)
    shuffled = max_min_rates([links_of[i] for i in order], [demand[i] for i in order], capacity)
    assert shuffled == pytest.approx([rates[i] for i in order])
