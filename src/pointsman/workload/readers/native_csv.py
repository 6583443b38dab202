"""Native job tables in CSV."""

from pointsman.workload.columns import REQUIRED
from pointsman.workload.readers.native import read_csv
from pointsman.workload.readers.sdk import Source, TraceFormat, split_header


def _matches(source: Source) -> bool:
    """Any two of the required columns: the third may be misspelt, and the reader says so."""
    return len(set(REQUIRED) & set(split_header(source))) >= 2


FORMAT = TraceFormat("csv", "native job table, CSV", _matches, read_csv, frozenset({"ignore"}))
