"""Native job tables in Parquet."""

from pointsman.workload.formats import TraceFormat
from pointsman.workload.native import read_parquet

FORMAT = TraceFormat("parquet", "native job table, Parquet", lambda source: source.is_parquet, read_parquet)
