"""The target of a search, read from text."""

import pytest

from pointsman.capacity.curve import parse_target
from pointsman.errors import UsageError

TIMES = [("pending_p90_s<=3600", 3600), ("pending_p90_s<=1h", 3600), ("wait_mean_s < 1m30s", 90)]


@pytest.mark.parametrize(("text", "limit"), TIMES)
def test_a_time_may_be_a_duration(text: str, limit: float) -> None:
    assert parse_target(text).limit == limit


def test_other_figures_have_no_durations() -> None:
    with pytest.raises(UsageError, match="is not a condition"):
        parse_target("fairness_rho_max<=1h")
    with pytest.raises(UsageError, match="is no duration"):
        parse_target("pending_p90_s<=1fortnight")
