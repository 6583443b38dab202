"""Submits moved to another load, and loads that none can be moved to."""

import math

import polars as pl
import pytest

from pointsman.errors import UsageError
from pointsman.workload import Workload
from pointsman.workload.transforms.rescale import at_load, offered_load


def workload(span_s: float = 2.0) -> Workload:
    jobs = pl.DataFrame({"submit_s": [5.0, 5.0 + span_s], "gpus": [2, 4], "duration_s": [100.0, 50.0]})
    return Workload.of(jobs)


def test_the_load_is_exact() -> None:
    moved = at_load(workload(), 8, 0.5)
    assert offered_load(moved.jobs, 8) == pytest.approx(0.5)
    assert moved.jobs["submit_s"][0] == 5.0


@pytest.mark.parametrize("load", [0.0, -1.0, 1e-300, 1e300, math.inf, math.nan])
def test_absurd_loads_are_refused(load: float) -> None:
    with pytest.raises(UsageError, match="must be from 1e-06 to 1000"):
        at_load(workload(), 8, load)


def test_submits_stay_on_the_clock() -> None:
    jobs = pl.DataFrame({"submit_s": [0.0, 1.0], "gpus": [1, 1 << 20], "duration_s": [1.0, 1e9]})
    with pytest.raises(UsageError, match=r"submitted after .* years; ask for more load"):
        at_load(Workload.of(jobs), 8, 1e-6)
