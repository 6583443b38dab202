"""Figures as people read them."""

import math

import pytest

from pointsman.report.units import count, digits, duration, names, percent, policy_name, spread


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.004, "< 0.01 s"), (0.25, "0.25 s"), (59, "59 s"), (60, "1 min"), (90, "1.5 min"), (3600, "1 h"),
     (100_000, "27.8 h"), (864_000, "10 d"), (1e9, "11,574 d"), (None, "–"), (math.nan, "–")],
)  # fmt: skip
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.1234, "+12.3 %"), (-0.5, "-50.0 %"), (-0.0001, "0.0 %"), (12, "+1,200.0 %"), (None, "–")]
)
def test_signed_percentages(ratio: float | None, text: str) -> None:
    assert percent(ratio, signed=True) == text


def test_numbers() -> None:
    assert [digits(x) for x in (0, 1, 9.999, 12.345, 1234.5, 0.01234, -3.14159, 1e-6)] == [
        "0", "1", "10", "12.3", "1,234", "0.0123", "-3.14", "0.000001",
    ]  # fmt: skip
    assert [count(x) for x in (None, 12345, 2.5)] == ["–", "12,345", "2.5"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fifo", "fifo"),
        ("/home/me/mine.py:Mine", "Mine"),
        ("mine.py:Mine", "Mine"),
        ("rounds(/a b/mine.py:Mine, 60)", "rounds(Mine, 60)"),
        ("rounds(srtf, 60)", "rounds(srtf, 60)"),
    ],
)
def test_policies_are_named_without_their_files(text: str, shown: str) -> None:
    assert policy_name({"policy": text}) == shown
    assert policy_name({"policy": text, "policy_name": "largest"}) == "largest"


def test_long_lists_are_cut() -> None:
    assert [names("abcde"[:n]) for n in (1, 2, 3, 4, 5)] == [
        "a", "a and b", "a, b and c", "a, b, c and d", "a, b, c and 2 others",
    ]  # fmt: skip


def test_the_least_and_the_most_name_all_that_are_said_alike() -> None:
    assert spread({"a": 9.0, "b": 1.0, "c": 9.001, "d": 5.0}, digits) == "1 (b) to 9 (a and c)"
    assert spread({"a": 9.0, "b": 9.001}, digits) == "9 under all"
    assert spread({"a": 9.0}, digits) == "9 under a"
