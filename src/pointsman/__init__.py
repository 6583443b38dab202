"""Pointsman: a scheduler for deep-learning jobs on GPU clusters."""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names
from pointsman.version import __version__

if TYPE_CHECKING:
    from pointsman.api import simulate
    from pointsman.capacity.finding import find_capacity
    from pointsman.capacity.result import Capacity
    from pointsman.cluster import Cluster, load_cluster
    from pointsman.report import read_run, summarise, write_run
    from pointsman.report.result import Result
    from pointsman.sweeps import compare, sweep
    from pointsman.workload import Workload, generate, read_workload, scheduled, write_workload

__all__ = [
    "Capacity",
    "Cluster",
    "Result",
    "Workload",
    "__version__",
    "compare",
    "find_capacity",
    "generate",
    "load_cluster",
    "read_run",
    "read_workload",
    "scheduled",
    "simulate",
    "summarise",
    "sweep",
    "write_run",
    "write_workload",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Capacity": "capacity.result",
        "Cluster": "cluster",
        "Result": "report.result",
        "Workload": "workload",
        "compare": "sweeps",
        "find_capacity": "capacity.finding",
        "generate": "workload",
        "load_cluster": "cluster",
        "read_run": "report",
        "read_workload": "workload",
        "scheduled": "workload",
        "simulate": "api",
        "summarise": "report",
        "sweep": "sweeps",
        "write_run": "report",
        "write_workload": "workload",
    },
)
