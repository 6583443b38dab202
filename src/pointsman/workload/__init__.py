"""What is to run: the job table, readers of job logs, and the generator (`pointsman.workload.generate`)."""

from importlib import import_module
from typing import Any

_HOMES = {
    "Workload": "table",
    "Quality": "table",
    "Provenance": "table",
    "read_workload": "read",
    "write_workload": "write",
}

__all__ = ["Provenance", "Quality", "Workload", "read_workload", "write_workload"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
