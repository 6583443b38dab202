from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.inputs.durations import parse_duration_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        (" 90.5 ", 90.5),
        ("1e3", 1000),
        ("250ms", 0.25),
        ("90m", 5400),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("1.5h", 5400),
        ("2d", 172800),
        ("1W2D", 777600),
        ("5:30", 330),
        ("12:00:00", 43200),
        ("1-12", 129600),
        ("1-12:30", 131400),
        ("1-12:00:00", 129600),
        ("PT1H", 3600),
        ("P1DT12H", 129600),
        ("pt0.5s", 0.5),
        ("P2W", 1209600),
    ],
)
def test_four_notations(text: str, seconds: float) -> None:
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-5",
        "-1h",
        "9" * 400 + ":00",
        "nan",
        "inf",
        "1e999",
        "h",
        "5 parsecs",
        "1h1h",
        "30m1h",
        "1:2:3:4",
        "P",
        "PT",
        "P1Y",
        "1-",
        "1h x",
        "٣m",
    ],
)
def test_everything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration; write it like 90"):
        parse_duration_s(text)


@given(st.timedeltas(timedelta(0), timedelta(days=9000)).map(lambda d: d - timedelta(microseconds=d.microseconds)))
def test_slurm_iso_and_units_agree(span: timedelta) -> None:
    hours, rest = divmod(span.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    for text in (
        f"{span.days}-{hours}:{minutes}:{seconds}",
        f"P{span.days}DT{hours}H{minutes}M{seconds}S",
        f"{span.days}d{hours}h{minutes}m{seconds}s",
    ):
        assert parse_duration_s(text) == span.total_seconds()


@given(st.text())
def test_any_text_is_a_number_of_seconds_or_a_value_error(text: str) -> None:
    try:
        assert parse_duration_s(text) >= 0
    except ValueError as error:
        assert repr(text) in str(error)
