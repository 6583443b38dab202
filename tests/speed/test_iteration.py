"""One iteration: the overlap law, accumulation, exposed communication."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.speed import Compute, GangShape, Network, exposed_s, iteration_time_s, load_catalogue
from pointsman.speed.laws.step_time import overlapped_s

RESNET = load_catalogue().model("resnet50")
COMPUTE = Compute(alpha_s=0.1, beta_s_per_sample=0.01, source="ours")
GANG = GangShape((4, 2, 1, 1), (4, 2, 1, 1))
NETWORK = Network(np.array([np.inf, 1e9, 1e8, 1e8, 1e8]), np.zeros(5))
times = st.floats(1e-6, 1e6)


@given(times, times)
def test_no_overlap_is_the_sum_and_full_overlap_the_longer(compute, communication):
    assert overlapped_s(compute, communication, 1) == pytest.approx(compute + communication)
    assert overlapped_s(compute, communication, inf) == max(compute, communication)


@given(times, times, st.floats(1, 50), st.floats(1, 50))
def test_more_overlap_never_takes_longer(x, y, a, b):
    less, more = sorted((a, b))
    assert overlapped_s(x, y, more) <= overlapped_s(x, y, less) * (1 + 1e-12)
    assert max(x, y) <= overlapped_s(x, y, more) <= (x + y) * (1 + 1e-12)


def test_three_four_five():
    assert overlapped_s(3, 4, 2) == pytest.approx(5)


def test_no_communication_is_exactly_the_computation():
    assert overlapped_s(0.123, 0.0, 2.68) == 0.123


def gradient_s() -> float:
    """By hand: 2·3/4 of the bytes at 1 GB/s, and a quarter of them at 100 MB/s."""
    return RESNET.gradient.bytes * (1.5 / 1e9 + 0.25 / 1e8)


def test_an_iteration_by_hand():
    delta = RESNET.overlap.delta
    expected = (0.74**delta + gradient_s() ** delta) ** (1 / delta)
    assert iteration_time_s(RESNET, COMPUTE, GANG, NETWORK, 64) == pytest.approx(expected)


@pytest.mark.parametrize("passes", [1, 2, 7])
def test_accumulation_adds_whole_passes_and_hides_nothing_more(passes):
    once = iteration_time_s(RESNET, COMPUTE, GANG, NETWORK, 64)
    many = iteration_time_s(RESNET, COMPUTE, GANG, NETWORK, 64, accumulation=passes)
    assert many == pytest.approx(once + (passes - 1) * 0.74)
    assert exposed_s(many, COMPUTE, 64, passes) == pytest.approx(once - 0.74)


@given(st.integers(1, 4096), st.integers(1, 4096))
def test_a_larger_batch_never_takes_less_time(a, b):
    small, large = (iteration_time_s(RESNET, COMPUTE, GANG, NETWORK, x) for x in sorted((a, b)))
    assert small <= large


def test_a_gpu_types_own_delta_goes_before_the_models():
    network = Network(np.full(5, 1e9), np.zeros(5))
    pair = GangShape((2, 1, 1, 1), (2, 1, 1, 1))
    compute = Compute(alpha_s=0.1, beta_s_per_sample=0, source="ours")
    talk_s = RESNET.gradient.bytes / 1e9
    alone = compute.model_copy(update={"delta": 1.0})
    assert iteration_time_s(RESNET, alone, pair, network, 1) == pytest.approx(0.1 + talk_s)
    assert iteration_time_s(RESNET, compute, pair, network, 1) < 0.1 + talk_s
    assert alone.scaled(2, "ours").delta == 1.0
