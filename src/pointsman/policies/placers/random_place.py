"""Random placement: what any choice of GPUs must beat."""

from typing import ClassVar

from pointsman.policies.parts.chance import note_random
from pointsman.policies.placers.declared import Placer, PlacerMemory
from pointsman.policies.placers.placer import alternative_of, next_job, on_event, on_run, start_there
from pointsman.policies.sdk import State, core, parameter, view_of

__all__ = ["RandomPlace", "decide", "on_event", "on_run"]


class RandomPlace(Placer):
    """Any free GPUs, each set of them as likely as any other."""

    name: ClassVar[str] = "random-place"
    hooks: ClassVar[str] = "pointsman.policies.placers.random_place"

    random_seed: int = parameter(0, "of the choices", ge=0)


params, memory = view_of(RandomPlace), view_of(PlacerMemory)


@core
def decide(S: State) -> None:
    """Start every job that fits, in order."""
    seed, draws = params(S).random_seed, memory(S).draws
    j = next_job(S)
    while j >= 0:
        C = S.classes[S.jobs[j].cls]
        if C.per_node == 0:
            draws.count += 1
            S.g[0].placed = 0
            note_random(S, alternative_of(S, j), C.gpus, seed, draws.count)
        start_there(S, j)
        j = next_job(S)
