"""A policy of one's own: the smallest gang first, but whoever has waited an hour goes before all others."""

from pointsman.types import Reason


class MyPolicy:
    """Small gangs are quick to place and quick to please; patience keeps the large ones from starving."""

    name = "smallest-first"
    needs = "none"

    def __init__(self, patience_s: float = 3600.0) -> None:
        self.patience_s = patience_s

    def decide(self, view) -> None:
        """Start whoever fits, best first, until nobody does."""
        while heads := view.heads():  # of each kind of demand that fits, the first waiting job
            if view.start(min(heads, key=lambda job: self.rank(view, job))) != Reason.OK:
                return

    def rank(self, view, job: int) -> tuple[bool, int]:
        record = view.jobs[job]
        patient = view.now_ms - record["submit"] < 1000 * self.patience_s
        return bool(patient), int(record["asked"] if patient else record["submit"])
