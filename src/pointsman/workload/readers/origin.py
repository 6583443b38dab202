"""What a written Parquet table remembers of the log it was made from: its provenance and its quality report."""

import json
from dataclasses import dataclass, replace
from typing import Final

from pointsman.errors import InputError
from pointsman.inputs.messages import counted
from pointsman.workload.provenance import Provenance, Quality
from pointsman.workload.readers.source import Source
from pointsman.workload.table import Workload

KEY: Final = "pointsman"
"""The key of the record, JSON, in the Parquet file's metadata."""


@dataclass(frozen=True)
class _Record:
    provenance: Provenance
    quality: Quality


def remembered(workload: Workload) -> dict[str, str]:
    """Metadata for the Parquet file that `workload` is written to."""
    record = {"provenance": workload.provenance.as_dict(), "quality": workload.quality.as_dict()}
    return {KEY: json.dumps(record, ensure_ascii=False)}


def recalled(source: Source, quality: Quality) -> tuple[Quality, Provenance | None]:
    """The quality report from the first log on, and where the table came from; `quality` is of reading the table.

    Raises:
        InputError: the record is damaged.
    """
    record = _record(source)
    if record is None:
        return quality, None
    first = record.quality
    if first.kept != quality.rows_read:
        held = counted(first.kept, "job")
        note = f"the table was changed since {record.provenance} was written to it: it held {held} then"
        return replace(quality, notes=(*quality.notes, note)), record.provenance
    dropped = {
        what: first.dropped.get(what, 0) + quality.dropped.get(what, 0) for what in first.dropped | quality.dropped
    }
    whole = replace(first, kept=quality.kept, dropped=dropped, notes=(*first.notes, *quality.notes))
    return whole, record.provenance


def _record(source: Source) -> _Record | None:
    import io

    import polars as pl
    from pydantic import TypeAdapter, ValidationError

    text = pl.read_parquet_metadata(io.BytesIO(source.data)).get(KEY)
    if text is None:
        return None
    try:
        return TypeAdapter(_Record).validate_json(text)
    except ValidationError:
        cause = f"the record of its origin (metadata {KEY!r}) is damaged"
        raise InputError(cause, path=source.path, fix="write the file again") from None
