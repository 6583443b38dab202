"""A job picker and a GPU picker, in any combination: the baselines of TopDRL (``docs/papers/topdrl.md`` §7).

Waiting jobs stand in one index for each class. Drawn at random, a job's key is the last one drawn from its class plus
an exponential deviate: so the first of the class is any of it with equal chance, however long each has waited.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from pointsman.policies.parts.chance import Draws, hashed
from pointsman.policies.pickers.gpu_pickers import choose_gpus, enough
from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    PENDING,
    QUOTA,
    CompiledPolicy,
    Int,
    Knowledge,
    Record,
    State,
    before,
    block,
    blocked,
    close_queue,
    core,
    derived,
    enqueue,
    parameter,
    part,
    start_on,
    view_of,
)

PICKERS = ("fcfs", "sjf", "tetris", "drf", "random")
FCFS, SJF, TETRIS, DRF, RANDOM = range(len(PICKERS))


class PickMemory(Record):
    """What they keep."""

    draws = part(Draws, "of choices made by chance")


class _Picked(CompiledPolicy):
    hooks: ClassVar[str] = "pointsman.policies.pickers.pick_place"
    memory: ClassVar[type[Record]] = PickMemory
    placement: ClassVar[str] = "tightest"  # under which any free GPUs will do, too
    source: ClassVar[str] = "the job and GPU selectors of djjbxxz/Proximity-DRL (Deng et al., Canadian AI 2024)"

    gpus: Literal["nearest", "anchor", "first-available", "load-balance", "random"] = Field(
        default="nearest",
        description="GPUs are the closest to each other, those closest to the authors' anchor, of lowest index, of the "
        "rack and node with most free, or any",
        json_schema_extra={"unit": "", "source": "their code; nearest: ours, theirs generalised"},
    )
    random_seed: int = parameter(0, "random seed of choices", ge=0)

    @derived
    def job_picker(self) -> int:
        """One of `PICKERS`."""
        return SJF

    @derived
    def is_strict(self) -> bool:
        """Whether none starts if the next job does not fit."""
        return False


class PickPlace(_Picked):
    """A picker says which waiting job is next, another which free GPUs it gets, however scattered."""

    name: ClassVar[str] = "pick-place"
    needs: ClassVar[Knowledge] = "none"

    picker: Literal["fcfs", "tetris", "drf", "random"] = Field(
        default="fcfs",
        description="next is the first submitted, the one of most GPUs (tetris), of fewest (drf), or any",
        json_schema_extra={"unit": "", "source": "their code"},
    )
    strict: Literal["fcfs", "always", "never"] = Field(
        default="fcfs",
        description="if the next job does not fit, none starts: under fcfs only, always (as in their code), or never; "
        "else the next is picked from those that fit",
        json_schema_extra={"unit": "", "source": "ours: as an agent may choose"},
    )

    @field_validator("picker", mode="before")
    @classmethod
    def _knows_no_durations(cls, value: object) -> object:
        if value == "sjf":
            raise ValueError("the shortest job first requires durations: use the policy pick-place-sjf")
        return value

    @derived
    def job_picker(self) -> int:
        """One of `PICKERS`."""
        return PICKERS.index(self.picker)

    @derived
    def is_strict(self) -> bool:
        """Whether none starts if the next job does not fit."""
        return self.strict in ("always", self.picker)


class PickPlaceSjf(_Picked):
    """The shortest waiting job is next, a GPU picker says which free GPUs it gets, however scattered."""

    name: ClassVar[str] = "pick-place-sjf"
    needs: ClassVar[Knowledge] = "oracle"

    strict: Literal["always", "never"] = Field(
        default="never",
        description="if the shortest job does not fit, none starts (as in their code), or the shortest that does",
        json_schema_extra={"unit": "", "source": "ours: as an agent may choose"},
    )

    @derived
    def is_strict(self) -> bool:
        """Whether none starts if the next job does not fit."""
        return self.strict == "always"


params, memory = view_of(_Picked), view_of(PickMemory)


@core
def _exponential(S: State, row: Int) -> float:
    """A number drawn for the job of `row`, in whole 1/2**20, so that the last bit of a logarithm decides nothing."""
    uniform = (hashed(params(S).random_seed, memory(S).draws.count, row) + 0.5) / 4294967296.0
    return np.floor(-np.log(uniform) * 1048576.0) / 1048576.0


@core
def _key(S: State, j: Int) -> float:
    """The order of job `j` in its class."""
    picker = params(S).job_picker
    if picker == SJF:
        return S.jobs[j].estimate
    if picker == TETRIS:
        return -np.float64(S.jobs[j].asked)
    if picker == DRF:
        return np.float64(S.jobs[j].asked)
    if picker == RANDOM:
        return S.classes[S.jobs[j].cls].failed_key + _exponential(S, S.jobs[j].row)
    return 0.0


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, _key(S, j), np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """Nothing to know about running jobs."""


@core
def _may_be_picked(S: State, c: Int) -> bool:
    """Whether a job of class `c` may be next in this pass."""
    if blocked(S, c):
        return False
    if not params(S).is_strict and not enough(S, c):
        block(S, c)
        return False
    return True


@core
def _is_drawn(S: State, c: Int, many: Int) -> bool:
    """Whether class `c`, the last of those with `many` jobs together, is drawn from them."""
    drawn = hashed(params(S).random_seed, memory(S).draws.count, c)
    return bool(drawn * many < S.buckets[c].count << 32)


@core
def _pick(S: State) -> Int:
    """The job that is next; -1 if none may be."""
    best = np.int64(-1)
    many = np.int64(0)
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        if _may_be_picked(S, c):
            j = S.buckets[c].first
            if best < 0 or S.jobs[j].neg_priority < S.jobs[best].neg_priority:
                best = j
                many = S.buckets[c].count
            elif S.jobs[j].neg_priority == S.jobs[best].neg_priority:
                many += S.buckets[c].count
                if _is_drawn(S, c, many) if params(S).job_picker == RANDOM else before(S, j, best):
                    best = j
    return best


@core
def decide(S: State) -> None:
    """Start picked jobs until none is left, or one does not fit."""
    P, draws = params(S), memory(S).draws
    draws.seed = P.random_seed
    while S.g[0].free > 0:
        draws.count += 1
        j = _pick(S)
        if j < 0 or not choose_gpus(S, j, P.gpus, draws):
            return
        c = S.jobs[j].cls
        key = S.jobs[j].key
        answer = start_on(S, j, OK)
        if answer == QUOTA:
            close_queue(S, j)
        elif answer != OK:
            block(S, c)
        elif params(S).job_picker == RANDOM:
            S.classes[c].failed_key = key
