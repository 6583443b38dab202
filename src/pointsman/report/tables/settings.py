"""Settings of a run in words."""

from collections.abc import Sequence
from typing import Any

from pointsman.engine.setup.overheads import PERIODIC, REALISTIC, SWITCH
from pointsman.report.metrics.groups import Group
from pointsman.report.units import NOTHING, duration, percent

CHECKPOINT, LOST = "checkpoint_every_s", "lost_s"


def overheads_of(groups: Sequence[Group]) -> str:
    """What starting, stopping and restoring cost in these runs."""
    said = {
        overheads_name(group.first.result.info.get("overheads")): group.label for group in groups if not group.is_logged
    }
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{label}: {words}" for words, label in said.items()) or NOTHING


def overheads_name(overheads: Any) -> str:
    """The name of these overheads, or what they are, with what becomes of a preempted job's work."""
    if not isinstance(overheads, dict):
        return setting(overheads)
    if not any(overheads.values()):
        return "none"
    names = {"realistic": REALISTIC.stated(), "periodic": PERIODIC.stated()}
    name = next((name for name, stated in names.items() if stated == overheads), None)
    costs = {key: cost for key, cost in overheads.items() if key not in (SWITCH, LOST)}
    return f"{name or setting(costs)} (a preempted job {_becomes(overheads)})"


def _becomes(overheads: dict[str, Any]) -> str:
    """What happens to the work of a job that is preempted."""
    lost_s = overheads.get(LOST, 0.0)
    more = f"{duration(lost_s)} of work" if lost_s else ""
    if overheads.get(SWITCH):
        since = f"its work since the last checkpoint, one every {duration(overheads[CHECKPOINT])}"
        return f"loses {since}" + (f", and {more}" if more else "")
    return f"loses {more}" if more else "writes a checkpoint first"


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
