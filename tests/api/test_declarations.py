"""What policies declare is checked before a run, and what is wrong gets a sentence."""

from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.errors import UsageError
from tests.free import simulate

JOBS = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0]}))


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"name": 5}, "name = 5 is no text"),
        ({"needs": "bogus"}, "needs = 'bogus' (there are none, estimate, oracle)"),
        ({"placement": "bogus"}, "placement = 'bogus' (there are consolidated"),
        ({"gpu_sharing": "x"}, "gpu_sharing = 'x' (1 to 8)"),
        ({"gpu_sharing": 2.7}, "gpu_sharing = 2.7 (1 to 8)"),
        ({"gpu_sharing": None}, "gpu_sharing = None (1 to 8)"),
        ({"rate_model": 5}, "rate_model = 5 (a name)"),
        ({"rate_model": "bogus"}, "unknown rate model 'bogus'"),
        ({"places_itself": "no"}, "places_itself = 'no' (True or False)"),
        ({"admits": 1}, "admits = 1 (True or False)"),
        ({"places_itself": True, "placement": "spread"}, "leave one out"),
    ],
)
def test_a_wrong_declaration_is_refused(declared: dict[str, Any], said: str) -> None:
    policy = type("Mine", (), {"name": "mine", "needs": "none", "decide": lambda self, view: None, **declared})()
    with pytest.raises(UsageError) as refused:
        simulate(JOBS, "1x1", policy)
    assert said in str(refused.value)


def test_a_rate_model_may_have_parameters() -> None:
    decide = lambda self, view: [view.start(job) for job in view.pending]  # noqa: E731
    policy = type("Mine", (), {"name": "mine", "needs": "none", "rate_model": "tree:clamp=1", "decide": decide})()
    assert simulate(JOBS, "1x1", policy).jobs["end_s"].to_list() == [1.0]
