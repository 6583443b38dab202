"""Packed with patience: a gang that would be scattered waits a while for a compact place."""

from typing import ClassVar

from pointsman.policies.placers.declared import PatientPlacer
from pointsman.policies.placers.filling import clear_scores, note_compact, note_packed
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.sdk import State, core, parameter

__all__ = ["PackedPatience", "decide", "on_event", "on_run"]


class PackedPatience(PatientPlacer):
    """As packed, but a job waits a while for a place on the fewest nodes that could hold it, in one rack if a rack
    could; other jobs may overtake it.
    """

    name: ClassVar[str] = "packed-patience"
    hooks: ClassVar[str] = "pointsman.policies.placers.packed_patience"
    source: ClassVar[str] = "ours (docs/papers/marl.md)"

    patience: float = parameter(0.5, "maximum wait for a compact placement, as a share of the job's duration", ge=0)


@core
def decide(S: State) -> None:
    """Start every job that fits and takes what is free, in order."""
    j = next_job(S)
    while j >= 0:
        a = alternative_of(S, j)
        need = S.classes[S.jobs[j].cls].gpus
        clear_scores(S)
        if not note_compact(S, a, need):
            note_packed(S, a, need)
        start_there(S, j)
        j = next_job(S)
