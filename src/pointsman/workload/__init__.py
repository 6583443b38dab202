"""What is to run: the job table, readers and writers of job logs, and the generator."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pointsman.workload.generator.generate import generate
    from pointsman.workload.read import read_workload
    from pointsman.workload.table import Provenance, Quality, Workload
    from pointsman.workload.write import write_workload

_HOMES = {
    "Workload": "table",
    "Quality": "table",
    "Provenance": "table",
    "generate": "generator.generate",
    "read_workload": "read",
    "write_workload": "write",
}

__all__ = ["Provenance", "Quality", "Workload", "generate", "read_workload", "write_workload"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
