"""A frame with typed columns as a frame of text: cells as a CSV file would have them."""

from typing import Final

import polars as pl

_WHOLE: Final = float(1 << 53)
"""From here on a float64 does not know every whole number."""


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with text in every column; the fields of a struct `a` become the columns `a.b`.

    Times are ISO 8601, with `+00:00` where the column has a zone; durations are seconds; lists are joined by commas.
    """
    flat = _flat(frame)
    return pl.DataFrame({name: _text(flat[name]) for name in flat.columns})


def lengths(frame: pl.DataFrame, column: str) -> pl.Series | None:
    """The length of each list in a column of lists, as text; None of another column."""
    flat = _flat(frame)
    if column not in flat.columns or not isinstance(flat.schema[column], pl.List | pl.Array):
        return None
    cells = flat[column]
    return (cells.list.len() if isinstance(cells.dtype, pl.List) else cells.arr.len()).cast(pl.String)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    structs = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Struct)]
    while structs:
        for name in structs:
            fields = frame[name].struct.unnest().rename(lambda field, name=name: f"{name}.{field}")
            frame = frame.drop(name).hstack(fields)
        structs = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Struct)]
    return frame


def _text(cells: pl.Series) -> pl.Series:
    kind = cells.dtype
    if isinstance(kind, pl.Datetime):
        moments = cells.dt.convert_time_zone("UTC") if kind.time_zone else cells
        return moments.dt.strftime("%Y-%m-%d %H:%M:%S%.f" + ("+00:00" if kind.time_zone else ""))
    if kind == pl.Duration:
        return (cells.dt.total_nanoseconds().cast(pl.Float64) / 1e9).cast(pl.String)
    if isinstance(kind, pl.List | pl.Array):
        lists = cells if isinstance(kind, pl.List) else cells.arr.to_list()
        return lists.list.eval(pl.element().map_batches(_text, pl.String)).list.join(",")
    if (
        kind.is_float()
        and (cells.is_null() | cells.is_nan() | ((cells == cells.floor()) & (cells.abs() < _WHOLE))).all()
    ):
        return (
            cells.fill_nan(None).cast(pl.Int64).cast(pl.String)
        )  # whole numbers beside empty cells, as pandas has them
    return _plain(cells)


def _plain(cells: pl.Series) -> pl.Series:
    try:
        return cells.cast(pl.String)
    except pl.exceptions.PolarsError:  # bytes that are not UTF-8, objects
        return pl.Series(cells.name, [None if cell is None else str(cell) for cell in cells], pl.String)
