"""All that a trace format imports of Pointsman: what it is, its rows, its cells, and how they become a job table.

A format is a module with a `FORMAT`; ``docs/guides/add-a-trace-format.md`` shows one. Each name is documented where it
is defined.
"""

from pointsman.errors import InputError
from pointsman.inputs.messages import counted, quoted
from pointsman.sums import total
from pointsman.types import JOB_STEP
from pointsman.workload.columns import TIME_UNITS_S
from pointsman.workload.provenance import Quality
from pointsman.workload.readers.attempts import Attempt, Ran, ran
from pointsman.workload.readers.cells import absent, clock_s, number, status, text
from pointsman.workload.readers.gpu_demand import NO_SHARE, GpuDemand, demand_of, left_out
from pointsman.workload.readers.json_records import elements, json_records
from pointsman.workload.readers.rows import Rows, has_columns, read_rows, split_header, text_lines
from pointsman.workload.readers.slurm_cells import span_s
from pointsman.workload.readers.source import Source, open_source
from pointsman.workload.readers.trace_cleaning import settle
from pointsman.workload.readers.trace_format import TraceFormat
from pointsman.workload.rules.clean import LINE, not_read
from pointsman.workload.rules.job_rules import written

__all__ = [
    "JOB_STEP",
    "LINE",
    "NO_SHARE",
    "TIME_UNITS_S",
    "Attempt",
    "GpuDemand",
    "InputError",
    "Quality",
    "Ran",
    "Rows",
    "Source",
    "TraceFormat",
    "absent",
    "clock_s",
    "counted",
    "demand_of",
    "elements",
    "has_columns",
    "json_records",
    "left_out",
    "not_read",
    "number",
    "open_source",
    "quoted",
    "ran",
    "read_rows",
    "settle",
    "span_s",
    "split_header",
    "status",
    "text",
    "text_lines",
    "total",
    "written",
]
