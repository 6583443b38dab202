"""Native job tables, CSV and Parquet: read strictly (`docs/formats/native.md`)."""

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.binary_table import read_foreign_table
from pointsman.workload.provenance import Quality
from pointsman.workload.readers.row_count import check_count
from pointsman.workload.readers.rows import read_rows
from pointsman.workload.readers.source import Source
from pointsman.workload.rules.native_table import check_columns, validated


def read_csv(source: Source, ignore: Sequence[str] = ()) -> tuple[pl.DataFrame, Quality]:
    """The job table of a native CSV file; the columns `ignore` may break any rule.

    Raises:
        InputError: with the line of the first cell that breaks a rule.
    """
    rows = read_rows(source)
    check_columns(rows.frame.columns, path=source.path, keep=source.keep)
    if source.replaced:
        raise source.no_text(source.broken[1])
    if rows.broken_quotes:
        fix = "is a quote left open? one that belongs to a cell is doubled"
        raise InputError("broken quoting", path=source.path, line=rows.broken_quotes[0], fix=fix)
    if rows.ragged:
        line, width = rows.ragged[0], len(rows.frame.columns)
        fix = "quote a cell that holds a comma, and leave no line blank"
        raise InputError(f"the row has not {width} cells as the header has", path=source.path, line=line, fix=fix)
    wanted = rows.frame.drop(ignore, strict=False)
    jobs, quality = validated(wanted, path=source.path, line=rows.line, text_numbers=True, keep=source.keep)
    check_count(replace(quality, rows_read=rows.counted_apart(source) or 0))
    return jobs, quality


def read_binary(source: Source, ignore: Sequence[str] = ()) -> tuple[pl.DataFrame, Quality]:
    """The job table of a native Parquet or Arrow file; the columns `ignore` may break any rule.

    Raises:
        InputError: a truncated or damaged file, or the first row that breaks a rule.
    """
    frame = read_foreign_table(source.data, path=source.path).drop(ignore, strict=False)
    jobs, quality = validated(frame, path=source.path, keep=source.keep)
    if source.is_parquet:
        count = pl.scan_parquet(BytesIO(source.data)).select(pl.len()).collect().item()
        check_count(replace(quality, rows_read=count))
    return jobs, quality
