"""`gittins` with a choice at each offer: to do as it does, to let the job wait, to preempt nobody for it, or to preempt
for it what `gittins` would not.

The choices are numbered; one can be made otherwise by its number (`TARGET`, `ACTION`), as in the copies in which they
are tried.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pointsman.policies.dally import gittins
from pointsman.policies.dally.gittins import Gittins, on_event, on_run
from pointsman.policies.dally.offering import offer
from pointsman.policies.dally.preemption import PREEMPTS, ROUND_MS
from pointsman.policies.dally.tuner import TUNER_MEMORY
from pointsman.policies.parts.moving import improve_places
from pointsman.policies.parts.offers import accepted, next_offered, pass_over
from pointsman.policies.parts.preemption.bounded_waiting import goes_first
from pointsman.policies.parts.preemption.cost import cost_ms
from pointsman.policies.parts.preemption.turns import others_are_held_back
from pointsman.policies.sdk import PENDING, RUNNING, VICTIMS, Int, State, cold, core, fits

__all__ = ["Choosing", "decide", "on_event", "on_run"]
USUAL, WAIT, NOBODY, EASIER, FORCE, ACTIONS = range(6)
EXTRA = len(Gittins().new_memory())
COUNT, TARGET, ACTION, PASS = range(EXTRA, EXTRA + 4)
"""In State.memory: choices so far; which one is made otherwise (0: none), how; in which pass the last choice was, for
only the first offer of each is one.
"""
SEEN, FEATURES = EXTRA + 8, 20
"""From `SEEN` on: what is seen of the choice that is made otherwise."""
WEIGHTS, HIDDEN = EXTRA + 64, 20
"""From `WEIGHTS` on: whether the network decides (1), by how much another choice must seem better, then its weights:
hidden units by features and a bias, actions by hidden units and a bias.
"""
SIZE = 2 + HIDDEN * (FEATURES + 1) + ACTIONS * (HIDDEN + 1)
CAUTION = 0.1
"""Mean completion times of a job by which another choice must seem better."""
EASIER_BY = 0.25
"""Of what a preemption costs, that counts where one preempts more easily."""


class Choosing(Gittins):
    """See the module."""

    name: ClassVar[str] = "choosing"
    hooks: ClassVar[str] = __file__

    def new_memory(self) -> NDArray[np.float64]:
        """Room for what is seen, and for the weights."""
        return np.zeros(WEIGHTS + SIZE)


@core
def _has_room(S: State, j: Int) -> bool:
    """Whether job `j` would start on free GPUs."""
    S.g[0].within = accepted(S, j)
    return bool(fits(S, S.jobs[j].cls))


@core
def _log(x: float) -> float:
    """Of what may be 0, about 0 to 1."""
    return np.log2(1.0 + max(0.0, x)) / 16.0


@cold
def _look(S: State, j: Int, bar: float, room: bool) -> None:
    """Write what is seen of an offer to job `j`, which may preempt running jobs whose key is above `bar`."""
    J = S.jobs[j]
    g = S.g[0]
    above = worse = forced = 0.0
    worst = oldest = 0.0
    waiting = shorter = 0.0
    for k in range(g.slots):
        K = S.jobs[k]
        if K.state == RUNNING and K.bucket >= 0:
            forced += K.gpus
            above += K.gpus if K.key > bar else 0.0
            worse += K.gpus if K.key > J.key else 0.0
            worst = max(worst, K.key)
            oldest = max(oldest, np.float64(g.now - K.started))
        elif K.state == PENDING and k != j:
            waiting += K.asked
            shorter += K.asked if K.asked < J.asked else 0.0
    M = S.memory
    M[SEEN] = 1.0 if room else 0.0
    M[SEEN + 1] = J.asked / g.gpus
    M[SEEN + 2] = g.free / g.gpus
    M[SEEN + 3] = min(4.0, J.asked / max(1, g.free)) / 4.0
    M[SEEN + 4] = _log(g.pending)
    M[SEEN + 5] = _log(waiting / g.gpus)
    M[SEEN + 6] = _log(shorter / g.gpus)
    M[SEEN + 7] = _log(J.key / 60_000.0)
    M[SEEN + 8] = _log(J.key / J.asked / 60_000.0)
    M[SEEN + 9] = _log(worst / 60_000.0)
    M[SEEN + 10] = min(4.0, above / J.asked) / 4.0
    M[SEEN + 11] = min(4.0, worse / J.asked) / 4.0
    M[SEEN + 12] = forced / g.gpus
    M[SEEN + 13] = _log((g.now - J.pend_since) / 1000.0)
    M[SEEN + 14] = _log(J.done / 1000.0)
    M[SEEN + 15] = _log(oldest / 1000.0)
    M[SEEN + 16] = accepted(S, j) / 8.0
    M[SEEN + 17] = gittins._weight(S) / 64.0
    M[SEEN + 18] = _log(max(0.0, J.key) / max(1.0, worst))
    M[SEEN + 19] = g.running / max(1, g.running + g.pending)


@cold
def _best(S: State, room: bool) -> Int:
    """What the network would do."""
    M = S.memory
    hidden_at, out_at = WEIGHTS + 2, WEIGHTS + 2 + HIDDEN * (FEATURES + 1)
    best, most, usual = np.int64(USUAL), -np.inf, 0.0
    for a in range(ACTIONS):
        if a > WAIT and room:  # nobody would be preempted
            continue
        said = M[out_at + a * (HIDDEN + 1) + HIDDEN]
        for h in range(HIDDEN):
            x = M[hidden_at + h * (FEATURES + 1) + FEATURES]
            for f in range(FEATURES):
                x += M[hidden_at + h * (FEATURES + 1) + f] * M[SEEN + f]
            said += M[out_at + a * (HIDDEN + 1) + h] * max(0.0, x)
        if a == USUAL:
            usual = said
        elif said > most:
            best, most = np.int64(a), said
    return best if most > usual + M[WEIGHTS + 1] else np.int64(USUAL)


@core
def _offer_chosen(S: State, j: Int) -> None:
    """Offer to job `j`, as is chosen."""
    J = S.jobs[j]
    cost = gittins._weight(S) * cost_ms(S, np.inf) * J.asked
    action = np.int64(USUAL)
    if not goes_first(S, j) and S.memory[PASS] != S.g[0].pass_id:
        S.memory[PASS] = np.float64(S.g[0].pass_id)
        S.memory[COUNT] += 1.0
        target = bool(S.memory[COUNT] == S.memory[TARGET])
        if target or S.memory[WEIGHTS] != 0.0:
            room = _has_room(S, j)
            _look(S, j, J.key + cost, room)
            action = np.int64(S.memory[ACTION]) if target else _best(S, room)
    S.g[0].victims = 0
    if action == WAIT:
        pass_over(S, j)
    elif action == NOBODY:
        offer(S, j, np.inf)
    elif action == EASIER:
        offer(S, j, J.key + EASIER_BY * cost)
    elif action == FORCE:
        offer(S, j, -np.inf)
    else:
        offer(S, j, J.key + cost)


@core
def decide(S: State) -> None:
    """As `gittins`, but for the choice."""
    gittins._prepare(S)
    while True:
        j = next_offered(S)
        if j < 0:
            break
        _offer_chosen(S, j)
        for i in range(S.g[0].victims):
            v = S.lists[VICTIMS, i]
            if v >= 0 and S.jobs[v].state == PENDING:
                gittins._begin_to_wait(S, v)
    if S.params[PREEMPTS] != 0.0 and not others_are_held_back(S):
        improve_places(S, np.int64(S.params[ROUND_MS]), np.int64(TUNER_MEMORY), np.int64(0))
