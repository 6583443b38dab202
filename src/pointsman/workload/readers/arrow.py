"""Native job tables in Arrow IPC, as a file or a stream."""

from pointsman.workload.readers.native import read_binary
from pointsman.workload.readers.sdk import TraceFormat

FORMAT = TraceFormat(
    "arrow",
    "native job table, Arrow IPC",
    lambda source: source.is_binary_table and not source.is_parquet,
    read_binary,
    frozenset({"ignore"}),
)
