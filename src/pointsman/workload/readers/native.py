"""Native job tables, CSV and Parquet: read strictly (`docs/formats/native.md`)."""

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.parquet_file import read_foreign_parquet
from pointsman.workload.provenance import Quality
from pointsman.workload.readers.rows import read_rows
from pointsman.workload.readers.source import Source
from pointsman.workload.rules.native_table import check_columns, validated


def read_csv(source: Source) -> tuple[pl.DataFrame, Quality]:
    """The job table of a native CSV file.

    Raises:
        InputError: with the line of the first cell that breaks a rule.
    """
    rows = read_rows(source)
    check_columns(rows.frame.columns, path=source.path)
    if rows.ragged:
        line, wanted = rows.ragged[0], len(rows.frame.columns)
        fix = "quote a cell that holds a comma, and leave no line blank"
        raise InputError(f"the row has not {wanted} cells as the header has", path=source.path, line=line, fix=fix)
    return validated(rows.frame, path=source.path, line=rows.line, text_numbers=True)


def read_parquet(source: Source) -> tuple[pl.DataFrame, Quality]:
    """The job table of a native Parquet file.

    Raises:
        InputError: a truncated or damaged file, or the first row that breaks a rule.
    """
    frame = read_foreign_parquet(source.data, path=source.path)
    return validated(frame, path=source.path)
