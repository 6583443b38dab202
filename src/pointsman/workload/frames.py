"""Tables of pandas, pyarrow, polars and others as polars frames, and back.

They come through Arrow's PyCapsule interface (``__arrow_c_stream__``), so none of these packages is needed or imported
here. Only pandas without pyarrow has no such stream, and is copied column by column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol, runtime_checkable

import polars as pl

from pointsman.errors import InputError, UsageError
from pointsman.inputs.messages import described, quoted
from pointsman.types import DEADLINE

TIMES: Final = ("submit_s", "start_s", "end_s", DEADLINE)
"""Columns that may hold dates; they count from one origin."""
LENGTHS: Final = ("duration_s", "time_limit_s")
"""Columns that may hold time spans."""
_INDEX: Final = "__index_level_"
"""What Arrow calls the index of a pandas DataFrame without a name, which is no column."""


@runtime_checkable
class ArrowStream(Protocol):
    """A table that exports itself through Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """An Arrow C stream of the rows."""


@dataclass(frozen=True)
class _Stream:
    """A table as nothing but its stream, for polars reads some tables, such as those of pandas, in ways of its own."""

    table: ArrowStream

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


Table = ArrowStream | Mapping[str, Any]
"""What `Workload.of` reads: a DataFrame or a table of any kind, or columns by name."""


def is_table(given: object) -> bool:
    """Whether `frame_of` reads it."""
    if isinstance(given, type):
        return False
    return isinstance(given, ArrowStream | Mapping | pl.LazyFrame) or _is_pandas(given)


def frame_of(table: Any, *, path: str) -> pl.DataFrame:
    """The table as a polars frame, its values as they are; `path` is what messages call it.

    Raises:
        UsageError: it is no table. InputError: a column holds values of several types.
    """
    if isinstance(table, pl.DataFrame | pl.LazyFrame):
        return table.lazy().collect()
    if not is_table(table):
        raise UsageError(
            f"Workload.of takes a DataFrame or an Arrow table with the columns submit_s, gpus and duration_s, not "
            f"{described(table)}; a file is read by pointsman.read_workload(path)"
        )
    try:
        frame = _read(table)
    except Exception as error:  # of Arrow, which need not be installed, or of polars
        said = "; ".join(map(str, error.args)) or type(error).__name__
        fix = "give each column one name and values of one type"
        raise InputError(f"the table cannot be read: {said}", path=path, fix=fix) from error
    return frame.select(name for name in frame.columns if not name.startswith(_INDEX))


def _read(table: Any) -> pl.DataFrame:
    if isinstance(table, Mapping):
        return pl.DataFrame(table)
    if isinstance(table, ArrowStream):
        try:
            return pl.DataFrame(_Stream(table))
        except ImportError:  # pandas exports itself through pyarrow
            if not _is_pandas(table):
                raise
    cells = {str(name): table[name].astype(object) for name in table.columns}
    return pl.DataFrame({name: column.where(column.notna(), None).tolist() for name, column in cells.items()})


def _is_pandas(table: object) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns")


def in_seconds(frame: pl.DataFrame, *, path: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The frame with dates as seconds since 1970 and time spans as seconds, and a note if there are dates.

    Raises:
        InputError: some of the `TIMES` are dates and others numbers, or only some have a time zone.
    """
    given = {name: frame.schema[name] for name in (*TIMES, *LENGTHS) if name in frame.columns}
    spans = [pl.col(name).dt.total_microseconds() / 1e6 for name, dtype in given.items() if dtype == pl.Duration]
    origins = {name: _origin(given[name]) for name in TIMES if name in given and given[name] != pl.Null}
    for name, origin in origins.items():
        if origin != origins.get("submit_s", origin):
            fix = "give all times as numbers, or all as dates, with time zones or without"
            raise InputError(f"submit_s holds {origins['submit_s']}, {name} {origin}", path=path, fix=fix)
    dated = [name for name, origin in origins.items() if origin != "numbers"]
    dates = [pl.col(name).cast(pl.Datetime("us", _zone(given[name]))).dt.epoch("us") / 1e6 for name in dated]
    note = (f"dates are seconds since 1970 in UTC: {', '.join(dated)}",) if dated else ()
    return frame.with_columns(*spans, *dates), note


def _origin(dtype: pl.DataType) -> str:
    if dtype not in (pl.Date, pl.Datetime):
        return "numbers"
    return "dates with a time zone" if _zone(dtype) else "dates without a time zone"


def _zone(dtype: pl.DataType) -> str | None:
    return getattr(dtype, "time_zone", None)


def renaming(table: object, names: Mapping[str, str]) -> str:
    """The call that renames columns of a table: ``df.rename(columns={'Submit': 'submit_s'})``."""
    told = ", ".join(f"{quoted(theirs)}: {ours!r}" for theirs, ours in names.items())
    if _is_pandas(table):
        return f"df.rename(columns={{{told}}})"
    return f"df.rename({{{told}}})" if hasattr(table, "rename") else f"table.rename_columns({{{told}}})"


def as_pandas(frame: pl.DataFrame) -> Any:
    """The frame as a pandas DataFrame, without pyarrow; whole numbers with gaps are floats there.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise UsageError("pandas is not installed: pip install pandas") from None
    return pandas.DataFrame({column.name: column.to_numpy() for column in frame})
