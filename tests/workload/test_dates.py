"""Times as sites write them."""

import polars as pl
import pytest

from pointsman.errors import InputError
from pointsman.workload.readers.dates import read_clocks

AT = 1772438400.0
"""2026-03-02 08:00 UTC."""


def seconds(cells: list[str | None], **options) -> list[float | None]:
    return read_clocks({"at": pl.Series(cells, dtype=pl.String)}, **options).seconds["at"].to_list()


@pytest.mark.parametrize(
    "cell",
    [
        "2026-03-02 08:00:00", "2026-03-02T08:00:00Z", "2026-03-02T08:00:00.000000+00:00", "2026-03-02 09:00:00 +0100",
        "2026-03-02T09:00:00+01:00[Europe/Berlin]", "2026-03-02 08:00:00 +0000 UTC", "2026/03/02 08:00",
        "2026.03.02 08:00:00", "2026-3-2 8:00", "20260302080000", "20260302T080000Z", "Mar  2 08:00:00 2026",
        "Mon Mar  2 08:00:00 2026", "Mon Mar  2 08:00:00 UTC 2026", "Mon, 02 Mar 2026 09:00:00 +0100",
        "2 March 2026 08:00", "02-Mar-2026 08:00", "Mar 2, 2026 8:00 AM", "02.03.2026 08:00", "1772438400",
        "1772438400.0",
    ],
)  # fmt: skip
def test_one_instant_in_many_words(cell: str) -> None:
    assert seconds([cell]) == [AT]
    assert seconds(["2027-01-01 00:00:00", cell])[1] == AT, "in a column of another kind"


@pytest.mark.parametrize(
    "cell", ["2 Mar 08:00", "Ystday 08:00", "2026-13-02 08:00", "2026-02-30 08:00", "soon", "08:00"]
)
def test_what_tells_no_instant(cell: str) -> None:
    assert seconds([cell]) == [None]


def test_fractions_afternoons_and_midnights() -> None:
    assert seconds(["2026-03-02 08:00:00.25", "Mar 2, 2026 8:00 PM", "Mar 2, 2026 12:30 AM", None]) == [
        AT + 0.25, AT + 12 * 3600, AT - 7.5 * 3600, None,
    ]  # fmt: skip
    read = read_clocks({"at": pl.Series(["2026-03-02", "2026-03-02 08:00:00"])})
    assert read.seconds["at"].to_list() == [AT - 8 * 3600, AT]
    assert read.notes == ("dates without a time of day count as 00:00: 1",)


@pytest.mark.parametrize(("digits", "unit"), [(3, "ms"), (6, "µs"), (9, "ns")])
def test_epochs_in_small_units(digits: int, unit: str) -> None:
    read = read_clocks({"at": pl.Series(["1772438400" + "0" * digits, "1772438401" + "0" * digits])})
    assert read.seconds["at"].to_list() == pytest.approx([AT, AT + 1])
    assert f"at in {unit}" in read.notes[0]
    assert not read.dated


def test_one_slip_does_not_change_the_unit_of_a_column() -> None:
    assert seconds(["1772438400", "1772438401", "1772438402000"])[2] == 1772438402000.0


def test_a_unit_that_is_told_is_that_of_all_numbers() -> None:
    assert seconds(["2", "3"], unit_s=60.0) == [120.0, 180.0]
    assert seconds(["1772438400000", "2026-03-02 08:00"], unit_s=0.001) == [AT, AT]


def test_the_order_of_day_and_month() -> None:
    day_first = read_clocks({"a": pl.Series(["03/02/2026 08:00"]), "b": pl.Series(["13/02/2026 08:00"])})
    assert day_first.seconds["a"].to_list() == [AT - 27 * 86400]
    assert seconds(["03/02/2026 08:00:00", "03/13/2026 08:00:00"]) == [AT, AT + 11 * 86400]
    assert seconds(["03/02/2026 08:00"], order="mdy") == [AT]
    with pytest.raises(InputError, match="--date-order"):
        seconds(["03/02/2026 08:00"])
