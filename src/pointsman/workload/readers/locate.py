"""Where a job stands in the file it was read from, for an error that comes long after reading."""

import re

from pointsman.errors import InputError
from pointsman.workload.provenance import Provenance
from pointsman.workload.readers.rows import read_rows
from pointsman.workload.readers.source import Source, open_source


def line_of(provenance: Provenance, job_id: str) -> int | None:
    """The line of job `job_id`, found by reading the file again; None if it cannot be told (standard input, Parquet,
    a nested file, one that has changed).
    """
    if not provenance.sha256 or provenance.source == "-":
        return None
    try:
        source = open_source(provenance.source)
        if source.sha256 != provenance.sha256 or source.is_binary_table:
            return None
        return _native(source, job_id) if provenance.format == "csv" else _first_word(source, job_id)
    except InputError:
        return None


def _native(source: Source, job_id: str) -> int | None:
    rows = read_rows(source)
    row = rows.frame["job_id"].index_of(job_id) if "job_id" in rows.frame.columns else int(job_id)
    return None if row is None else rows.line(row)


def _first_word(source: Source, job_id: str) -> int | None:
    """The only line that begins with the id, as most logs have it."""
    found = re.finditer(rf"^[ \t\"]*{re.escape(job_id)}(?=[\s,|;\"])", source.text, re.MULTILINE)
    lines = [source.text.count("\n", 0, match.start()) + 1 for match, _ in zip(found, range(2), strict=False)]
    return lines[0] if len(lines) == 1 else None
