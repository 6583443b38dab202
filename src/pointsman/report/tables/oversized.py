"""What tables say of jobs that were too wide for the cluster, under ``--oversized drop`` and ``clamp``."""

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.report.metrics.groups import Group, simulated
from pointsman.report.units import number_of_jobs
from pointsman.types import NARROWED, TOO_WIDE


def oversized(groups: Sequence[Group]) -> str:
    """How many jobs were left out or narrowed, under which policies if not under all; empty if none were."""
    under: dict[str, list[str]] = {}
    policies = simulated(groups)
    for group in policies:
        if said := _describe_treatment(group.first.result.info.get("quality") or {}):
            under.setdefault(said, []).append(group.label)
    told = [
        said if len(labels) == len(policies) else f"{said} under {', '.join(labels)}" for said, labels in under.items()
    ]
    return f"Too wide for the cluster or a queue: {'; '.join(told)}." if told else ""


def _describe_treatment(quality: Mapping[str, Any]) -> str:
    dropped, narrowed = (quality.get("dropped") or {}).get(TOO_WIDE), (quality.get("clamped") or {}).get(NARROWED)
    if dropped:
        return f"{number_of_jobs(dropped)} (left out)"
    return f"{number_of_jobs(narrowed)} (narrowed)" if narrowed else ""
