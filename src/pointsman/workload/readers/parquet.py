"""Native job tables in Parquet."""

from pointsman.workload.readers.native import read_binary
from pointsman.workload.readers.sdk import TraceFormat

FORMAT = TraceFormat(
    "parquet",
    "native job table, Parquet",
    lambda source: source.is_parquet,
    read_binary,
    frozenset({"ignore"}),
)
