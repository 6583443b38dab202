"""Dates with slashes or dots, ``03/02/2026 08:00:00``: whether the day or the month comes first."""

from collections.abc import Iterable
from typing import Final, Literal

import polars as pl

from pointsman.errors import InputError

Order = Literal["dmy", "mdy"]
"""Day, month, year; or month, day, year."""
ORDERS: Final = ("dmy", "mdy")
_FORM: Final = (
    r"^(?<first>\d{1,2})(?<mark>[/.])(?<second>\d{1,2})[/.](?<year>\d{4}|\d{2})[T ,]+"
    r"(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second_of>\d{2})(?:\.\d+)?)?\s*(?<half>[AaPp]\.?[Mm]\.?)?$"
)


def order_of(cells: Iterable[pl.Series]) -> Order | None:
    """What the dates in these columns of text tell of the order: some day above 12 does; None: nothing does.

    Dates with dots have the day first.
    """
    votes = set()
    for column in cells:
        parts = column.drop_nulls().unique().str.extract_groups(_FORM).struct.unnest().drop_nulls("first")
        first, second = parts["first"].cast(pl.Int64), parts["second"].cast(pl.Int64)
        votes |= {"dmy"} if ((first > 12) | (parts["mark"] == ".")).any() else set()
        votes |= {"mdy"} if (second > 12).any() else set()
    return votes.pop() if len(votes) == 1 else None


def day_month_s(cells: pl.Series, order: Order | None, path: str) -> pl.Series:
    """Seconds since 1970 (UTC) of the dates of this kind in text; null for other cells and for days that no month has.

    Raises:
        InputError: there are such dates, and the order is not known though it matters.
    """
    parts = cells.str.extract_groups(_FORM).struct.unnest()
    dates = parts["first"].is_not_null()
    if order is None and (dates & (parts["first"].cast(pl.Int64) != parts["second"].cast(pl.Int64))).any():
        at = int(dates.arg_max() or 0)
        cause = f"the file does not tell whether the day or the month comes first in {cells[at]!r:.40}"
        raise InputError(cause, path=path, fix="say --date-order dmy (day first) or --date-order mdy (month first)")
    day, month = ("second", "first") if order == "mdy" else ("first", "second")
    number = {name: pl.col(name).cast(pl.Int64, strict=False) for name in ("first", "second", "year", "hour", "minute")}
    year = pl.when(number["year"] < 100).then(number["year"] + 2000).otherwise(number["year"])
    half = pl.col("half").str.to_lowercase().str.slice(0, 1)
    hour = pl.when(half.is_null()).then(number["hour"]).otherwise(number["hour"] % 12 + 12 * (half == "p"))
    second = pl.col("second_of").cast(pl.Int64, strict=False).fill_null(0)
    written = pl.format(
        "{}-{}-{} {}:{}:{}",
        *(
            part.cast(pl.String).str.zfill(2)
            for part in (year, number[month], number[day], hour, number["minute"], second)
        ),
    )
    return parts.select(written.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False).dt.epoch("ms") / 1000.0).to_series()
