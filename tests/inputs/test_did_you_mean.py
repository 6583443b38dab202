"""Unknown words are answered with the nearest one that is known."""

import pytest

from pointsman.inputs.did_you_mean import did_you_mean, nearest


def test_the_list_is_cut_where_it_is_long() -> None:
    assert did_you_mean("x", ["b", "a"], limit=2) == "known: a, b"
    assert did_you_mean("x", ["c", "b", "a"], limit=2) == "known: a, b, ..."
    assert did_you_mean("x", []) == "none is declared"


@pytest.mark.parametrize(
    ("word", "found"), [("gpu", "gpus"), ("GPUS", "gpus"), ("submit", "submit_s"), ("ubm", "submit_s"), ("qqq", None)]
)
def test_the_nearest_is_one_however_many_are_near(word: str, found: str | None) -> None:
    assert nearest(word, ["gpus", "submit_s", "queue"]) == found


def test_a_part_that_several_have_names_none() -> None:
    assert nearest("mea", ["jct_mean_s", "pending_mean_s"]) is None
    assert did_you_mean("gpu", ["gpus", "queue"]) == "did you mean 'gpus'? known: gpus, queue"
