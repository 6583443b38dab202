"""Native job tables in CSV."""

from pointsman.workload.formats import TraceFormat
from pointsman.workload.native import read_csv
from pointsman.workload.rows import split_header
from pointsman.workload.source import Source
from pointsman.workload.table import REQUIRED


def _matches(source: Source) -> bool:
    """Any two of the required columns: the third may be misspelt, and the reader says so."""
    return len(set(REQUIRED) & set(split_header(source))) >= 2


FORMAT = TraceFormat("csv", "native job table, CSV", _matches, read_csv)
