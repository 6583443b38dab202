"""The linear scorer: of the candidate placements of a gang the one of least cost, a weighted sum of six features."""

from typing import ClassVar

import numpy as np

from pointsman.policies.placers.candidates import weights as shipped
from pointsman.policies.placers.candidates.features import features_of, measure
from pointsman.policies.placers.candidates.neighbours import begin_decision
from pointsman.policies.placers.candidates.places import list_candidates, note_candidate
from pointsman.policies.placers.declared import IN_WHAT_ORDER, Order, PatientPlacer
from pointsman.policies.placers.filling import is_compact
from pointsman.policies.placers.interference import FORECASTS_BY
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.placers.waiting.patience import is_patient
from pointsman.policies.sdk import Int, Profile, State, cold, core, parameter, send_at_once, view_of

__all__ = ["Scorer", "decide", "on_event", "on_run"]


class Scorer(PatientPlacer):
    """The candidate placement of least cost: a weighted sum of its own slow-down, the harm to others, servers, racks,
    GPUs left over and broken sockets. A job waits a while for a place on the fewest nodes that could hold it.
    """

    name: ClassVar[str] = "scorer"
    hooks: ClassVar[str] = "pointsman.policies.placers.scorer"
    profiles: ClassVar[tuple[Profile, ...]] = ("places", "nodes")
    needs_rates: ClassVar[bool] = True
    source: ClassVar[str] = "ours (docs/papers/marl.md); weights: python -m benchmarks.marl.trainings"

    order: Order = parameter("sjf", IN_WHAT_ORDER)
    slow_down: float = parameter(shipped.SLOW_DOWN, "weight of 1 / rate - 1")
    harm: float = parameter(shipped.HARM, "weight of the delay of running jobs, over the job's own work")
    servers: float = parameter(shipped.SERVERS, "weight of servers beyond the first")
    racks: float = parameter(shipped.RACKS, "weight of racks beyond the first")
    gpus_left: float = parameter(shipped.GPUS_LEFT, "weight of the GPUs left over on its servers, in eighths")
    broken_sockets: float = parameter(shipped.BROKEN_SOCKETS, "weight of the CPU sockets broken, in quarters")
    interference: str | None = parameter(None, FORECASTS_BY)
    patience: float = parameter(
        shipped.PATIENCE, "maximum wait for a compact placement, as a share of the job's duration", ge=0
    )


params = view_of(Scorer)


@core
def _cost(S: State, i: Int) -> float:
    """Return the cost of candidate `i`: the weighted sum of its features."""
    P, F = params(S), features_of(S, i)
    speed = P.slow_down * F.slow_down + P.harm * F.harm
    return speed + P.servers * F.servers + P.racks * F.racks + P.gpus_left * F.left + P.broken_sockets * F.broken


@cold
def _note_cheapest(S: State, j: Int) -> None:
    """Note in State.place the candidate of job `j` of least cost, the first among equals; while it is patient, of the
    compact ones, of which there is one.
    """
    begin_decision(S)
    a = alternative_of(S, j)
    need = S.classes[S.jobs[j].cls].gpus
    best = np.int64(-1)
    least = np.inf
    for i in range(list_candidates(S, j, a)):
        note_candidate(S, j, a, np.int64(i))
        if is_patient(S, j) and not is_compact(S, a, need):
            continue
        measure(S, j, np.int64(i))
        own = _cost(S, np.int64(i))
        if best < 0 or own < least:
            best = np.int64(i)
            least = own
    note_candidate(S, j, a, best)


@core
def decide(S: State) -> None:
    """Start every job that fits and takes what is free, in order."""
    j = next_job(S)
    while j >= 0:
        _note_cheapest(S, j)
        start_there(S, j)
        send_at_once(S, j)
        j = next_job(S)
