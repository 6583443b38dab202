"""A table of any kind as rows of text: delimited, Parquet, Arrow, or objects in JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.binary_table import read_foreign_table
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.workload.readers.json_records import cell_of, is_json, json_records, value_at
from pointsman.workload.readers.rows import Rows, read_rows, split_header
from pointsman.workload.readers.source import Source
from pointsman.workload.readers.typed_text import as_text, lengths

DELIMITERS: Final = (",", "|", ";", "\t")


@dataclass(frozen=True)
class Table:
    """Rows with the columns that were asked for."""

    rows: Rows
    no_objects: pl.Series | None = None
    """Where a row is an element of a JSON list that is no object."""


def read_table(source: Source, columns: Sequence[str], counted: Sequence[str] = ()) -> Table:
    """The rows of a table with at least `columns`, as text.

    Args:
        source: the file.
        columns: those that are wanted; keys within keys of JSON, and fields of structs, with dots between.
        counted: those of them in whose cells the length of a list counts, not what is in it.

    Raises:
        InputError: a column is missing, or the file is damaged.
    """
    if source.is_binary_table:
        return Table(_binary(source, columns, counted))
    if is_json(source):
        return _json(source, columns, counted)
    delimiter = _delimiter(source)
    _check(source, columns, split_header(source, delimiter))
    return Table(read_rows(source, delimiter=delimiter))


def _binary(source: Source, columns: Sequence[str], counted: Sequence[str]) -> Rows:
    typed = read_foreign_table(source.data, path=source.path)
    frame = as_text(typed)
    _check(source, columns, frame.columns)
    sizes = {name: found for name in counted if (found := lengths(typed, name)) is not None}
    return Rows(frame.with_columns(**sizes), first_line=1)


def _json(source: Source, columns: Sequence[str], counted: Sequence[str]) -> Table:
    lines: list[int] = []
    cells: dict[str, list[str | None]] = {name: [] for name in columns}
    sound: list[bool] = []
    keys: dict[str, None] = {}
    for line, record in json_records(source):
        lines.append(line)
        sound.append(isinstance(record, dict))
        held = record if isinstance(record, dict) else {}
        keys.update(dict.fromkeys(held))
        for name, found in cells.items():
            found.append(_cell(value_at(held, name), name in counted))
    _check(source, [name for name, found in cells.items() if all(cell is None for cell in found)], list(keys))
    others = {name: pl.Series([None] * len(lines), dtype=pl.String) for name in keys if name not in _tops(columns)}
    frame = pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String)).with_columns(**others)
    rows = Rows(frame, lines) if any(lines) else Rows(frame, first_line=1)
    return Table(rows, ~pl.Series(sound, dtype=pl.Boolean))


def _cell(value: Any, is_count: bool) -> str | None:
    return str(len(value)) if is_count and isinstance(value, list) else cell_of(value)


def _tops(columns: Iterable[str]) -> set[str]:
    """The keys under which columns are found."""
    return {name[:end] for name in columns for end in (*(at for at, c in enumerate(name) if c == "."), len(name))}


def _delimiter(source: Source) -> str:
    return max(DELIMITERS, key=lambda delimiter: len(split_header(source, delimiter)))


def _check(source: Source, columns: Sequence[str], known: Sequence[str]) -> None:
    for name in columns:
        if name not in known:
            fix = did_you_mean(name, known)
            raise InputError(f"there is no column {name!r:.60}", path=source.path, line=1, fix=fix)
