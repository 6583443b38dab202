"""Pointsman: a scheduler for deep-learning jobs on GPU clusters."""

import importlib
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "simulate": "pointsman.api",
    "Workload": "pointsman.workload",
    "read_workload": "pointsman.workload",
    "write_workload": "pointsman.workload",
    "Cluster": "pointsman.cluster",
    "load_cluster": "pointsman.cluster",
    "generate": "pointsman.workload",
    "summarise": "pointsman.report",
    "compare": "pointsman.report",
    "write_run": "pointsman.report",
    "read_run": "pointsman.report",
    "Result": "pointsman.engine.run.result",
}
__all__ = ["__version__", *_WHERE]


def __dir__() -> list[str]:
    """What there is to be asked for."""
    return __all__


def __getattr__(name: str) -> Any:
    """Load what is asked for, and no more: ``import pointsman`` is cheap."""
    if name not in _WHERE:
        raise AttributeError(f"module 'pointsman' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)
