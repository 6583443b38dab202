"""Parameters of policies written in Python: what is no number gets a sentence."""

import pytest

from pointsman.errors import UsageError
from pointsman.policies.registry import get_policy


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("schedulers", 2.5, "a whole number"),
        ("schedulers", True, "a whole number"),
        ("schedulers", "nan", "a whole number"),
        ("forward", "maybe", "true or false"),
        ("forward", 1, "true or false"),
        ("patience", "nan", "a number"),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: object, wanted: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match=rf"^marl\.{name} = .*: it must be {wanted}$"):
        get_policy("marl").make({name: value})
