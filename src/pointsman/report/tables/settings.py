"""Settings of a run in words."""

from collections.abc import Sequence
from typing import Any

from pointsman.engine.setup.overheads import PERIODIC, REALISTIC, SWITCH
from pointsman.report.metrics.groups import Group
from pointsman.report.units import NOTHING, duration, percent

CHECKPOINT = "checkpoint_every_s"


def overheads_of(groups: Sequence[Group]) -> str:
    """What starting, stopping and restoring cost in these runs."""
    said = {named(group.first.result.info.get("overheads")): group.label for group in groups if not group.is_logged}
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{label}: {words}" for words, label in said.items()) or NOTHING


def named(overheads: Any) -> str:
    """The name of these overheads, with what becomes of a preempted job's work, or what they are."""
    if overheads == REALISTIC.stated():
        return "realistic (a preempted job writes a checkpoint first)"
    if overheads == PERIODIC.stated():
        return "periodic (a preempted job loses its work since the last checkpoint, one every 30 min)"
    return "none" if isinstance(overheads, dict) and not any(overheads.values()) else setting(overheads)


def setting(value: Any) -> str:
    """A name, or the costs of a run that are not 0; a log states none."""
    if not isinstance(value, dict):
        return NOTHING if value is None else str(value)
    return (
        ", ".join(_cost(name, cost) for name, cost in value.items() if cost)
        or "none (starting, stopping and restoring are free)"
    )


def _cost(name: str, cost: float) -> str:
    """``checkpoint every 30 min`` of ``checkpoint_every_s: 1800``."""
    if name == SWITCH:
        return "a preempted job loses its work since the last checkpoint"
    words = name.removesuffix("_s").replace("_", " ")
    why = " against node failures" if name == CHECKPOINT else ""
    return f"{words} {duration(cost) if name.endswith('_s') else percent(cost)}{why}"
