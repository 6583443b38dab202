"""What is to run: the job table, readers and writers of job logs, and the generator."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pointsman.workload.generator.generate import generate
    from pointsman.workload.provenance import Provenance, Quality
    from pointsman.workload.readers.read import read_workload
    from pointsman.workload.table import Workload
    from pointsman.workload.writers.write import write_workload

_HOMES = {
    "Workload": "table",
    "Quality": "provenance",
    "Provenance": "provenance",
    "generate": "generator.generate",
    "read_workload": "readers.read",
    "write_workload": "writers.write",
}

__all__ = ["Provenance", "Quality", "Workload", "generate", "read_workload", "write_workload"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
