"""Practice on several clusters, workloads, loads and interferences: the first with the first, and so on."""

import pytest

from pointsman.errors import UsageError
from pointsman.learn.training_setup import PracticeConfig, settings_of

SEVERAL = {"workload": "dl2-1-8 + dl2-philly", "load": "0.7 + 0.9", "node_interference": "table + none"}


def test_each_part_goes_with_its_own_and_one_goes_with_all() -> None:
    parts = settings_of(PracticeConfig(**SEVERAL, cluster="8x4"))
    told = [(one.workload, one.load, one.node_interference, one.cluster) for one in parts]
    assert told == [("dl2-1-8", 0.7, "table", "8x4"), ("dl2-philly", 0.9, "none", "8x4")]


def test_their_numbers_must_agree() -> None:
    with pytest.raises(UsageError, match=r"has 2 parts, others have 3"):
        settings_of(PracticeConfig(**SEVERAL, cluster="8x4 + 4x4 + 2x4"))
