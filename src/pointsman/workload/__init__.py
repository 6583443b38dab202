"""What is to run: the job table, readers and writers of job logs, and the generator."""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names

if TYPE_CHECKING:
    from pointsman.workload.generator.generate import generate
    from pointsman.workload.provenance import Provenance, Quality
    from pointsman.workload.readers.read import read_workload
    from pointsman.workload.table import Workload
    from pointsman.workload.transforms.scheduled import scheduled
    from pointsman.workload.writers.write import write_workload

__all__ = ["Provenance", "Quality", "Workload", "generate", "read_workload", "scheduled", "write_workload"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Provenance": "provenance",
        "Quality": "provenance",
        "Workload": "table",
        "generate": "generator.generate",
        "read_workload": "readers.read",
        "scheduled": "transforms.scheduled",
        "write_workload": "writers.write",
    },
)
