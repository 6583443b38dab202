"""Results do not change by a byte, whatever is moved, renamed or rewritten."""

import polars as pl
import pytest

from pointsman.policies.registry import BUILT_IN, LEARNED
from pointsman.types import CONTENTION_NAMES, PLACEMENT_NAMES

from . import runs
from .digests import digest, recorded

BASE_MODELS = ("rates", "iterations", "goodput", "tree")


@pytest.mark.parametrize("run", runs.RUNS, ids=lambda run: run.name)
def test_a_result_is_as_recorded(run: runs.Run) -> None:
    if recorded()["polars"] != pl.__version__:
        pytest.skip(f"recorded with polars {recorded()['polars']}, whose Parquet files may differ")
    assert digest(run) == recorded()[run.name]


@pytest.mark.parametrize("run", runs.LEARNED, ids=lambda run: run.name)
def test_a_result_of_a_learned_policy_is_as_recorded(run: runs.Run) -> None:
    pytest.importorskip("torch", reason="make learn")
    test_a_result_is_as_recorded(run)


def test_everything_occurs_twice() -> None:
    every = [*runs.RUNS, *runs.LEARNED]
    for policy in [*BUILT_IN, *LEARNED]:
        assert sum(run.policy.partition(":")[0] == policy for run in every) >= 2, policy
    options = [run.options for run in every]
    for contention in CONTENTION_NAMES:
        assert sum(o.get("contention", "none") == contention for o in options) >= 2, contention
    for placement in PLACEMENT_NAMES:
        assert sum(o.get("placement", "consolidated") == placement for o in options) >= 2, placement
    for overheads in (runs.REALISTIC, runs.ROUGH):
        assert sum(o.get("overheads") is overheads for o in options) >= 2
    own = {"lwf": "iterations", "srsf": "iterations", "ada-srsf": "iterations", "pollux": "goodput"}
    models = [
        o.get("rate_model", own.get(run.policy, "rates")).partition(":")[0]
        for run, o in zip(every, options, strict=True)
    ]
    assert min(models.count(model) for model in BASE_MODELS) >= 2
