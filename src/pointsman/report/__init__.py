"""Metrics, tables, figures, pages and run directories, made of results alone."""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names

if TYPE_CHECKING:
    from pointsman.report.comparison import Comparison, compare
    from pointsman.report.metrics.divergence import Divergence, first_divergence
    from pointsman.report.metrics.groups import Run, measure
    from pointsman.report.metrics.threshold import fail_if, parse_threshold
    from pointsman.report.run_reading import read_repeated, read_run, read_runs
    from pointsman.report.rundir import write_comparison, write_run
    from pointsman.report.staging import refuse_taken
    from pointsman.report.summary import summarise
    from pointsman.report.tables.tables import comparison_table, summary_table
    from pointsman.report.tables.waiting import waiting_tables

__all__ = [
    "Comparison",
    "Divergence",
    "Run",
    "compare",
    "comparison_table",
    "fail_if",
    "first_divergence",
    "measure",
    "parse_threshold",
    "read_repeated",
    "read_run",
    "read_runs",
    "refuse_taken",
    "summarise",
    "summary_table",
    "waiting_tables",
    "write_comparison",
    "write_run",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Comparison": "comparison",
        "Divergence": "metrics.divergence",
        "Run": "metrics.groups",
        "compare": "comparison",
        "comparison_table": "tables.tables",
        "fail_if": "metrics.threshold",
        "first_divergence": "metrics.divergence",
        "measure": "metrics.groups",
        "parse_threshold": "metrics.threshold",
        "read_repeated": "run_reading",
        "read_run": "run_reading",
        "read_runs": "run_reading",
        "refuse_taken": "staging",
        "summarise": "summary",
        "summary_table": "tables.tables",
        "waiting_tables": "tables.waiting",
        "write_comparison": "rundir",
        "write_run": "rundir",
    },
)
