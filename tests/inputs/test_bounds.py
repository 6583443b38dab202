"""Times and durations of options, at the ends of what they may be."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pointsman.errors import UsageError
from pointsman.inputs.bounds import instant_ms
from pointsman.inputs.option_types import Duration
from pointsman.types import NEVER_MS

DURATION = TypeAdapter(Duration)


def test_instants_are_whole_milliseconds_up_to_the_end_of_time() -> None:
    assert [instant_ms(s, "x") for s in (0.0, 0.0006, 1.2344)] == [0, 1, 1234]
    assert instant_ms(1e300, "x") == instant_ms(float("inf"), "x") == NEVER_MS - 1
    for wrong in (-0.001, float("nan")):
        with pytest.raises(UsageError, match="must be a number of seconds from 0 on"):
            instant_ms(wrong, "x")


@pytest.mark.parametrize(("text", "seconds"), [(0, 0.0), ("0", 0.0), ("1h", 3600.0), ("24h", 86_400.0)])
def test_a_duration_is_from_nothing_to_a_day(text: str | int, seconds: float) -> None:
    assert DURATION.validate_python(text) == seconds


@pytest.mark.parametrize("wrong", [-1, 86_401, "25h", True])
def test_other_durations_are_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        DURATION.validate_python(wrong)
