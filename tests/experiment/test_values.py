"""Values that a file can give and a flag cannot have the same limits."""

from typing import Any

import pytest

from pointsman.errors import UsageError
from pointsman.experiment import ExperimentSpec

NEEDED = {"trace": "x.csv", "cluster": "1x1", "policies": ["fifo"]}


@pytest.mark.parametrize("window", [[8, 1], [float("nan"), 5], [-5, 5], "8:1"])
def test_a_window_goes_forward_from_0(window: Any) -> None:
    with pytest.raises(UsageError, match="window"):
        ExperimentSpec.checked({**NEEDED, "window": window})


def test_a_filter_may_be_a_number() -> None:
    assert ExperimentSpec.checked({**NEEDED, "only": {"gpus": 2}}).only == {"gpus": ("2",)}


def test_no_profile_is_no_file() -> None:
    with pytest.raises(UsageError, match="profiles: must name a file"):
        ExperimentSpec.checked({**NEEDED, "profiles": ""})
