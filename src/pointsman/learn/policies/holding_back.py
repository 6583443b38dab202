"""What ``explain`` says of a job that fits and is left waiting for a better place."""

from typing import TYPE_CHECKING

from pointsman.policies.placers.declared import WhileWaiting
from pointsman.types import Reason

if TYPE_CHECKING:
    from pointsman.policies.sdk import View


def held_back(view: "View", job: int, by: str) -> tuple[Reason, str] | None:
    """Until when `by` lets it wait (as of `learn.environments.compiled.gangs`); None if it does not."""
    again_ms = int(WhileWaiting(view.jobs[job]).again_ms)
    if again_ms <= view.now_ms:
        return None
    until = f"until {again_ms / 1000:g} s, or until it could be placed compactly"
    return Reason.HeldByDelay, f"it would fit, but {by} lets it wait {until}"
