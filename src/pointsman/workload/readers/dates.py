"""Times as sites write them, in columns of text: dates of many kinds, and seconds, ms, µs or ns since 1970."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from pointsman.workload.readers.day_month import Order, day_month_s, order_of

_TIME: Final = r"(?<hour>[0-9]{1,2}):(?<minute>[0-9]{2})(?::(?<second>[0-9]{2})(?:[.,](?<part>[0-9]{1,9}))?)?"
_HALF: Final = r"(?:\s*(?<half>[AaPp])\.?[Mm]\.?)?"
_ZONE: Final = (
    r"\s*(?<zone>Z|z|UTC|GMT|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?(?: [A-Z]{3,4})?)?(?:\s*[\[(][\w/+ -]*[\])])?"
)
_DAY_NAME: Final = r"(?:[A-Za-z]{3,9},?\s+)?"
_MONTH: Final = r"(?<month>[A-Za-z]{3,9})\.?"
_FORMS: Final = (
    # 2026-03-02T08:00:11.5Z, 2026/03/02 08:00, 2026-03-02
    rf"^(?<year>[0-9]{{4}})[-/.](?<month>[0-9]{{1,2}})[-/.](?<day>[0-9]{{1,2}})(?:[T\s]\s*{_TIME}{_HALF}{_ZONE})?$",
    # 20260302T080011Z, 20260302080011
    r"^(?<year>(?:19|20)[0-9]{2})(?<month>[01][0-9])(?<day>[0-3][0-9])T?"
    rf"(?<hour>[0-2][0-9])(?<minute>[0-5][0-9])(?<second>[0-5][0-9]){_ZONE}$",
    # Mar  2 08:00:11 2026, Mon Mar  2 08:00:11 UTC 2026
    rf"^{_DAY_NAME}{_MONTH}\s+(?<day>[0-9]{{1,2}}),?\s+{_TIME}{_HALF}{_ZONE}\s+(?<year>[0-9]{{4}})$",
    # Mar 2, 2026 8:00 AM
    rf"^{_DAY_NAME}{_MONTH}\s+(?<day>[0-9]{{1,2}}),?\s+(?<year>[0-9]{{4}})(?:,?\s+(?:at\s+)?{_TIME}{_HALF}{_ZONE})?$",
    # Mon, 02 Mar 2026 08:00:11 +0000, 02-Mar-2026 08:00
    rf"^{_DAY_NAME}(?<day>[0-9]{{1,2}})[\s-]+{_MONTH}[\s-]+(?<year>[0-9]{{4}})(?:[\sT:,]+{_TIME}{_HALF}{_ZONE})?$",
)
"""Kinds of dates whose day and month cannot be confused; the first that fits counts."""
_QUICK: Final = (
    "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.fZ", "%Y-%m-%dT%H:%M:%S%.f%:z",
    "%Y-%m-%d %H:%M:%S%.f%:z", "%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%b %e %H:%M:%S %Y",
    "%a %b %e %H:%M:%S %Y",
)  # fmt: skip
"""Whole columns are mostly in one of these, which are read some ten times as fast."""
_NO_ZONE: Final = r"[+-](?:1[5-9]|[2-9][0-9]):[0-9]{2}$"
"""An offset that no zone has, and that such a form takes all the same."""
_PARTS: Final = ("year", "month", "day", "hour", "minute", "second", "part", "half", "zone")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), 1
    )
    for name in names.split()
}  # fmt: skip
_ONLY_DATE: Final = r"^[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}$"

EPOCH_UNITS: Final = ((1e17, "ns", 1e-9), (1e14, "µs", 1e-6), (1e11, "ms", 1e-3))
"""From which number on an epoch is in a unit, largest first, and the unit in seconds: before 1973 none is, and seconds
reach these numbers in the year 5138."""


@dataclass(frozen=True)
class Clocks:
    """Columns of times, read."""

    seconds: dict[str, pl.Series]
    """Float64, null where there is no time or none that can be read: seconds since 1970 of a date, in UTC where it
    names no zone; numbers in the unit of the log."""
    dated: bool
    """Whether any cell is a date."""
    notes: tuple[str, ...]


def read_clocks(
    columns: Mapping[str, pl.Series], *, unit_s: float | None = None, order: Order | None = None, path: str = ""
) -> Clocks:
    """The times in columns of text.

    Args:
        columns: text, null where the log says nothing.
        unit_s: of numbers; None: seconds, or, of a column whose median is an epoch in a smaller unit, that unit.
        order: of day and month in dates such as 03/02/2026, for a file that does not tell it.
        path: the file, for messages.

    Raises:
        InputError: the order of day and month matters and is not known.
    """
    numbers = {name: _numbers(cells) for name, cells in columns.items()}
    at = {name: (numbers[name].is_null() & cells.is_not_null()).arg_true() for name, cells in columns.items()}
    words = {name: cells[at[name]] for name, cells in columns.items()}
    dates = _dates(words, order, path)
    seconds = {
        name: (found * (unit_s or _epoch_unit(found)[1])).scatter(at[name], dates[name])
        for name, found in numbers.items()
    }
    dated = any(column.is_not_null().any() for column in dates.values())
    return Clocks(seconds, dated, (*([] if unit_s else _epoch_notes(numbers)), *_midnights(words)))


def _dates(words: Mapping[str, pl.Series], order: Order | None, path: str) -> dict[str, pl.Series]:
    """Seconds since 1970 of the texts that are dates."""
    found = {name: date_s(cells) for name, cells in words.items()}
    others = {name: (column.is_null()).arg_true() for name, column in found.items()}
    order = order or order_of(words[name][rows] for name, rows in others.items())
    return {
        name: column.scatter(others[name], day_month_s(words[name][others[name]], order, path))
        for name, column in found.items()
    }


def date_s(cells: pl.Series) -> pl.Series:
    """Seconds since 1970 of dates whose day and month cannot be confused; null for all other text."""
    found = _quick_s(cells)
    for form in _FORMS:
        at = (found.is_null() & cells.is_not_null()).arg_true()
        if at.is_empty():
            break
        found = found.scatter(at, _of_form(cells[at], form))
    return found


def _quick_s(cells: pl.Series) -> pl.Series:
    """Reads cells in the form of the first one, if that is a common form: seconds since 1970, null where one is in
    another.
    """
    first = cells.drop_nulls().head(1)
    for form in _QUICK:
        if first.str.to_datetime(form, strict=False).is_not_null().any():
            sound = cells.set(cells.str.contains(_NO_ZONE), None) if form.endswith("%:z") else cells
            return sound.str.to_datetime(form, strict=False).dt.epoch("us").cast(pl.Float64) / 1e6
    return pl.repeat(None, len(cells), dtype=pl.Float64, eager=True)


def _of_form(cells: pl.Series, form: str) -> pl.Series:
    groups = cells.str.extract_groups(form).struct.unnest()
    parts = groups.with_columns(pl.lit(None, pl.String).alias(name) for name in _PARTS if name not in groups.columns)
    month = pl.col("month").str.to_lowercase().replace(_MONTHS).cast(pl.Int64, strict=False)
    hour = pl.col("hour").cast(pl.Int64, strict=False).fill_null(0)
    half = pl.col("half").str.to_lowercase()
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * (half == "p").cast(pl.Int64))
    date = pl.format(
        "{}-{}-{}", *(part.cast(pl.String).str.zfill(2) for part in (pl.col("year"), month, pl.col("day")))
    )
    time = pl.format(
        "{}:{}:{}.{}",
        hour.cast(pl.String).str.zfill(2), pl.col("minute").fill_null("00"), pl.col("second").fill_null("00"),
        pl.col("part").fill_null("0"),
    )  # fmt: skip
    local = pl.format("{} {}", date, time).str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
    return parts.select(local.dt.epoch("us").cast(pl.Float64) / 1e6 - _offset_s()).to_series()


def _offset_s() -> pl.Expr:
    zone = pl.col("zone").str.replace(":", "", literal=True)
    sign = pl.when(zone.str.starts_with("-")).then(-1.0).otherwise(1.0)
    hours = zone.str.slice(1, 2).cast(pl.Float64, strict=False).fill_null(0.0)
    minutes = zone.str.slice(3, 2).cast(pl.Float64, strict=False).fill_null(0.0)
    return sign * (hours * 3600 + minutes * 60)


def _numbers(cells: pl.Series) -> pl.Series:
    """Float64; null of text, of numbers that are not finite, and of 20260302080011, which is a date."""
    found = cells.cast(pl.Float64, strict=False)
    compact = cells.str.contains(r"^(?:19|20)[0-9]{2}[01][0-9][0-3][0-9][0-2][0-9][0-5][0-9][0-5][0-9]$")
    frame = pl.DataFrame({"found": found, "compact": compact})
    return frame.select(pl.when(pl.col("found").is_finite() & ~pl.col("compact")).then("found")).to_series()


def _epoch_unit(numbers: pl.Series) -> tuple[str, float]:
    median = numbers.median() or 0.0
    return next(((unit, unit_s) for least, unit, unit_s in EPOCH_UNITS if median >= least), ("s", 1.0))  # ty: ignore[unsupported-operator]


def _epoch_notes(numbers: Mapping[str, pl.Series]) -> list[str]:
    units = {name: _epoch_unit(column)[0] for name, column in numbers.items()}
    small = {name: unit for name, unit in units.items() if unit != "s"}
    told = ", ".join(f"{name} in {unit}" for name, unit in small.items())
    return (
        [f"times are epochs of this size: {told}; durations are in seconds unless --time-unit says otherwise"]
        if small
        else []
    )


def _midnights(words: Mapping[str, pl.Series]) -> list[str]:
    count = sum(int(cells.str.contains(_ONLY_DATE).sum()) for cells in words.values())
    return [f"dates without a time of day count as 00:00: {count:,}"] if count else []
