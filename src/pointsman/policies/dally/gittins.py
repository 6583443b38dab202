"""`gittins`: the job goes next that is most likely to end soon for the GPU time that this takes.

It learns how long jobs last from those that have ended (`hazards`), and ranks a job by its Gittins index times its
GPUs. Places, timers and preemption are Dally's. Ours.
"""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from pointsman.policies.dally.dally import DelayScheduling
from pointsman.policies.dally.hazards import (
    BUCKET_BEGINS,
    BY_ESTIMATE,
    BY_HISTORY,
    COST_WEIGHT,
    HAZARDS_MEMORY,
    HAZARDS_PARAMS,
    LOSS_BUDGET,
    MOST_GROUPS,
    begin_hazards,
    next_bucket_ms,
    note_end,
    rank,
    reached_of,
    refit_hazards,
    refit_is_due,
)
from pointsman.policies.dally.offering import offer
from pointsman.policies.dally.preemption import OVERDUE, PREEMPTS, QUANTUM_MS, ROUND_MS
from pointsman.policies.dally.tuner import TUNER_MEMORY
from pointsman.policies.dally.turns import be_called, begin_to_wait, bound_wait_anew
from pointsman.policies.dally.whole_nodes import WHOLE_MEMORY, WHOLE_PARAMS, choose_places, note_losses
from pointsman.policies.parts.moving import improve_places, misplaced
from pointsman.policies.parts.offers import accepted, next_offered, queue_for
from pointsman.policies.parts.preemption.bounded_waiting import (
    BOUND_MEMORY,
    goes_first,
    grant_ends_at,
    has_ended,
    key_of,
)
from pointsman.policies.parts.preemption.cost import (
    BUDGET_MEMORY,
    SCARCITY,
    cost_changes_at,
    cost_ms,
    cost_now_ms,
    review_budget,
    scarcity,
)
from pointsman.policies.parts.preemption.evicting_policy import COST_WEIGHT_MEANING, PATIENCE_MEANING
from pointsman.policies.parts.preemption.protection import protected_until
from pointsman.policies.parts.preemption.turns import grant_first_places, key_as_victim, others_are_held_back
from pointsman.policies.sdk import (
    PENDING,
    RUNNING,
    VICTIMS,
    Event,
    Int,
    Knowledge,
    Standing,
    State,
    after,
    cold,
    core,
    dequeue,
    forget_failures,
    insert,
    milliseconds,
    note_worse,
    open_state,
    parameter,
    remove,
    running_index,
    set_alarm,
    work_done,
)

_PREDICTORS = {"none": 0.0, "estimate": BY_ESTIMATE, "history": BY_HISTORY}
WHOLE = HAZARDS_PARAMS
BOUND = WHOLE + WHOLE_PARAMS
"""From here on in State.params: those of `whole_nodes`, of `bounded_waiting`."""
BUDGET = HAZARDS_MEMORY
"""From here on in State.memory: the budget of preemptions."""
PLACES = BUDGET + BUDGET_MEMORY
"""From here on: what the network costs gangs."""
FINISH, CANCEL, LEVEL, TIMER = int(Event.FINISH), int(Event.CANCEL), int(Event.LEVEL), int(Event.TIMER)
SUBMIT = int(Event.SUBMIT)


class Gittins(DelayScheduling):
    """Learns the distribution of durations from completed jobs, and runs next the job that is most likely to end soon
    per GPU time; placement and preemption are those of `dally`.
    """

    name: ClassVar[str] = "gittins"
    hooks: ClassVar[str] = "pointsman.policies.dally.gittins"
    source: ClassVar[str] = "ours; index: Gittins, Bandit processes and dynamic allocation indices, 1979"
    learns: ClassVar[bool] = True

    predictor: Literal["history", "estimate", "none"] = parameter(
        "history", "what sorts jobs into groups: earlier jobs of their queue and user, the run's --estimate, or nothing"
    )
    preempt: bool = parameter(True, "whether jobs are preempted")
    ageing: float = parameter(
        0.0,
        "GPU seconds of rank that a job loses for each second since its submission",
        unit="GPUs",
        ge=0,
    )
    quantum_s: float = parameter(600.0, "minimum run time before a job can be preempted", unit="s", ge=0)
    refit_s: float = parameter(43_200.0, "interval between fits of the distribution", unit="s", ge=1)
    least_ends: int = parameter(200, "completed jobs required before the first fit", ge=1)
    groups: int = parameter(24, "number of groups of jobs, by their estimates", ge=1, le=MOST_GROUPS)
    cost_weight: float = parameter(8.0, COST_WEIGHT_MEANING, ge=0)
    loss_budget: float = parameter(
        0.02, "share of all GPU time from which on preemptions count for more than they cost", gt=0, le=1
    )
    memory_jobs: float = parameter(
        7000.0, "number of completed jobs that older ones count for together; 0: all count alike", unit="jobs", ge=0
    )
    whole_nodes_loss: float = parameter(
        0.05,
        "mean share by which leaving a node slows gangs from which on they are placed on whole nodes, if leaving the "
        "rack slows them less; 0: never",
        ge=0,
    )
    whole_nodes_gpus: int = parameter(100, "GPUs that gangs must have requested first", unit="GPUs", ge=1)
    patience_s: float = parameter(43_200.0, PATIENCE_MEANING, unit="s", ge=0)
    strength: float = parameter(5.0, "weight of the distribution of all jobs in that of a group", unit="jobs", gt=0)

    @model_validator(mode="after")
    def _has_nothing_to_weigh(self) -> Self:
        defaults = {name: type(self).model_fields[name].default for name in ("cost_weight", "patience_s")}
        asked = [name for name, default in defaults.items() if getattr(self, name) not in (0, default)]
        if not self.preempt and asked:
            raise ValueError(f"nothing is preempted, and {asked[0]} is about preemption: leave it out, or preempt")
        return self

    @property
    def durations(self) -> Knowledge | Literal["history"]:
        return self.predictor

    def parameters(self) -> list[float]:
        hazards = [_PREDICTORS[self.predictor], self.ageing, milliseconds(self.refit_s), self.least_ends]
        ours = [self.cost_weight, self.loss_budget, self.memory_jobs]
        places = [self.whole_nodes_loss, self.whole_nodes_gpus]
        numbers = (*hazards, self.groups, self.strength, *ours, *places)
        return [*self._delays_ms(self.preempt), *map(float, numbers), *self._bound_ms()]

    def new_memory(self) -> NDArray[np.float64]:
        """Nothing is known yet."""
        return np.zeros(HAZARDS_MEMORY + BUDGET_MEMORY + WHOLE_MEMORY)

    def forget_jobs(self, memory: NDArray[np.float64]) -> None:
        """No job is overdue, or has a grant."""
        memory[OVERDUE : OVERDUE + BOUND_MEMORY] = 0.0

    def standing(self, state: Any, job: Any, now_ms: int) -> Standing:
        """Its rank, and when it goes first."""
        turn = super().standing(state, job, now_ms)
        if job["granted"] > 0 and turn:
            return turn
        rank = f"its rank is {int(job['level']) / 3.6e6:,.1f} GPU hours, and the least goes first"
        return Standing(f"{rank}; {turn.said}" if turn else rank)

    @property
    def _bounds_waits(self) -> bool:
        return self.preempt and self.patience_s > 0

    def _dearness(self, state: Any) -> float:
        return float(max(1.0, state.memory[BUDGET + SCARCITY]))


@core
def _weight(S: State) -> float:
    """How many times the cost of a preemption counts."""
    return S.params[COST_WEIGHT] * scarcity(S, np.int64(BUDGET))


@core
def _next_change_ms(S: State, j: Int, done: float) -> float:
    """At which progress job `j`, which has done so much, changes its rank next."""
    change = next_bucket_ms(S, reached_of(S, j, done))
    return min(change, cost_changes_at(S, j, done)) if S.params[COST_WEIGHT] > 0.0 else change


@core
def _watch(S: State, j: Int) -> None:
    """Running job `j` is called when its quantum is over and it may be preempted, then whenever a bucket begins."""
    J = S.jobs[j]
    due = protected_until(S, j, S.params[QUANTUM_MS])
    before, key_before, done = J.level, J.key if J.bucket >= 0 else np.inf, work_done(S, j)
    if J.bucket >= 0:
        remove(S, j)
    grant_ends = grant_ends_at(S, j, np.int64(BOUND), np.int64(OVERDUE))
    rank(S, j, done)
    if S.g[0].now >= due:
        J.key = key_as_victim(S, j, J.level - _weight(S) * J.asked * cost_now_ms(S, j, done))
        J.aux = 0.0 if misplaced(S, j) else np.inf
        insert(S, running_index(S), j)
        due = grant_ends
        if not goes_first(S, j) and J.rate > 0.0:
            due = after(S.g[0].now, _next_change_ms(S, j, done) - done, J.rate)
    set_alarm(S, j, due)
    if J.level > before or J.key > key_before:
        note_worse(S, j)


@core
def _begin_to_wait(S: State, j: Int) -> None:
    """Job `j` waits: it is ranked, and its timers start."""
    rank(S, j, S.jobs[j].done)
    begin_to_wait(S, j, np.int64(BOUND), scarcity(S, np.int64(BUDGET)))


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Ended jobs are learnt from; jobs that wait start their timers; running jobs change their rank."""
    if S.memory[BUCKET_BEGINS + 1] == 0.0:
        begin_hazards(S.g[0].address)
    if j < 0:
        return
    J = S.jobs[j]
    if kind == SUBMIT:
        note_losses(S, j, np.int64(PLACES))
    if kind == FINISH or kind == CANCEL:
        has_ended(S, j, np.int64(BOUND), np.int64(OVERDUE))
    if kind == FINISH:
        note_end(S, j)
    elif kind == LEVEL and J.state == RUNNING:
        protected = J.bucket < 0
        _watch(S, j)
        if protected and J.bucket >= 0:
            note_worse(S, j)
    elif kind == TIMER and J.state == PENDING:
        be_called(S, j, np.int64(BOUND), scarcity(S, np.int64(BUDGET)))
    elif J.state == PENDING and J.bucket < 0:
        _begin_to_wait(S, j)


@core
def on_run(S: State, j: Int) -> None:
    """A running job got a rate."""
    if S.memory[BUCKET_BEGINS + 1] == 0.0:
        begin_hazards(S.g[0].address)
    _watch(S, j)


@core
def _rank_anew(S: State, j: Int) -> None:
    """Job `j` goes where its new rank belongs."""
    J = S.jobs[j]
    if J.state == RUNNING:
        _watch(S, j)
        return
    rank(S, j, J.done)
    if J.state == PENDING:
        dequeue(S, j)
        queue_for(S, j, key_of(S, j, np.float64(J.level)), accepted(S, j))


@cold
def _refit(address: int) -> None:
    S = open_state(address)
    refit_hazards(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            _rank_anew(S, np.int64(j))
    forget_failures(S)


@cold
def _weigh_anew(address: int) -> None:
    """Running jobs are worth more or less than before, and those that wait may wait shorter or longer."""
    S = open_state(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state == RUNNING:
            _watch(S, np.int64(j))
        elif S.jobs[j].state == PENDING:
            bound_wait_anew(S, np.int64(j), np.int64(BOUND), scarcity(S, np.int64(BUDGET)))
    forget_failures(S)


@cold
def _place_anew(address: int) -> None:
    """Waiting gangs wait for other places than before."""
    S = open_state(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state == PENDING:
            dequeue(S, np.int64(j))
            _begin_to_wait(S, np.int64(j))
    forget_failures(S)


@core
def _prepare(S: State) -> None:
    """What is known is brought up to date, and jobs that have waited too long go first."""
    if refit_is_due(S):
        _refit(S.g[0].address)
    if S.params[COST_WEIGHT] > 0.0 and review_budget(S, np.int64(BUDGET), S.params[LOSS_BUDGET]):
        _weigh_anew(S.g[0].address)
    if choose_places(S, np.int64(WHOLE), np.int64(PLACES)):
        _place_anew(S.g[0].address)
    grant_first_places(S, np.int64(BOUND), np.int64(OVERDUE), S.params[QUANTUM_MS])


@core
def decide(S: State) -> None:
    """Offer what is free to the waiting jobs by their rank; then move running jobs to better places."""
    _prepare(S)
    while True:
        j = next_offered(S)
        if j < 0:
            break
        offer(S, j, S.jobs[j].key + _weight(S) * cost_ms(S, np.inf) * S.jobs[j].asked)
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                _begin_to_wait(S, v)
    if S.params[PREEMPTS] != 0.0 and not others_are_held_back(S):
        improve_places(S, np.int64(S.params[ROUND_MS]), np.int64(TUNER_MEMORY), np.int64(0))
