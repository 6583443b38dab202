"""Environments in which agents learn to schedule: ``pointsman/PickJob-v0`` and ``pointsman/PlaceJob-v0``, on the
compiled engine (``docs/guides/train-a-policy.md``). Neither needs PyTorch.
"""

import importlib
from typing import Any

_WHERE = {
    "PickJobEnv": "pick_job",
    "PlaceJobEnv": "place_job",
    "PickJobVectorEnv": "pick_job",
    "PlaceJobVectorEnv": "place_job",
    "Generated": "workloads",
    "Windows": "workloads",
    "Listed": "workloads",
    "AtOnce": "workloads",
    "Sampler": "workloads",
}
__all__ = [*_WHERE]


def __getattr__(name: str) -> Any:
    """Load what is asked for, and no more."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
