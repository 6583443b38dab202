"""Times as `sacct` writes them: ISO dates, what ``SLURM_TIME_FORMAT`` makes of them, seconds since 1970."""

from typing import Final

import polars as pl

from pointsman.workload.readers.cells import number, text
from pointsman.workload.readers.dates import date_s
from pointsman.workload.readers.day_month import Order, day_month_s, order_of

CLOCKS: Final = ("Submit", "Eligible", "Start", "End")
_EPOCH_S: Final = (1e8, 1e10)
"""Seconds since 1970 of the years 1973 to 2286; Slurm writes 0 where there is no time yet."""

_INSTANT: Final = r"^\s*[0-9]{9,13}(?:\.[0-9]+)?\s*$|:[0-9]{2}(?:\.[0-9]+)?\s*(?:Z|[+-][0-9]{2}:?[0-9]{2})\s*$"
"""A time that is the same everywhere: seconds or milliseconds since 1970, or a date with its zone."""


def zone_of(times: pl.Series) -> str:
    """The zone of these cells, as a note says it."""
    if times.filter(times.str.contains("[0-9]")).str.contains(_INSTANT).all():
        return "UTC; times count from 1970 or name their zone"
    return "the site's local time, which sacct does not name; read as one clock (UTC)"


def clocks(log: pl.DataFrame, order: Order | None, path: str) -> pl.DataFrame:
    """The columns `CLOCKS` of text in seconds since 1970; null where there is no time, or none that can be read.

    Raises:
        InputError: the order of day and month is not told by the file, nor by `order`.
    """
    quick = {name: log[name].str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False) for name in CLOCKS}
    slow = {name: log.filter(quick[name].is_null()).select(text(name)).to_series().drop_nulls() for name in CLOCKS}
    order = order or order_of(slow.values())
    read = {name: _of_unusual(cells, order, path) for name, cells in slow.items()}
    return pl.DataFrame({name: _clock(log[name], quick[name], read[name]) for name in CLOCKS})


def _clock(cells: pl.Series, quick: pl.Series, unusual: pl.DataFrame) -> pl.Series:
    seconds = quick.dt.epoch("s").cast(pl.Float64)
    if unusual.is_empty():
        return seconds
    return seconds.fill_null(cells.str.strip_chars().replace_strict(unusual["cell"], unusual["s"], default=None))


def _of_unusual(cells: pl.Series, order: Order | None, path: str) -> pl.DataFrame:
    """What each cell is that is not written as Slurm does by default."""
    if cells.is_empty():  # most often: the expressions below take longer to build than a small file to read
        return pl.DataFrame(schema={"cell": pl.String, "s": pl.Float64})
    frame = pl.DataFrame({"cell": cells.unique(maintain_order=True)})
    slashed = day_month_s(frame["cell"], order, path)
    epoch = pl.when(number("cell").is_between(*_EPOCH_S)).then(number("cell"))
    milliseconds = pl.when((number("cell") / 1000).is_between(*_EPOCH_S)).then(number("cell") / 1000)
    return frame.select("cell", s=pl.coalesce(date_s(frame["cell"]), epoch, milliseconds, slashed)).drop_nulls()
